//! Stage 6: what the arguments say. They are checked against the tool's schema as a whole, then the
//! dialect takes out what every tool of its contract has in common.

use serde_json::{Map, Value};

use crate::model::contract::Dialect;
use crate::model::fault::Fault;
use crate::model::tool::ToolSpec;
use crate::model::tool_input::ToolInput;

/// `header_key` is the idempotency key that came beside the arguments.
pub(crate) fn read(
    dialect: &dyn Dialect,
    spec: &ToolSpec,
    arguments: Map<String, Value>,
    header_key: Option<&str>,
) -> Result<ToolInput, Fault> {
    let checked = spec.input.check(dialect.normalize(spec, arguments))?;
    dialect.read(spec, checked, header_key)
}
