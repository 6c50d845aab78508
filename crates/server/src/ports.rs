//! Time and randomness of the real machine. The only place where either is asked for.

use std::sync::Mutex;
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

/// Small pieces, such as ids and nonces, come from a reserve that is asked for at once: a call needs several, and asking
/// costs more than the bytes. Keys and secrets are never in it.
pub struct SystemRandom {
    reserve: Mutex<Reserve>,
}

/// What is not handed out yet. What was handed out is wiped.
struct Reserve {
    bytes: [u8; RESERVE],
    used: usize,
}

const RESERVE: usize = 512;
/// Tokens, secrets and keys are this long; they are asked for when they are needed.
const SECRET: usize = 32;

impl Default for SystemRandom {
    fn default() -> SystemRandom {
        SystemRandom { reserve: Mutex::new(Reserve { bytes: [0; RESERVE], used: RESERVE }) }
    }
}

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        match self.reserve.lock() {
            Ok(mut reserve) if bytes.len() < SECRET => reserve.hand_out(bytes),
            Ok(_) | Err(_) => ask(bytes),
        }
    }
}

impl Reserve {
    fn hand_out(&mut self, bytes: &mut [u8]) {
        if RESERVE - self.used < bytes.len() {
            ask(&mut self.bytes);
            self.used = 0;
        }
        for (byte, kept) in bytes.iter_mut().zip(self.bytes.iter_mut().skip(self.used)) {
            *byte = std::mem::take(kept);
        }
        self.used += bytes.len();
    }
}

/// Without randomness nothing here is safe, so a system that has none ends the process.
fn ask(bytes: &mut [u8]) {
    if getrandom::fill(bytes).is_err() {
        eprintln!("frontdesk: the operating system gives no randomness; stopping");
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_pieces_are_alike_and_none_is_left_empty_across_many_reserves() {
        let random = SystemRandom::default();
        let mut seen = HashSet::new();
        for _ in 0..2_000 {
            let mut piece = [0; 12];
            random.fill(&mut piece);
            assert!(seen.insert(piece), "handed out twice");
            // Chance leaves a half at zero once in 10^14 pieces.
            assert!(piece[..6] != [0; 6] && piece[6..] != [0; 6], "{piece:?}");
        }
    }

    #[test]
    fn what_was_handed_out_is_wiped_and_a_secret_never_was_in_the_reserve() {
        let random = SystemRandom::default();
        let mut piece = [0; 31];
        random.fill(&mut piece);
        let kept = random.reserve.lock().unwrap().bytes;
        assert_eq!(kept[..31], [0; 31]);
        assert_ne!(kept[31..62], [0; 31]);
        let mut secret = [0; 32];
        random.fill(&mut secret);
        assert_ne!(secret, [0; 32]);
        assert_eq!(random.reserve.lock().unwrap().bytes, kept, "a secret was taken from the reserve");
    }
}
