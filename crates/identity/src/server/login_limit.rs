//! What wrong secrets cost the address that sends them, and nobody else. A right secret is accepted whatever others at the
//! same address do, so nobody can lock a client out by knowing its id or by sharing its address.
//!
//! Only failures count against an address. One that has used up its failures is still checked, because a check is one
//! look-up and one comparison, as of any access token; but its requests wait for each other, and a wrong secret is then
//! answered "too many" without saying more.

use std::net::IpAddr;

use frontdesk_engine::limits::ip_prefix::ip_prefix;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::ports::registry::Client;

use super::authenticate::ClientCredentials;
use super::error::{OAuthError, OAuthErrorKind};
use super::{EmbeddedServer, OAuthEndpoint};

/// Many clients can share an address, so it may fail more often than a client may succeed. It limits load, not guessing: a
/// secret has 256 random bits.
const ADDRESS_RATE_FACTOR: u32 = 10;

impl EmbeddedServer {
    /// The client of these credentials, within what the address may fail.
    pub(crate) async fn authenticate_from(
        &self,
        address: IpAddr,
        endpoint: OAuthEndpoint,
        credentials: ClientCredentials,
    ) -> Result<Client, OAuthError> {
        let prefix = ip_prefix(address).to_string();
        let key = ["failures", endpoint.as_str(), &prefix];
        let per_minute = self.settings.token_requests_per_minute.saturating_mul(ADDRESS_RATE_FACTOR);
        let budget = Budget { per_minute, burst: per_minute };
        let _turn = match self.rates.wait(&key, budget, self.clock.monotonic()) {
            Some(_) => self.turns.acquire(address).await,
            None => None,
        };
        let error = match self.authenticate(credentials).await {
            Err(error) if error.kind == OAuthErrorKind::InvalidClient => error,
            other => return other,
        };
        match self.rates.take(&key, budget, self.clock.monotonic()) {
            Ok(()) => Err(error),
            Err(seconds) => Err(OAuthError::new(
                OAuthErrorKind::RateLimited(seconds),
                "Too many failed requests from this address. Check the client id and its secret, and retry after the \
                 seconds in Retry-After.",
            )),
        }
    }
}
