//! The clock and the randomness of the operating system. The only place where either is asked for.

use std::time::{SystemTime, UNIX_EPOCH};

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::{Clock, Random};

pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one home of the wall clock")]
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

pub struct SystemRandom;

impl Random for SystemRandom {
    /// Without randomness nothing here is safe, so an operating system that provides none ends the process.
    fn fill(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            eprintln!("frontdesk: the operating system provides no randomness; stopping");
            std::process::abort();
        }
    }
}
