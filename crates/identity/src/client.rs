//! Making clients and their secrets, for whoever administers them. Nothing here stores anything.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::caller::{ClientId, Scopes, TenantId};
use frontdesk_engine::ports::registry::Client;
use frontdesk_engine::ports::{Clock, Random};

use crate::secret::{CLIENT_SECRET, Secret};

/// A client to be registered, and its secret to be shown once.
pub fn new_client(
    name: impl Into<String>,
    tenants: Vec<TenantId>,
    scopes: Scopes,
    clock: &dyn Clock,
    random: &dyn Random,
) -> (Client, Secret) {
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    let (secret, hash) = new_secret(random);
    let client = Client {
        id: ClientId::new(format!("cli_{}", URL_SAFE_NO_PAD.encode(bytes))),
        name: name.into(),
        secret: hash,
        tenants,
        scopes,
        created_at: clock.now(),
        revoked_at: None,
    };
    (client, secret)
}

/// A client secret to be shown once, and the hash that is kept of it.
pub fn new_secret(random: &dyn Random) -> (Secret, [u8; 32]) {
    let secret = Secret::random(CLIENT_SECRET, random);
    let hash = secret.hash();
    (secret, hash)
}
