//! What happens to deliveries, for logs and metrics. It names ids and never what is sent.

use crate::model::caller::TenantId;
use crate::model::timestamp::Millis;

#[derive(Debug, Clone, Copy)]
pub enum DeliveryNotice<'a> {
    /// An attempt has ended.
    Attempt {
        contract: &'static str,
        tenant: &'a TenantId,
        id: &'a str,
        subject: &'a str,
        /// How many attempts there were, with this one.
        tries: u32,
        outcome: AttemptOutcome,
        /// A status of HTTP, or why there is none.
        result: &'a str,
        next_try_at: Option<Millis>,
    },
    /// Deliveries wait, and nothing can be sent for a reason that is for the operator.
    Held { contract: &'static str, tenant: &'a TenantId, consumer: &'a str, reason: &'static str },
    /// An event that cannot be understood was passed over.
    EventSkipped { contract: &'static str, seq: i64, cause: &'a str },
    /// When the oldest delivery was made that has not arrived, in a tenant and for one reader of its events.
    Backlog { contract: &'static str, tenant: &'a TenantId, consumer: &'a str, oldest: Option<Millis> },
}

/// What an attempt has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    Delivered,
    Retry,
    /// The endpoint does not accept our signature; it is tried again.
    Alarm,
    Dead,
}

impl AttemptOutcome {
    pub const ALL: [AttemptOutcome; 4] =
        [AttemptOutcome::Delivered, AttemptOutcome::Retry, AttemptOutcome::Alarm, AttemptOutcome::Dead];

    pub fn as_str(self) -> &'static str {
        match self {
            AttemptOutcome::Delivered => "delivered",
            AttemptOutcome::Retry => "retry",
            AttemptOutcome::Alarm => "alarm",
            AttemptOutcome::Dead => "dead",
        }
    }
}
