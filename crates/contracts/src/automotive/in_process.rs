//! This contract's tools for another contract of the same server: what it reads or plans here follows the same rules as
//! a call. The other contract's own permission decides; it has exactly one tenant, as every permission has.

use std::sync::OnceLock;

use frontdesk_engine::model::plan::Plan;
use frontdesk_engine::model::tool::{Outcome, Run, Tool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use super::resources;

/// Runs a reading tool of this contract with these arguments; a list has at most `limit` rows.
pub(crate) async fn read(
    permitted: &Permitted<'_>,
    tool: &str,
    arguments: Map<String, Value>,
    limit: usize,
) -> Result<Outcome, Fault> {
    let (tool, arguments) = checked(tool, arguments)?;
    match &tool.run {
        Run::Read(run) => run.read(&permitted.with_arguments(arguments, limit)).await,
        Run::Write(_) | Run::Compound(_) | Run::Watch(_) | Run::Relay(_) => {
            Err(Fault::internal("a tool that writes was asked to read"))
        }
    }
}

/// What a writing tool of this contract would do with these arguments. Its steps and events become part of another plan;
/// its answer is for nobody.
pub(crate) async fn plan(permitted: &Permitted<'_>, tool: &str, arguments: Map<String, Value>) -> Result<Plan, Fault> {
    let (tool, arguments) = checked(tool, arguments)?;
    match &tool.run {
        Run::Write(run) => run.plan(&permitted.with_arguments(arguments, 1)).await,
        Run::Read(_) | Run::Compound(_) | Run::Watch(_) | Run::Relay(_) => {
            Err(Fault::internal("a tool that reads was asked to write"))
        }
    }
}

fn checked(name: &str, arguments: Map<String, Value>) -> Result<(&'static Tool, Map<String, Value>), Fault> {
    static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
    let tools = TOOLS.get_or_init(|| resources().into_iter().flat_map(|resource| resource.tools).collect());
    let tool = tools.iter().find(|tool| tool.spec.name == name);
    let tool = tool.ok_or_else(|| Fault::internal("there is no tool of this name"))?;
    let arguments = tool.spec.input.check(arguments)?;
    Ok((tool, arguments))
}
