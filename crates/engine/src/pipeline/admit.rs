//! Stage 5: may this caller come in at all. The scope first, so that a refusal costs the caller
//! nothing; then its budget of calls.

use crate::desk::{Desk, Mount};
use crate::model::caller::Caller;
use crate::model::fault::Fault;
use crate::pipeline::permit::rate_limited;
use crate::pipeline::precheck::tool_denied;
use crate::pipeline::resolve::Target;

/// Whether a call has cost its caller already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charge {
    Due,
    /// When it was accepted to be run later, or when it was begun before.
    Charge,
}

pub(crate) fn admit(
    desk: &Desk,
    mount: &Mount,
    caller: &Caller,
    target: &Target<'_>,
    charge: Charge,
) -> Result<(), Fault> {
    match target {
        Target::Tool { tool, .. } if !caller.scopes.has(&tool.spec.scope) => {
            return Err(Fault::missing_scope(&tool.spec.scope));
        }
        // A tool that is denied by name is denied by every other way to it, too.
        Target::Tool { tool, .. } if mount.policy.as_ref().is_some_and(|policy| policy.denies_tool(tool.spec.name)) => {
            return Err(tool_denied());
        }
        Target::Tool { .. } | Target::Ready(_) | Target::Listing(_) => {}
    }
    match charge {
        Charge::Due => take_budget(desk, mount, caller),
        Charge::Charge => Ok(()),
    }
}

/// A notice is answered with nothing, but it is recorded like a call and costs like one.
pub(crate) fn admit_notification(desk: &Desk, mount: &Mount, caller: &Caller) -> Result<(), Fault> {
    take_budget(desk, mount, caller)
}

/// Takes one call from the caller's budget.
pub(crate) fn take_budget(desk: &Desk, mount: &Mount, caller: &Caller) -> Result<(), Fault> {
    let key = [mount.contract.id, caller.client.as_str()];
    desk.rates.take(&key, desk.settings.calls, desk.now()).map_err(rate_limited)
}
