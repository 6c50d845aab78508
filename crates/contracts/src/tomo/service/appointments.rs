//! The dealership's own tools for appointments, run inside this contract's plans: its rules, its events and its faults
//! hold, and a booking and its appointment are committed together.

use std::sync::LazyLock;

use frontdesk_engine::model::fault::{FaultKind, Problem};
use frontdesk_engine::model::plan::Plan;
use frontdesk_engine::model::tool::{Outcome, Run, Tool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use crate::automotive::service::{INVALID_SERVICE_CODE, INVALID_TRANSITION, SLOT_UNAVAILABLE, appointment};
use crate::tomo::codes::{BOOKING_CLOSED, NOT_AVAILABLE};

pub(super) const CHECK: &str = "service.check_availability";
pub(super) const BOOK: &str = "service.book_appointment";
pub(super) const MOVE: &str = "service.update_appointment";
pub(super) const CANCEL: &str = "service.cancel_appointment";

/// Made once: a resource keeps some of its texts for the rest of the process.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| appointment::resource().tools);

fn tool(name: &str) -> Result<&'static Tool, Fault> {
    let found = TOOLS.iter().find(|tool| tool.spec.name == name);
    found.ok_or_else(|| Fault::internal(format!("the dealership has no tool {name}")))
}

/// The answer of a reading tool.
pub(super) async fn read(permitted: &Permitted<'_>, name: &str, arguments: Value) -> Result<Value, Fault> {
    let Run::Read(reader) = &tool(name)?.run else { return Err(Fault::internal("the tool does not read")) };
    let permitted = permitted.with_arguments(checked(name, arguments)?, 1);
    match reader.read(&permitted).await.map_err(translate)? {
        Outcome::Raw { answer, .. } => {
            serde_json::from_str(&answer).map_err(|_| Fault::internal("the answer of a tool is no JSON"))
        }
        Outcome::One(_) | Outcome::Many(_) => Err(Fault::internal("the tool answers with rows")),
    }
}

/// The plan of a writing tool. Its outcome has the id of the appointment.
pub(super) async fn plan(permitted: &Permitted<'_>, name: &str, arguments: Value) -> Result<Plan, Fault> {
    let Run::Write(writer) = &tool(name)?.run else { return Err(Fault::internal("the tool does not write")) };
    let permitted = permitted.with_arguments(checked(name, arguments)?, 1);
    writer.plan(&permitted).await.map_err(translate)
}

/// The arguments, if the tool would take them from a caller.
fn checked(name: &str, arguments: Value) -> Result<Map<String, Value>, Fault> {
    let problems = tool(name)?.spec.input.problems(&arguments);
    if !problems.is_empty() {
        return Err(translate(Fault::invalid(problems)));
    }
    match arguments {
        Value::Object(arguments) => Ok(arguments),
        _ => Err(Fault::internal("arguments are an object")),
    }
}

/// A fault of the dealership in the words of this contract.
fn translate(fault: Fault) -> Fault {
    let gone = || Fault::domain(NOT_AVAILABLE, "This slot is no longer free. Search again and choose another.");
    match fault.kind {
        FaultKind::Domain(code) if code == INVALID_TRANSITION.code => {
            Fault::domain(BOOKING_CLOSED, "The work has begun or ended, so the booking can no longer be changed.")
        }
        FaultKind::Domain(code) if code == SLOT_UNAVAILABLE.code || code == INVALID_SERVICE_CODE.code => gone(),
        FaultKind::Domain(_) | FaultKind::NotFound => gone(),
        FaultKind::InvalidArgument => {
            let problems: Vec<Problem> = fault.problems.into_iter().filter_map(own_pointer).collect();
            if problems.is_empty() { gone() } else { Fault::invalid(problems) }
        }
        _ => fault,
    }
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
