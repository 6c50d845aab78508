//! Which state may follow which.

use frontdesk_engine::{Code, Fault};

use super::vocabulary::Vocabulary;

/// Refuses a change of state that the table does not list. A state without a line is final; staying is always allowed.
pub fn check_transition<V: Vocabulary>(transitions: &[(V, &[V])], from: V, to: V, code: Code) -> Result<(), Fault> {
    if from == to {
        return Ok(());
    }
    let next = transitions.iter().find(|(state, _)| *state == from).map_or(&[][..], |(_, next)| next);
    if next.contains(&to) {
        return Ok(());
    }
    let possible: Vec<&str> = next.iter().map(|state| state.as_str()).collect();
    Err(Fault::domain(
        code,
        match possible.as_slice() {
            [] => format!("Status {} is final.", from.as_str()),
            possible => format!("Status {} can become {}.", from.as_str(), possible.join(", ")),
        },
    ))
}
