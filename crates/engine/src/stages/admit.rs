//! Stage 5: may this caller come in at all. The scope first, so that a refusal costs the caller
//! nothing; then its budget of calls.

use crate::caller::{Caller, Scope};
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::permit::rate_limited;
use crate::stages::door::denied;
use crate::stages::resolve::Target;

/// Whether a call has cost its caller already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paid {
    Not,
    /// When it was accepted to be run later, or when it was begun before.
    Already,
}

pub(crate) fn admit(desk: &Desk, mount: &Mount, caller: &Caller, target: &Target<'_>, paid: Paid) -> Result<(), Fault> {
    match target {
        Target::Tool { tool, .. } if !caller.scopes.has(&tool.spec.scope) => return Err(lacking(&tool.spec.scope)),
        // A tool that is denied by name is denied by every other way to it, too.
        Target::Tool { tool, .. } if mount.door.as_ref().is_some_and(|door| door.denies(tool.spec.name)) => {
            return Err(denied());
        }
        Target::Tool { .. } | Target::Ready(_) | Target::Listing(_) => {}
    }
    match paid {
        Paid::Not => spend(desk, mount, caller),
        Paid::Already => Ok(()),
    }
}

/// A notice is answered with nothing, but it is recorded like a call and costs like one.
pub(crate) fn admit_notice(desk: &Desk, mount: &Mount, caller: &Caller) -> Result<(), Fault> {
    spend(desk, mount, caller)
}

pub(crate) fn lacking(scope: &Scope) -> Fault {
    Fault {
        needed: vec![scope.clone()],
        ..Fault::new(FaultKind::Forbidden, "The token does not carry the scope this needs.")
    }
}

/// Takes one call from the caller's budget.
pub(crate) fn spend(desk: &Desk, mount: &Mount, caller: &Caller) -> Result<(), Fault> {
    let key = [mount.contract.id, caller.client.as_str()];
    desk.rates.take(&key, desk.settings.calls, desk.now()).map_err(rate_limited)
}
