//! What the server reads for itself, such as what a clock has to do. Nobody is shown the answer, so there is no record of
//! it; whatever follows from it is a call with a record of its own.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::desk::{Desk, Mount};
use crate::model::caller::Caller;
use crate::model::fault::Fault;
use crate::model::tool::{Outcome, Run};
use crate::pipeline::permit::permit;
use crate::pipeline::read::read;

/// Runs a reading tool of the operator. Its answer must not leave the server.
pub async fn read_for_server(
    desk: &Desk,
    mount: &Mount,
    caller: &Arc<Caller>,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Outcome, Fault> {
    let tool = mount.contract.operator_tools.iter().find(|known| known.spec.name == tool);
    let tool = tool.ok_or_else(|| Fault::internal("a read with a tool that does not exist"))?;
    if let Some(missing) = tool.spec.scope.missing(&arguments, &caller.scopes) {
        return Err(Fault::missing_scope(missing));
    }
    let input = read(mount.contract.dialect.as_ref(), &tool.spec, arguments, None)?;
    let permitted = permit(desk, mount, caller, &tool.spec, input)?;
    let Run::Read(run) = &tool.run else { return Err(Fault::internal("a tool that writes was asked to read")) };
    let outcome = timeout(desk.settings.deadline, run.read(&permitted)).await;
    outcome.unwrap_or_else(|_| Err(Fault::unavailable("a read of the server did not end within the deadline")))
}
