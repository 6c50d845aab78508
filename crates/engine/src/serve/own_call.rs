//! Calls that the server makes itself for a caller who is known already: the rows of an import, the calls of a compound
//! tool, a command of the operator. Each is checked, committed and recorded like a call that was sent.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::{CallContext, end_perform, permit_tool};
use crate::desk::{Desk, Mount};
use crate::model::caller::Caller;
use crate::model::fault::Fault;
use crate::model::incoming::{Credential, Incoming, Listening, RequestBody, Verb};
use crate::model::reply::Reply;
use crate::model::tool::{Future, Outcome, Run, Tool};
use crate::model::trace::Trace;
use crate::pipeline::admit::Charge;
use crate::pipeline::perform::perform;
use crate::pipeline::permit::permit;
use crate::pipeline::read::read;
use crate::pipeline::record::{CallRecord, RunCall, record_call};

/// The tool that is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnTool {
    /// A tool that callers see, by its name.
    Published(&'static str),
    /// A tool of the operator, by its name.
    Operator(&'static str),
    /// What the import at this place of the contract adds records with.
    ImportCreate(usize),
    ImportUpdate(usize),
}

impl OwnTool {
    pub fn find(self, mount: &Mount) -> Option<&Tool> {
        let contract = &mount.contract;
        match self {
            OwnTool::Published(name) => contract.tools.iter().find(|tool| tool.spec.name == name),
            OwnTool::Operator(name) => contract.operator_tools.iter().find(|tool| tool.spec.name == name),
            OwnTool::ImportCreate(index) => contract.imports.get(index).map(|import| &import.create),
            OwnTool::ImportUpdate(index) => contract.imports.get(index).map(|import| &import.update),
        }
    }
}

/// On whose behalf a call is made, and what its record says about where it came from.
#[derive(Debug, Clone)]
pub struct CallOrigin {
    pub caller: Arc<Caller>,
    pub address: IpAddr,
    pub trace: Trace,
    pub import_id: Option<Arc<str>>,
}

/// Calls a tool. The caller's budget is not charged: it was when the whole was accepted. `key` makes a repetition safe.
/// Boxed, because a call can be part of another one.
pub fn call_tool<'a>(
    desk: &'a Desk,
    mount: &'a Mount,
    origin: &'a CallOrigin,
    tool: OwnTool,
    arguments: Map<String, Value>,
    key: Option<String>,
) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(run_call(desk, mount, origin, tool, arguments, key))
}

async fn run_call(
    desk: &Desk,
    mount: &Mount,
    origin: &CallOrigin,
    tool: OwnTool,
    arguments: Map<String, Value>,
    key: Option<String>,
) -> Result<Outcome, Fault> {
    let incoming = Incoming {
        verb: Verb::Post,
        credential: Credential::Unusable,
        protocol_version: None,
        method_header: None,
        name_header: None,
        route: None,
        idempotency_key: key,
        listening: Listening::No,
        import_id: origin.import_id.clone(),
        transport_fault: None,
        address: origin.address,
        trace: origin.trace.clone(),
        body: RequestBody::from_bytes(Vec::new()),
    };
    let mut outcome = None;
    let call = OwnCall { caller: Arc::clone(&origin.caller), tool, arguments, outcome: &mut outcome };
    record_call(desk, mount, &incoming, call).await;
    outcome.unwrap_or_else(|| Err(Fault::internal("a call ended without an outcome")))
}

struct OwnCall<'o> {
    caller: Arc<Caller>,
    tool: OwnTool,
    arguments: Map<String, Value>,
    /// Nobody reads the reply, so the outcome is handed over as it is.
    outcome: &'o mut Option<Result<Outcome, Fault>>,
}

impl RunCall for OwnCall<'_> {
    async fn run(self, call_record: &mut CallRecord<'_>) -> Result<Reply, Fault> {
        let CallRecord { desk, mount, .. } = *call_record;
        let deadline = Instant::now() + desk.settings.deadline;
        let mut context = CallContext::new(call_record, self.caller, deadline, Charge::Paid);
        let tool = self.tool.find(mount).ok_or_else(|| Fault::internal("a call of a tool that does not exist"));
        let outcome = match tool.and_then(|tool| Ok((tool, permit_tool(&mut context, tool, self.arguments)?))) {
            Ok((tool, permitted)) => {
                let performed = timeout_at(context.deadline, perform(context.record, tool, &permitted)).await;
                end_perform(&mut context, performed)
            }
            Err(fault) => Err(fault),
        };
        match outcome {
            Ok(outcome) => {
                if let Outcome::One(item) = &outcome {
                    context.record.add_id(&item.id);
                }
                *self.outcome = Some(Ok(outcome));
                Ok(Reply::empty(200))
            }
            Err(fault) => {
                *self.outcome = Some(Err(fault.clone()));
                Err(fault)
            }
        }
    }
}

/// Runs everything of a writing call but the commit, so it says whether the call would succeed now.
pub async fn check_call(
    desk: &Desk,
    mount: &Mount,
    caller: &Arc<Caller>,
    tool: &Tool,
    arguments: Map<String, Value>,
) -> Result<(), Fault> {
    if let Some(missing) = tool.spec.scope.missing(&arguments, &caller.scopes) {
        return Err(Fault::missing_scope(missing));
    }
    let input = read(mount.contract.dialect.as_ref(), &tool.spec, arguments, None)?;
    let permitted = permit(desk, mount, caller, &tool.spec, input)?;
    match &tool.run {
        Run::Write(tool) => tool.plan(&permitted).await.map(drop),
        Run::Read(_) | Run::Compound(_) | Run::Watch(_) | Run::Relay(_) => Ok(()),
    }
}
