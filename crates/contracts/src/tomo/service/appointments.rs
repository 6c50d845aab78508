//! The dealership's own tools for appointments, run inside this contract's plans: its rules, its events and its faults
//! hold, and a booking and its appointment are committed together.

use frontdesk_engine::model::fault::{FaultKind, Problem};
use frontdesk_engine::model::plan::Plan;
use frontdesk_engine::model::tool::Outcome;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use crate::automotive::in_process;
use crate::automotive::service::INVALID_TRANSITION;
use crate::tomo::codes::{BOOKING_CLOSED, NOT_AVAILABLE};

pub(super) const CHECK: &str = "service.check_availability";
pub(super) const BOOK: &str = "service.book_appointment";
pub(super) const MOVE: &str = "service.update_appointment";
pub(super) const CANCEL: &str = "service.cancel_appointment";

/// The answer of a reading tool.
pub(super) async fn read(permitted: &Permitted<'_>, tool: &str, arguments: Map<String, Value>) -> Result<Value, Fault> {
    match in_process::read(permitted, tool, arguments, 1).await.map_err(translate)? {
        Outcome::Raw { answer, .. } => {
            serde_json::from_str(&answer).map_err(|_| Fault::internal("the answer of a tool is no JSON"))
        }
        Outcome::One(_) | Outcome::Many(_) => Err(Fault::internal("the tool answers with rows")),
    }
}

/// The plan of a writing tool. Its outcome has the id of the appointment.
pub(super) async fn plan(permitted: &Permitted<'_>, tool: &str, arguments: Map<String, Value>) -> Result<Plan, Fault> {
    in_process::plan(permitted, tool, arguments).await.map_err(translate)
}

/// A fault of the dealership in the words of this contract.
fn translate(fault: Fault) -> Fault {
    let gone = || Fault::domain(NOT_AVAILABLE, "This slot is no longer free. Search again and choose another.");
    if fault.kind == FaultKind::Domain(INVALID_TRANSITION.code) {
        return Fault::domain(BOOKING_CLOSED, "The work has begun or ended, so the booking can no longer be changed.");
    }
    if fault.kind == FaultKind::InvalidArgument {
        let problems: Vec<Problem> = fault.problems.into_iter().filter_map(own_pointer).collect();
        return if problems.is_empty() { gone() } else { Fault::invalid(problems) };
    }
    if matches!(fault.kind, FaultKind::Domain(_) | FaultKind::NotFound) { gone() } else { fault }
}

/// The argument of this contract that the dealership's tool found wrong. What callers do not send is not theirs to
/// correct.
fn own_pointer(problem: Problem) -> Option<Problem> {
    let pointer = match problem.pointer.strip_prefix("/contact") {
        Some(rest) => format!("/customer{rest}"),
        None if problem.pointer.starts_with("/vehicle/") => problem.pointer.clone(),
        None => return None,
    };
    Some(Problem { pointer, ..problem })
}
