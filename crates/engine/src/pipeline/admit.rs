//! Stage 5: whether the caller may make this call. The scope first, so that a refusal costs the caller
//! nothing; then its budget of calls.

use serde_json::{Map, Value};

use crate::model::fault::Fault;
use crate::model::tool::ToolSpec;
use crate::pipeline::permit::rate_limited;
use crate::pipeline::precheck::tool_denied;
use crate::pipeline::record::CallRecord;
use crate::serve::CallContext;

/// Whether a call was charged to the caller's budget already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charge {
    Due,
    /// It was charged when it was accepted, or at an earlier attempt.
    Paid,
}

/// What the body of a request costs, in calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyRate {
    /// JSON that is parsed: one call for every 16 KiB or part of them.
    Json,
    /// A file, of which nothing is parsed before it is accepted: one call for every 256 KiB or part of them.
    File,
}

impl BodyRate {
    pub(crate) fn calls(self, length: usize) -> u32 {
        let unit = match self {
            BodyRate::Json => 16 << 10,
            BodyRate::File => 256 << 10,
        };
        u32::try_from(length.div_ceil(unit)).unwrap_or(u32::MAX).max(1)
    }
}

/// Admits a call of a tool.
pub(crate) fn admit_tool(
    context: &CallContext<'_, '_>,
    spec: &ToolSpec,
    arguments: &Map<String, Value>,
) -> Result<(), Fault> {
    if let Some(missing) = spec.scope.missing(arguments, &context.caller.scopes) {
        return Err(Fault::missing_scope(missing));
    }
    // A tool that is denied by name is denied by every other way to it, too.
    if context.record.mount.policy.as_ref().is_some_and(|policy| policy.denies_tool(spec.name)) {
        return Err(tool_denied());
    }
    admit(context)?;
    if context.record.mount.maintenance.is_on() { Err(Fault::maintenance()) } else { Ok(()) }
}

/// Admits whatever needs no scope of its own.
pub(crate) fn admit(context: &CallContext<'_, '_>) -> Result<(), Fault> {
    match context.charge {
        Charge::Due => take_budget(context),
        Charge::Paid => Ok(()),
    }
}

/// Takes one call from the caller's budget.
pub(crate) fn take_budget(context: &CallContext<'_, '_>) -> Result<(), Fault> {
    take_budget_for(context, 1)
}

/// Takes as much as so many calls cost.
pub(crate) fn take_budget_for(context: &CallContext<'_, '_>, calls: u32) -> Result<(), Fault> {
    let CallRecord { desk, mount, .. } = *context.record;
    let key = [mount.contract.id, context.caller.client.as_str()];
    let budget = mount.contract.dialect.compatibility().client_budget.unwrap_or(desk.settings.calls);
    desk.rates.take_many(&key, calls, budget, desk.monotonic()).map_err(rate_limited)
}
