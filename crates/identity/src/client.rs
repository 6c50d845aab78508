//! Generation of clients and their secrets. Storing them is up to the caller.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::caller::{ClientId, Scopes, TenantId};
use frontdesk_engine::ports::registry::Client;
use frontdesk_engine::ports::{Clock, Random};

use crate::secret::{CLIENT_SECRET_PREFIX, PlaintextSecret};

/// A client to register, of no group, and its secret to show once.
pub fn new_client(
    name: impl Into<String>,
    tenants: Vec<TenantId>,
    scopes: Scopes,
    clock: &dyn Clock,
    random: &dyn Random,
) -> (Client, PlaintextSecret) {
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    let (secret, hash) = new_secret(random);
    let client = Client {
        id: ClientId::new(format!("cli_{}", URL_SAFE_NO_PAD.encode(bytes))),
        name: name.into(),
        secret: hash,
        tenants,
        groups: Vec::new(),
        scopes,
        created_at: clock.now(),
        revoked_at: None,
    };
    (client, secret)
}

/// A client secret to show once, and its hash to store.
pub fn new_secret(random: &dyn Random) -> (PlaintextSecret, [u8; 32]) {
    let secret = PlaintextSecret::random(CLIENT_SECRET_PREFIX, random);
    let hash = secret.hash();
    (secret, hash)
}
