//! Passwords: argon2id with the parameters that OWASP recommends, and never more than a few at a time, because each takes
//! 19 MiB and a good part of a second.

use std::sync::Arc;
use std::time::Duration;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::ports::Random;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;
use tokio::time::timeout;

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const HASH_BYTES: usize = 32;

/// Shorter ones are guessed.
pub(crate) const MIN_LETTERS: usize = 12;
/// Longer ones only cost time.
pub(crate) const MAX_BYTES: usize = 256;

/// How many passwords are hashed at a time, and how long one waits for its turn.
const AT_A_TIME: usize = 2;
const PATIENCE: Duration = Duration::from_secs(5);

/// With the parameters it was made with, so that they can change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PasswordHash {
    salt: String,
    hash: String,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

/// Hashes and checks passwords. Clones share the limit.
#[derive(Clone)]
pub(crate) struct PasswordHasher {
    permits: Arc<Semaphore>,
    random: Arc<dyn Random>,
}

impl PasswordHasher {
    pub(crate) fn new(random: Arc<dyn Random>) -> PasswordHasher {
        PasswordHasher { permits: Arc::new(Semaphore::new(AT_A_TIME)), random }
    }

    pub(crate) async fn hash(&self, password: &str) -> Result<PasswordHash, Fault> {
        let mut salt = [0; 16];
        self.random.fill(&mut salt);
        let mut made = PasswordHash {
            salt: STANDARD_NO_PAD.encode(salt),
            hash: String::new(),
            memory_kib: MEMORY_KIB,
            passes: PASSES,
            lanes: LANES,
        };
        made.hash = STANDARD_NO_PAD.encode(self.derive(&made, password).await?);
        Ok(made)
    }

    /// The same work is done without a stored hash, so that the time does not say whether there is one.
    pub(crate) async fn verify(&self, stored: Option<&PasswordHash>, password: &str) -> Result<bool, Fault> {
        let nobody = PasswordHash {
            salt: STANDARD_NO_PAD.encode([0; 16]),
            hash: String::new(),
            memory_kib: MEMORY_KIB,
            passes: PASSES,
            lanes: LANES,
        };
        let derived = self.derive(stored.unwrap_or(&nobody), password).await?;
        let known = stored.and_then(|stored| STANDARD_NO_PAD.decode(&stored.hash).ok()).unwrap_or_default();
        Ok(known.len() == HASH_BYTES && bool::from(known.ct_eq(&derived)))
    }

    async fn derive(&self, of: &PasswordHash, password: &str) -> Result<[u8; HASH_BYTES], Fault> {
        let broken = |_| Fault::internal("a password hash cannot be read");
        let salt = STANDARD_NO_PAD.decode(&of.salt).map_err(broken)?;
        let params = Params::new(of.memory_kib, of.passes, of.lanes, Some(HASH_BYTES))
            .map_err(|_| Fault::internal("a password hash has parameters that cannot be used"))?;
        let waiting = timeout(PATIENCE, Arc::clone(&self.permits).acquire_owned()).await;
        let Ok(Ok(permit)) = waiting else {
            return Err(Fault::unavailable("too many passwords are being checked"));
        };
        let password = zeroize::Zeroizing::new(password.to_owned());
        let derived = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut out = [0; HASH_BYTES];
            let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
            argon.hash_password_into(password.as_bytes(), &salt, &mut out).map(|()| out)
        });
        match derived.await {
            Ok(Ok(out)) => Ok(out),
            Ok(Err(_)) | Err(_) => Err(Fault::internal("a password could not be hashed")),
        }
    }
}

/// Why a password cannot be chosen, as a sentence for the person who has typed it.
pub(crate) fn password_problem(password: &str, name: &str) -> Option<&'static str> {
    if password.chars().count() < MIN_LETTERS {
        return Some("Choose a password of at least 12 characters. A few words in a row are easy to remember.");
    }
    if password.len() > MAX_BYTES {
        return Some("Choose a shorter password: at most 256 bytes.");
    }
    if password.eq_ignore_ascii_case(name) {
        return Some("Choose a password that is not your name.");
    }
    None
}
