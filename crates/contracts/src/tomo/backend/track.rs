//! How a booking stands in the business's own system. It is only looked at: what happens to the booking here is said by
//! notifications.

use frontdesk_engine::model::tool::{Future, Item, Outcome, Progress, WatchReport, WatchState, WatchTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use super::Forwarded;
use super::answer::Answered;
use super::forward::another_booking;
use crate::tomo::booking::BookingStatus;

pub(super) struct Track(pub(super) Forwarded);

impl WatchTool for Track {
    fn observe<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<WatchReport, Fault>> {
        Box::pin(async move {
            let Track(forwarded) = self;
            let (id, reference) = forwarded.booking_id(permitted).await?;
            let Answered { payload, booking } = forwarded.question(permitted).await?;
            if booking.reference.as_ref().is_some_and(|said| *said != reference) {
                return Err(another_booking());
            }
            let status = booking.status();
            let state = match status {
                Some(status) if status.is_final() => WatchState::Ended,
                Some(_) | None => WatchState::Open,
            };
            let word = status.map_or("under way", word);
            let body = Value::Object(payload).to_string();
            Ok(WatchReport {
                outcome: Outcome::One(Item { id, version: 0, body, masked: None, personal: None }),
                progress: Progress {
                    done: u32::from(state == WatchState::Ended),
                    total: 1,
                    // A stage is a word of the business's own; only the words of ours are for people.
                    message: word.to_owned(),
                },
                state,
            })
        })
    }
}

fn word(status: BookingStatus) -> &'static str {
    match status {
        BookingStatus::Completed => "completed",
        BookingStatus::Cancelled => "cancelled",
        BookingStatus::Failed => "failed",
        BookingStatus::Confirmed | BookingStatus::Unknown => "under way",
    }
}
