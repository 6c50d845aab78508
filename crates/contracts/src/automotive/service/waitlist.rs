//! Whoever still waits when the time has come gets no place any more: a waitlisted appointment is cancelled by then. No
//! row says so; answers and filters follow the time.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use serde_json::{Map, Value};

use super::appointment::{Appointment, AppointmentStatus};
use crate::automotive::resource::TimedAnswers;
use crate::record::{FieldType as _, Vocabulary as _};

const STATUS: &str = "status";
const START: &str = "start";

pub(super) const TIMED: TimedAnswers = TimedAnswers { filters, text };

impl Appointment {
    /// The status at this time.
    pub(super) fn status_at(&self, now: Millis) -> AppointmentStatus {
        let has_ended = self.status == AppointmentStatus::Waitlisted && self.start <= now;
        if has_ended { AppointmentStatus::Cancelled } else { self.status }
    }
}

fn filters(filters: Vec<Filter>, now: Millis) -> Vec<Filter> {
    let has = |status: AppointmentStatus| Filter::Equals(STATUS, Cell::Text(status.as_str().to_owned()));
    let (waitlisted, cancelled) = (has(AppointmentStatus::Waitlisted), has(AppointmentStatus::Cancelled));
    let timed = filters.into_iter().flat_map(|filter| {
        if filter == waitlisted {
            vec![filter, Filter::AtLeast(START, now.0.saturating_add(1))]
        } else if filter == cancelled {
            vec![Filter::Either(vec![vec![filter], vec![waitlisted.clone(), Filter::AtMost(START, now.0)]])]
        } else {
            vec![filter]
        }
    });
    timed.collect()
}

/// Only the row itself has a status of this spelling: quotation marks within values are escaped.
fn text(text: String, now: Millis) -> String {
    let (waitlisted, cancelled) = (r#""status":"waitlisted""#, r#""status":"cancelled""#);
    if !text.contains(waitlisted) {
        return text;
    }
    let row: Option<Map<String, Value>> = serde_json::from_str(&text).ok();
    let start = row.as_ref().and_then(|row| row.get(START)).and_then(Millis::read);
    if start.is_some_and(|start| start <= now) { text.replacen(waitlisted, cancelled, 1) } else { text }
}
