//! Which client is asking, proven by its secret. An unknown client, a wrong secret and a revoked
//! client go the same way and get the same answer; a secret is read from exactly one place.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::caller::ClientId;
use frontdesk_engine::ports::registry::Client;
use frontdesk_engine::seal::sha256;
use subtle::{Choice, ConstantTimeEq};

use crate::asked::Asked;
use crate::form::{Form, decode};
use crate::refusal::{Reason, Refusal};
use crate::server::{EmbeddedServer, Endpoint};

/// One address may be the way out of many clients, so its budget is a multiple of theirs. It bounds
/// work, not guesses: 256 random bits cannot be guessed.
const CLIENTS_PER_ADDRESS: u32 = 10;

/// A request whose client has proven itself.
pub(crate) struct Admitted {
    pub(crate) client: Client,
    pub(crate) form: Form,
}

impl EmbeddedServer {
    /// What the token and the revocation endpoint ask of every request.
    pub(crate) async fn admit(&self, asked: &Asked<'_>, endpoint: Endpoint) -> Result<Admitted, Refusal> {
        if asked.method != "POST" {
            return Err(Refusal::new(Reason::WrongVerb("POST, OPTIONS"), "Send the form by POST."));
        }
        if asked.query.is_some_and(|query| !query.is_empty()) {
            // A URL ends up in logs and histories; what was sent there is burnt, not evaluated.
            return Err(Refusal::new(
                Reason::InvalidRequest,
                "Send parameters in the body, not in the URL. Replace a secret that was sent in a URL.",
            ));
        }
        if !asked.is_form() {
            return Err(Refusal::new(Reason::WrongMedia, "Send Content-Type: application/x-www-form-urlencoded."));
        }
        let form = Form::parse(asked.body)?;
        let presented = CredentialPresence::read(asked.authorization, &form)?;
        self.afford(&["address", endpoint.word(), &neighbourhood(asked.address)], CLIENTS_PER_ADDRESS)?;
        let client = self.prove(presented).await?;
        Ok(Admitted { client, form })
    }

    /// Asked only of a client that is proven: nobody can use up the budget of one whose secret they lack.
    pub(crate) fn afford_client(&self, endpoint: Endpoint, client: &Client) -> Result<(), Refusal> {
        self.afford(&["client", endpoint.word(), client.id.as_str()], 1)
    }

    async fn prove(&self, presented: CredentialPresence) -> Result<Client, Refusal> {
        let found = self.registry.client(&presented.id).await?;
        let kept = found.as_ref().map_or([0; 32], |client| client.secret);
        let current = found.as_ref().is_some_and(|client| client.revoked_at.is_none());
        let proven = presented.hash.ct_eq(&kept) & Choice::from(u8::from(current));
        found.filter(|_| proven.into()).ok_or_else(Refusal::invalid_client)
    }

    fn afford(&self, key: &[&str], times: u32) -> Result<(), Refusal> {
        let per_minute = self.settings.token_requests_per_minute.saturating_mul(times);
        let budget = Budget { per_minute, burst: per_minute };
        self.rates.take(key, budget, self.clock.now()).map_err(|seconds| {
            Refusal::new(
                Reason::TooOften(seconds),
                "Too many requests. Wait as many seconds as Retry-After says, and use a token until it expires.",
            )
        })
    }
}

/// A client id with the hash of the secret that came with it.
struct CredentialPresence {
    id: ClientId,
    hash: [u8; 32],
}

impl CredentialPresence {
    fn read(authorization: &[&str], form: &Form) -> Result<CredentialPresence, Refusal> {
        let in_form = form.get("client_secret").is_some() || form.get("client_assertion").is_some();
        match authorization {
            [] => CredentialPresence::from_form(form),
            [_] if in_form => Err(several()),
            [header] => CredentialPresence::from_basic(header, form),
            [_, _, ..] => Err(several()),
        }
    }

    fn from_form(form: &Form) -> Result<CredentialPresence, Refusal> {
        match (form.get("client_id"), form.get("client_secret"), form.get("client_assertion")) {
            (_, Some(_), Some(_)) => Err(several()),
            (Some(id), Some(secret), None) => Ok(CredentialPresence::new(id, secret)),
            (_, None, _) | (None, Some(_), None) => Err(Refusal::invalid_client()),
        }
    }

    /// Id and secret are escaped as in a form before they are joined (RFC 6749 §2.3.1).
    fn from_basic(header: &str, form: &Form) -> Result<CredentialPresence, Refusal> {
        let (id, secret) = basic(header).ok_or_else(Refusal::invalid_client)?;
        match form.get("client_id") {
            Some(other) if other != id => Err(Refusal::new(
                Reason::InvalidRequest,
                "Leave client_id out of the form, or send the same one as by HTTP Basic.",
            )),
            Some(_) | None => Ok(CredentialPresence::new(&id, &secret)),
        }
    }

    fn new(id: &str, secret: &str) -> CredentialPresence {
        CredentialPresence { id: ClientId::new(id), hash: sha256(secret.as_bytes()) }
    }
}

fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    let decoded = scheme.eq_ignore_ascii_case("Basic").then(|| STANDARD.decode(encoded).ok())??;
    let text = String::from_utf8(decoded).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((decode(id.as_bytes())?, decode(secret.as_bytes())?))
}

fn several() -> Refusal {
    Refusal::new(
        Reason::InvalidRequest,
        "Authenticate the client once: by HTTP Basic, or by client_secret in the form.",
    )
}

/// Whoever has one IPv6 address has the 2^64 beside it.
fn neighbourhood(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("{:x}/64", address.to_bits() >> 64),
    }
}
