//! Who is at the browser: a cookie with 256 random bits, of which only the hash is stored. Before a login there is a cookie
//! as well, so that the login form has something to bind its token to; it is replaced at the login.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, RecordChange};
use frontdesk_engine::seal::sha256;
use subtle::ConstantTimeEq;

use super::EmbeddedServer;
use super::request::OAuthRequest;
use crate::people::records::{Session, User};
use crate::people::stored::{StoredRecord, find_valid, new_record};
use crate::people::users::hex;
use crate::secret::{PlaintextSecret, is_encoded_secret};

const COOKIE: &str = "__Host-frontdesk";
/// Nobody stays logged in longer than this without a new login.
const MAX_SESSION_SECONDS: i64 = 12 * 60 * 60;
/// A session in use is prolonged at most this often.
const PROLONG_MILLIS: i64 = 60_000;

/// A browser with its cookie.
pub(crate) struct Browser {
    secret: PlaintextSecret,
    /// Whether it has the cookie already.
    is_known: bool,
    pub(crate) login: Option<LoggedIn>,
}

/// A user who has logged in.
pub(crate) struct LoggedIn {
    pub(crate) session: StoredRecord<Session>,
    pub(crate) user: StoredRecord<User>,
}

impl Browser {
    /// What a form must repeat. It is derived from the cookie, which no other site can read.
    pub(crate) fn form_token(&self) -> String {
        URL_SAFE_NO_PAD.encode(sha256(format!("form {}", self.secret.expose()).as_bytes()))
    }

    pub(crate) fn accepts(&self, form_token: Option<&str>) -> bool {
        let expected = self.form_token();
        self.is_known && form_token.is_some_and(|sent| bool::from(sent.as_bytes().ct_eq(expected.as_bytes())))
    }

    /// The reply, with the cookie if the browser has none.
    pub(crate) fn remember(&self, reply: Reply) -> Reply {
        if self.is_known { reply } else { set_cookie(reply, self.secret.expose()) }
    }
}

impl EmbeddedServer {
    pub(crate) async fn browser(&self, request: &OAuthRequest<'_>) -> Result<Browser, Fault> {
        let Some(secret) = cookie(request.cookies) else {
            return Ok(self.new_browser());
        };
        let now = self.clock.now();
        let session = find_valid::<Session>(self.records(), &hex(&secret.hash()), now).await?;
        let login = match session {
            Some(session) => self.users.active(&session.content.user).await?.map(|user| LoggedIn { session, user }),
            None => None,
        };
        if let Some(LoggedIn { session, .. }) = &login {
            self.prolong(session).await?;
        }
        Ok(Browser { secret, is_known: true, login })
    }

    fn new_browser(&self) -> Browser {
        let secret = PlaintextSecret::random("", self.random.as_ref());
        Browser { secret, is_known: false, login: None }
    }

    async fn prolong(&self, session: &StoredRecord<Session>) -> Result<(), Fault> {
        let now = self.clock.now();
        let end = session.content.created_at.saturating_add(MAX_SESSION_SECONDS * 1000);
        let until = now.plus_seconds(self.settings.login.session_seconds.into()).0.min(end);
        if until.saturating_sub(session.record.expires_at.map_or(0, |at| at.0)) < PROLONG_MILLIS {
            return Ok(());
        }
        let longer = session.replace_until(&session.content, Some(Millis(until)));
        // If another request has prolonged or ended it meanwhile, that is as well.
        self.records().change_login_records(vec![longer], now, LoginAudit::None).await?;
        Ok(())
    }

    /// Starts a session with a new cookie; one that the browser had ends.
    pub(crate) async fn log_in(
        &self,
        browser: &Browser,
        user: &StoredRecord<User>,
        record: String,
    ) -> Result<Browser, Fault> {
        let now = self.clock.now();
        let fresh = Browser { is_known: false, ..self.new_browser() };
        let session = Session { user: user.id().to_owned(), authenticated_at: now.seconds(), created_at: now.0 };
        let expires_at = Some(now.plus_seconds(self.settings.login.session_seconds.into()));
        let added = LoginRecord { expires_at, ..new_record(hex(&fresh.secret.hash()), user.id(), &session) };
        let steps = vec![RecordChange::Add(added)];
        self.records().change_login_records(steps, now, LoginAudit::Access(record)).await?;
        if let Some(LoggedIn { session, .. }) = &browser.login {
            self.records().change_login_records(vec![session.remove()], now, LoginAudit::None).await?;
        }
        Ok(fresh)
    }

    pub(crate) async fn log_out(&self, browser: &Browser, record: String) -> Result<(), Fault> {
        if let Some(LoggedIn { session, .. }) = &browser.login {
            let now = self.clock.now();
            self.records().change_login_records(vec![session.remove()], now, LoginAudit::Access(record)).await?;
        }
        Ok(())
    }
}

/// The cookie, if there is exactly one that can be ours.
fn cookie(headers: &[&str]) -> Option<PlaintextSecret> {
    let pairs = headers.iter().flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut ours = pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value);
    match (ours.next(), ours.next()) {
        (Some(value), None) if is_encoded_secret(value) => Some(PlaintextSecret::from_text(value)),
        (Some(_) | None, _) => None,
    }
}

fn set_cookie(reply: Reply, value: &str) -> Reply {
    reply.header("Set-Cookie", format!("{COOKIE}={value}; Path=/; Secure; HttpOnly; SameSite=Lax"))
}
