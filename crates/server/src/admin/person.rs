//! Erasure of a person by the operator. A contract's own tools find the records and remove what is personal; here stored
//! answers about the same records lose their personal part first. A round is complete in itself and can be repeated.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use frontdesk_contracts::ENTRIES;
use frontdesk_engine::desk::Mount;
use frontdesk_engine::model::contract_entry::ErasureSpec;
use frontdesk_engine::model::tool::Outcome;
use frontdesk_engine::serve::own_call::{CallOrigin, OwnTool, call_tool};
use frontdesk_engine::{Fault, FaultKind, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::imports::operator;
use super::requests::AdminService;
use crate::app::App;

/// How often a round is begun again because a record has changed meanwhile.
const MAX_ATTEMPTS: usize = 5;

/// Whom an erasure is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonTask {
    /// The contract's name.
    pub contract: String,
    pub tenant: String,
    /// `id`, or another argument by which the contract finds people.
    pub argument: String,
    pub value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonStep {
    Find,
    /// As many records as one commit can change.
    Round,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonReply {
    Found(PersonFound),
    /// A round was committed: so many records of each kind and stored answers were changed.
    Erased {
        records: BTreeMap<String, u64>,
        answers: u64,
    },
    /// Nothing is left to be erased.
    Nothing,
}

/// What is stored about somebody and has not been erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonFound {
    pub tenant: String,
    /// A record that stands for the person; none if there is nothing.
    pub subject: Option<String>,
    /// How many records of each kind.
    pub counts: BTreeMap<String, u64>,
    /// People with the same contact data, who may be somebody else.
    pub others: Vec<String>,
    pub running_imports: u64,
}

/// The answer of a contract's tool that finds people, see `ErasureSpec`.
#[derive(Deserialize)]
struct FoundRecords {
    subject: Option<String>,
    records: Vec<FoundRecord>,
    counts: BTreeMap<String, u64>,
    others: Vec<String>,
    running_imports: u64,
}

#[derive(Serialize, Deserialize)]
struct FoundRecord {
    kind: String,
    id: String,
    version: i64,
}

impl AdminService {
    pub(super) async fn erase_person(&self, task: PersonTask, step: PersonStep) -> Result<PersonReply, String> {
        let app = self.app()?;
        let tenant = self.tenant_or_only(&task.tenant).await?.id;
        self.refuse_erased(std::slice::from_ref(&tenant)).await?;
        let erasure = Erasure::new(self, &app, &task, tenant)?;
        match step {
            PersonStep::Find => {
                let FoundRecords { subject, counts, others, running_imports, .. } = erasure.find().await?;
                let tenant = erasure.tenant.as_str().to_owned();
                Ok(PersonReply::Found(PersonFound { tenant, subject, counts, others, running_imports }))
            }
            PersonStep::Round => erasure.round().await,
        }
    }
}

struct Erasure<'a> {
    service: &'a AdminService,
    app: &'a App,
    mount: &'a Mount,
    spec: ErasureSpec,
    tenant: TenantId,
    origin: CallOrigin,
    by: (String, Value),
}

impl<'a> Erasure<'a> {
    fn new(
        service: &'a AdminService,
        app: &'a App,
        task: &PersonTask,
        tenant: TenantId,
    ) -> Result<Erasure<'a>, String> {
        let entry = ENTRIES.iter().find(|entry| entry.name == task.contract);
        let spec = entry.and_then(|entry| entry.erasure);
        // Contracts that share the noun have the same tools, so any of them will do.
        let shares = |mount: &&Mount| {
            let other = ENTRIES.iter().find(|entry| entry.name == mount.contract.id).and_then(|entry| entry.erasure);
            other.zip(spec).is_some_and(|(other, spec)| other.noun == spec.noun)
        };
        let mounts = || app.mounts.iter().map(|(_, mount)| mount);
        let mount = mounts().find(|mount| mount.contract.id == task.contract).or_else(|| mounts().find(shares));
        let (Some(spec), Some(mount)) = (spec, mount) else {
            return Err(format!("{} is not mounted; see `[[mount]]` in the configuration", task.contract));
        };
        let origin = CallOrigin {
            caller: Arc::new(operator(mount, &tenant, app.desk.now())),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            trace: app.desk.new_trace(),
            import_id: None,
        };
        let by = (task.argument.clone(), Value::from(task.value.as_str()));
        Ok(Erasure { service, app, mount, spec, tenant, origin, by })
    }

    async fn find(&self) -> Result<FoundRecords, String> {
        let arguments = Map::from_iter([self.by.clone()]);
        let text = self.call(self.spec.find_tool, arguments).await.map_err(|fault| explain(&fault))?;
        serde_json::from_str(&text).map_err(|_| "the contract's answer cannot be read".to_owned())
    }

    /// Stored answers first: the commit that follows succeeds only if no record has changed since they were found, and
    /// only a change of a record stores another answer about it. So after the commit nobody is in any of them.
    async fn round(&self) -> Result<PersonReply, String> {
        let mut answers = 0;
        for _ in 0..MAX_ATTEMPTS {
            let found = self.find().await?;
            let Some(subject) = found.subject else { return Ok(PersonReply::Nothing) };
            if found.running_imports > 0 {
                return Err("an import of this tenant is not finished, and its rows may be about the same person; \
                            repeat the command when it is"
                    .to_owned());
            }
            let ids: Vec<String> = found.records.iter().map(|record| record.id.clone()).collect();
            let erased = self.service.store.erase_answers(&self.tenant, &ids).await;
            answers += erased.map_err(|fault| explain(&fault))?;
            let mut records = BTreeMap::new();
            for record in &found.records {
                *records.entry(record.kind.clone()).or_default() += 1;
            }
            let arguments = json!({"id": subject, "records": found.records});
            let Value::Object(arguments) = arguments else { return Ok(PersonReply::Nothing) };
            match self.call(self.spec.erase_tool, arguments).await {
                Ok(_) => return Ok(PersonReply::Erased { records, answers }),
                Err(fault) if fault.kind == FaultKind::VersionConflict => {}
                Err(fault) => return Err(explain(&fault)),
            }
        }
        Err("records of this person are being changed all the time; repeat the command".to_owned())
    }

    /// The answer of a tool of the operator, as text.
    async fn call(&self, tool: &'static str, mut arguments: Map<String, Value>) -> Result<String, Fault> {
        let tenant_argument = self.mount.contract.dialect.tenant_argument();
        arguments.insert(tenant_argument.to_owned(), Value::from(self.tenant.as_str()));
        let tool = OwnTool::Operator(tool);
        match call_tool(&self.app.desk, self.mount, &self.origin, tool, arguments, None).await? {
            Outcome::One(item) => Ok(item.body),
            Outcome::Raw { answer, .. } => Ok(answer),
            Outcome::Many(_) => Err(Fault::internal("a tool of the operator answers with a list")),
        }
    }
}

/// What is wrong with the arguments is said by its problems, which never repeat a value.
fn explain(fault: &Fault) -> String {
    let problems: Vec<String> = fault
        .problems
        .iter()
        .map(|problem| format!("{}: {}", problem.pointer.trim_start_matches('/'), problem.expected))
        .collect();
    match &fault.cause {
        _ if !problems.is_empty() => problems.join("; "),
        Some(cause) => cause.clone(),
        None => fault.message.clone().into_owned(),
    }
}
