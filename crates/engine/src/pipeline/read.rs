//! Stage 6: what the arguments say. They are checked against the tool's schema as a whole, then the
//! dialect takes out what every tool of its contract has in common.

use serde_json::{Map, Value};

use crate::model::fault::Fault;
use crate::model::tool::ToolSpec;
use crate::model::tool_input::ToolInput;
use crate::serve::CallContext;

pub(crate) fn read(
    context: &CallContext<'_, '_>,
    spec: &ToolSpec,
    arguments: Map<String, Value>,
) -> Result<ToolInput, Fault> {
    let dialect = context.record.mount.contract.dialect.as_ref();
    let checked = spec.input.check(dialect.normalize(spec, arguments))?;
    dialect.read(spec, checked, context.record.incoming.idempotency_key.as_deref())
}
