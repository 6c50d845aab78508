//! Stage 5: whether the caller may make this call. The scope first, so that a refusal costs the caller
//! nothing; then its budget of calls.

use crate::desk::{Desk, Mount};
use crate::model::caller::Caller;
use crate::model::fault::Fault;
use crate::pipeline::permit::rate_limited;
use crate::pipeline::precheck::tool_denied;
use crate::pipeline::resolve::Resolved;

/// Whether a call was charged to the caller's budget already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charge {
    Due,
    /// It was charged when it was accepted, or at an earlier attempt.
    Paid,
}

pub(crate) fn admit(
    desk: &Desk,
    mount: &Mount,
    caller: &Caller,
    resolved: &Resolved<'_>,
    charge: Charge,
) -> Result<(), Fault> {
    match resolved {
        Resolved::Tool { tool, .. } if !caller.scopes.has(&tool.spec.scope) => {
            return Err(Fault::missing_scope(&tool.spec.scope));
        }
        // A tool that is denied by name is denied by every other way to it, too.
        Resolved::Tool { tool, .. }
            if mount.policy.as_ref().is_some_and(|policy| policy.denies_tool(tool.spec.name)) =>
        {
            return Err(tool_denied());
        }
        Resolved::Tool { .. } | Resolved::Ready(_) | Resolved::Listing(_) => {}
    }
    match charge {
        Charge::Due => take_budget(desk, mount, caller),
        Charge::Paid => Ok(()),
    }
}

/// A notification has no answer, but it is recorded and charged like a call.
pub(crate) fn admit_notification(desk: &Desk, mount: &Mount, caller: &Caller) -> Result<(), Fault> {
    take_budget(desk, mount, caller)
}

/// Takes one call from the caller's budget.
pub(crate) fn take_budget(desk: &Desk, mount: &Mount, caller: &Caller) -> Result<(), Fault> {
    let key = [mount.contract.id, caller.client.as_str()];
    desk.rates.take(&key, desk.settings.calls, desk.now()).map_err(rate_limited)
}
