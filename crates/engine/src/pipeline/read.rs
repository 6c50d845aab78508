//! Stage 6: what the arguments say. They are checked against the tool's schema as a whole, then the
//! dialect takes out what every tool of its contract has in common.

use serde_json::{Map, Value};

use crate::desk::Mount;
use crate::model::fault::Fault;
use crate::model::tool::ToolSpec;
use crate::model::tool_input::ToolInput;

pub fn read(
    mount: &Mount,
    spec: &ToolSpec,
    arguments: Map<String, Value>,
    header_key: Option<&str>,
) -> Result<ToolInput, Fault> {
    let arguments = mount.contract.dialect.normalize(spec, arguments);
    let checked = spec.input.check(arguments)?;
    mount.contract.dialect.read(spec, checked, header_key)
}
