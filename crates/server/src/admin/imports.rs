//! Imports of the operator: a command reads the file and sends its rows chunk by chunk; here they are checked and applied
//! by the running server, through the same calls as everybody's.

use std::ops::Deref;
use std::sync::Arc;

use frontdesk_contracts as contracts;
use frontdesk_engine::desk::Mount;
use frontdesk_engine::import::{ImportCounts, ImportRow, ImportSession, RowResult};
use frontdesk_engine::model::contract_entry::Requires;
use frontdesk_engine::model::page::PageKey;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::{Caller, ClientId, Contract, Fault, Scopes, TenantId};
use serde::{Deserialize, Serialize};

use super::requests::{AdminService, explain};
use crate::app::App;

/// Who administers: it has no credential, only access to the data folder.
const OPERATOR: &str = "operator";

/// Which import a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportTask {
    /// The kind of record.
    pub resource: String,
    pub tenant: String,
    /// The import's id.
    pub id: String,
}

/// Where a page of a list ends.
pub type ListPosition = (i64, String);

/// A page of ids, and where the next one begins.
pub type ListedIds = (Vec<String>, Option<ListPosition>);

/// A part of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportStep {
    /// Which tenant it is, and what is known about it.
    Tenant,
    /// What an earlier run came to.
    Earlier,
    Check(Vec<ImportRow>),
    Apply(Vec<ImportRow>),
    /// Ids of records that a complete feed lists, after this place.
    Listed(Option<ListPosition>),
    Withdraw(Vec<String>),
    Finish(ImportCounts),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportReply {
    Tenant {
        id: String,
        /// The currency of amounts that name none.
        currency: Option<String>,
    },
    /// When it was completed, in RFC 3339; none if it never was.
    Earlier(Option<(String, ImportCounts)>),
    Rows(Vec<RowResult>),
    /// None if such records cannot be withdrawn.
    Listed(Option<ListedIds>),
    Done,
}

impl AdminService {
    pub(super) async fn import(&self, task: ImportTask, step: ImportStep) -> Result<ImportReply, String> {
        let app = self.app()?;
        let tenant = self.tenant_or_only(&task.tenant).await?;
        if step == ImportStep::Tenant {
            let currency = tenant.profile.currency.map(|currency| currency.as_str().to_owned());
            return Ok(ImportReply::Tenant { id: tenant.id.to_string(), currency });
        }
        if tenant.erasing_since.is_some() {
            return Err(format!("the tenant `{}` is being erased", tenant.id));
        }
        let tenant = tenant.id;
        let mount = mount_of(&app, &task.resource)?;
        let caller = Arc::new(operator(&mount, &tenant, app.desk.now()));
        let session = ImportSession::new(&app.desk, &mount, &task.resource, caller, &tenant, &task.id);
        run(&session.map_err(explain)?, step).await.map_err(explain)
    }

    /// A tenant that exists; without an id the only one.
    pub(super) async fn tenant_or_only(&self, id: &str) -> Result<Tenant, String> {
        let known = self.store.tenants().await.map_err(explain)?;
        let ids = || known.iter().map(|tenant| tenant.id.as_str()).collect::<Vec<_>>().join(", ");
        match (id, known.as_slice()) {
            (_, []) => Err("there is no tenant yet; see `frontdesk tenant add --help`".to_owned()),
            ("", [only]) => Ok(only.clone()),
            ("", _) => Err(format!("there are several tenants; name one with --tenant: {}", ids())),
            (id, several) => match several.iter().find(|tenant| tenant.id.as_str() == id) {
                Some(tenant) => Ok(tenant.clone()),
                None => Err(format!("there is no tenant `{id}`; there are: {}", ids())),
            },
        }
    }
}

/// Where rows of a kind become calls.
pub(super) enum ImportMount<'a> {
    Mounted(&'a Mount),
    /// Of a contract whose mounts belong to partners: what is imported does not depend on them, so it can come first.
    Unmounted(Box<Mount>),
}

impl Deref for ImportMount<'_> {
    type Target = Mount;

    fn deref(&self) -> &Mount {
        match self {
            ImportMount::Mounted(mount) => mount,
            ImportMount::Unmounted(mount) => mount,
        }
    }
}

/// The mount whose contract has this kind of record.
pub(super) fn mount_of<'a>(app: &'a App, resource: &str) -> Result<ImportMount<'a>, String> {
    let mounts = || app.mounts.iter().map(|(_, mount)| mount);
    if let Some(mounted) = mounts().find(|mount| has_import(&mount.contract, resource)) {
        return Ok(ImportMount::Mounted(mounted));
    }
    let of_partners = || {
        let entries = contracts::ENTRIES.iter().filter(|entry| entry.requires == Requires::Partner);
        entries.filter_map(|entry| contracts::by_id(entry.name))
    };
    if let Some(contract) = of_partners().find(|contract| has_import(contract, resource)) {
        return Ok(ImportMount::Unmounted(Box::new(Mount::new(contract, String::new(), String::new()))));
    }
    let mounted = mounts().flat_map(|mount| &mount.contract.imports).map(|spec| spec.name);
    let others = of_partners().flat_map(|contract| contract.imports).map(|spec| spec.name);
    let mut names: Vec<&str> = Vec::new();
    for name in mounted.chain(others) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Err(format!(
        "there is nothing called `{resource}` to import; there are: {}. A contract that is not mounted has none; see \
         `[[mount]]` in the configuration",
        names.join(", ")
    ))
}

fn has_import(contract: &Contract, resource: &str) -> bool {
    contract.imports.iter().any(|spec| spec.name == resource)
}

/// May do everything that the contract's callers may. Who can use the admin socket or open the data folder has proved who
/// they are to the operating system.
pub(super) fn operator(mount: &Mount, tenant: &TenantId, now: Millis) -> Caller {
    Caller {
        client: ClientId::new(OPERATOR),
        subject: OPERATOR.into(),
        tenants: vec![tenant.clone()],
        scopes: Scopes::new(mount.contract.scopes.iter().cloned()),
        authenticated_at: Some(now.seconds()),
    }
}

async fn run(session: &ImportSession<'_>, step: ImportStep) -> Result<ImportReply, Fault> {
    Ok(match step {
        ImportStep::Tenant => ImportReply::Done,
        ImportStep::Earlier => {
            let earlier = session.earlier().await?;
            ImportReply::Earlier(earlier.map(|(at, counts)| (at.to_rfc3339(), counts)))
        }
        ImportStep::Check(rows) => ImportReply::Rows(session.check(&rows).await?),
        ImportStep::Apply(rows) => ImportReply::Rows(session.apply(&rows).await?),
        ImportStep::Listed(after) => {
            let after = after.map(|(value, id)| PageKey { value, id });
            let page = session.listed(after).await?;
            ImportReply::Listed(page.map(|page| (page.rows, page.next.map(|key| (key.value, key.id)))))
        }
        ImportStep::Withdraw(ids) => {
            session.withdraw_records(&ids).await?;
            ImportReply::Done
        }
        ImportStep::Finish(counts) => {
            session.record_completed(counts).await?;
            ImportReply::Done
        }
    })
}
