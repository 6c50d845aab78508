//! What was booked in a run, what became of it, and whether the completions say the same. Orders of other runs are left
//! alone.

use std::collections::BTreeMap;

use super::super::intent::{CompletionWords, IntentFile};
use super::completion::Completion;
use crate::report::shown;

/// What begins the ids of requests that this judge sends, in any run.
pub(super) const RUN_PREFIX: &str = "sim_";
const OWN_REQUESTS: [&str; 2] = ["req_sim_", "req_doctor_"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BookingState {
    /// It was asked for, and there is no answer yet.
    Requested,
    Booked,
    /// The cancellation is under way.
    Cancelling,
    Cancelled,
    /// The business has ended it before it could be cancelled.
    Ended,
}

struct DispatchedBooking {
    intent: String,
    intent_version: String,
    words: CompletionWords,
    references: Vec<String>,
    state: BookingState,
    /// The external id of its completion.
    completion: Option<String>,
}

/// By the id of the request that booked.
#[derive(Default)]
pub(super) struct Bookings {
    dispatched: BTreeMap<String, DispatchedBooking>,
    /// The bodies that were taken, by external id.
    bodies: BTreeMap<String, Vec<u8>>,
    /// Completions of orders that were not dispatched here.
    pub(super) foreign: usize,
    pub(super) repeated: usize,
}

impl Bookings {
    /// Before the request is sent: a completion may be faster than the answer.
    pub(super) fn request(&mut self, request_id: &str, intent: &IntentFile) {
        let booking = DispatchedBooking {
            intent: intent.id.clone(),
            intent_version: intent.version.clone(),
            words: intent.completion.clone(),
            references: Vec::new(),
            state: BookingState::Requested,
            completion: None,
        };
        self.dispatched.insert(request_id.to_owned(), booking);
    }

    pub(super) fn booked(&mut self, request_id: &str, reference: &str) {
        if let Some(booking) = self.dispatched.get_mut(request_id) {
            if booking.state == BookingState::Requested {
                booking.state = BookingState::Booked;
            }
            if !booking.references.iter().any(|known| known == reference) {
                booking.references.push(reference.to_owned());
            }
        }
    }

    pub(super) fn cancelling(&mut self, request_id: &str) {
        self.change(request_id, BookingState::Cancelling);
    }

    pub(super) fn cancelled(&mut self, request_id: &str) {
        self.change(request_id, BookingState::Cancelled);
    }

    /// It could not be cancelled any more.
    pub(super) fn ended(&mut self, request_id: &str) {
        self.change(request_id, BookingState::Ended);
    }

    fn change(&mut self, request_id: &str, state: BookingState) {
        if let Some(booking) = self.dispatched.get_mut(request_id) {
            booking.state = state;
        }
    }

    pub(super) fn booked_count(&self) -> usize {
        self.dispatched.values().filter(|booking| !booking.references.is_empty()).count()
    }

    pub(super) fn completed_count(&self) -> usize {
        self.dispatched.values().filter(|booking| booking.completion.is_some()).count()
    }

    /// The bookings that were neither cancelled nor ended.
    pub(super) fn open(&self) -> Vec<String> {
        let is_open = |booking: &&DispatchedBooking| match booking.state {
            BookingState::Requested | BookingState::Booked | BookingState::Cancelling => true,
            BookingState::Cancelled | BookingState::Ended => false,
        };
        let references = self.dispatched.values().filter(is_open).flat_map(|booking| &booking.references);
        references.map(|reference| shown(reference)).collect()
    }

    /// The bookings that are over and for which no completion has come.
    pub(super) fn missing(&self) -> Vec<String> {
        let is_over = |booking: &&DispatchedBooking| {
            matches!(booking.state, BookingState::Cancelled | BookingState::Ended) && booking.completion.is_none()
        };
        self.dispatched.values().filter(is_over).map(|booking| shown(&booking.references.join(", "))).collect()
    }

    /// Takes a completion whose signature is right; gives what is wrong with it beyond its form.
    pub(super) fn complete(&mut self, completion: &Completion, body: &[u8]) -> Vec<String> {
        let id = &completion.external_id;
        if let Some(known) = self.bodies.get(id) {
            self.repeated += 1;
            let is_same = known.as_slice() == body;
            return if is_same { Vec::new() } else { vec!["it came before with another body".to_owned()] };
        }
        self.bodies.insert(id.clone(), body.to_vec());
        let Some(booking) = self.dispatched.get_mut(&completion.request_id) else {
            return self.unknown_request(completion);
        };
        let mut problems = Vec::new();
        if let Some(first) = &booking.completion {
            problems.push(format!("its order was completed before, as {}", shown(first)));
        }
        booking.completion = Some(id.clone());
        if completion.intent != booking.intent || completion.intent_version != booking.intent_version {
            problems.push(format!("it is for another intent than {} {}", booking.intent, booking.intent_version));
        }
        let CompletionWords { completed, cancelled, failed } = &booking.words;
        let is_known = [completed, cancelled, failed].contains(&&completion.status);
        match booking.state {
            _ if !is_known => problems.push(format!(
                "the status {} is none of {completed}, {cancelled}, {failed}",
                shown(&completion.status)
            )),
            BookingState::Cancelled if completion.status != *cancelled => {
                problems.push(format!("the status is {}; the order was cancelled", shown(&completion.status)));
            }
            BookingState::Requested | BookingState::Booked if completion.status == *cancelled => {
                problems.push("it says that the order was cancelled, which it was not".to_owned());
            }
            BookingState::Requested
            | BookingState::Booked
            | BookingState::Cancelling
            | BookingState::Cancelled
            | BookingState::Ended => {}
        }
        problems
    }

    fn unknown_request(&mut self, completion: &Completion) -> Vec<String> {
        let request = &completion.request_id;
        let by_reference =
            self.dispatched.iter_mut().find(|(_, booking)| booking.references.contains(&completion.external_id));
        if let Some((sent, booking)) = by_reference {
            booking.completion = Some(completion.external_id.clone());
            return vec![format!("request_id is {}; the order was dispatched as {sent}", shown(request))];
        }
        if OWN_REQUESTS.iter().any(|prefix| request.starts_with(prefix)) {
            self.foreign += 1;
            return Vec::new();
        }
        vec![format!("request_id is {}, which was not dispatched", shown(request))]
    }
}
