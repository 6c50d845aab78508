//! The token of a search: what was offered at which price and until when, sealed and stored nowhere. It holds the price,
//! not the unit: somebody else may book the last one meanwhile (our reading of `expires_at`).

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ToolContext;
use super::codes::RESULT_EXPIRED;

/// Prices are held this long, or as long as searches may be cached if that is longer.
const HELD_SECONDS: i64 = 15 * 60;

const PURPOSE: &str = "result";

/// What a search offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Offers {
    /// What was searched for: what a booking needs of it.
    pub search: Value,
    /// The id of what is offered, and its whole price in rupees.
    pub prices: Vec<(String, i64)>,
}

impl Offers {
    pub fn price(&self, id: &str) -> Option<i64> {
        self.prices.iter().find(|(offered, _)| offered == id).map(|(_, price)| *price)
    }
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    intent: String,
    /// Who searched: a partner, and whether live or in the sandbox.
    client: String,
    sandbox: bool,
    expires_at: i64,
    offers: Offers,
}

/// The token, and when it expires.
pub fn issue(permitted: &Permitted<'_>, context: &ToolContext, offers: Offers) -> Result<(String, Millis), Fault> {
    let held = HELD_SECONDS.max(context.intent.cache_seconds);
    let expires_at = permitted.now().plus_seconds(held);
    let sealed = Sealed {
        intent: context.intent.id.clone(),
        client: permitted.caller().client.as_str().to_owned(),
        sandbox: super::is_sandbox(permitted),
        expires_at: expires_at.0,
        offers,
    };
    let content = serde_json::to_vec(&sealed).map_err(|_| Fault::internal("offers are no JSON"))?;
    Ok((permitted.seal(PURPOSE, &content)?, expires_at))
}

/// What the token offered, if it is one of this intent and of this caller and has not expired.
pub fn read(permitted: &Permitted<'_>, context: &ToolContext, token: &str) -> Result<Offers, Fault> {
    let expired = || Fault::domain(RESULT_EXPIRED, "This result_token has expired. Search again and book from there.");
    let content = permitted.open(PURPOSE, token).ok_or_else(expired)?;
    let sealed: Sealed = serde_json::from_slice(&content).map_err(|_| expired())?;
    let is_valid = sealed.intent == context.intent.id
        && sealed.client == permitted.caller().client.as_str()
        && sealed.sandbox == super::is_sandbox(permitted)
        && permitted.now().0 < sealed.expires_at;
    if is_valid { Ok(sealed.offers) } else { Err(expired()) }
}
