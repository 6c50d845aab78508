//! Stage 6: what the arguments say. They are checked against the tool's schema as a whole, then the
//! dialect takes out what every tool of its contract has in common.

use serde_json::{Map, Value};

use crate::desk::Mount;
use crate::model::fault::Fault;
use crate::model::tool::ToolSpec;
use crate::model::tool_input::ToolInput;

const LONGEST_KEY: usize = 255;

pub fn read(
    mount: &Mount,
    spec: &ToolSpec,
    arguments: Map<String, Value>,
    header_key: Option<&str>,
) -> Result<ToolInput, Fault> {
    let arguments = mount.contract.dialect.normalize(spec, arguments);
    let checked = spec.input.check(arguments)?;
    let input = mount.contract.dialect.read(spec, checked, header_key)?;
    match &input.idempotency_key {
        Some(key) if key.is_empty() || key.len() > LONGEST_KEY || !key.bytes().all(|b| b.is_ascii_graphic()) => {
            Err(Fault::invalid_argument(
                &format!("/{}", mount.contract.dialect.key_argument()),
                "pattern",
                "an idempotency key has 1 to 255 printable ASCII characters without spaces",
            ))
        }
        Some(_) | None => Ok(input),
    }
}
