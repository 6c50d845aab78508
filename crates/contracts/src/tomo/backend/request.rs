//! One request to the business's own system: what is sent, how it is signed, and what becomes of it. It is never sent
//! twice here; repeating is for who knows whether that is safe.

use std::time::Duration;

use frontdesk_engine::model::notice::Notice;
use frontdesk_engine::ports::http_client::{HttpError, HttpRequest, HttpResponse};
use frontdesk_engine::{Fault, FaultKind, Permitted};
use serde_json::{Map, Value, json};

use super::Forwarded;
use super::answer::{BackendAnswer, read};
use super::breaker::Turn;
use crate::partner::BackendTimeouts;
use crate::record::Vocabulary as _;
use crate::tomo::ID;
use crate::tomo::booking::BookingMode;
use crate::tomo::intent::Role;
use crate::tomo::signature::sign;

/// A longer answer is refused.
const MAX_ANSWER: usize = 1 << 20;

/// After how many seconds TOMO should repeat a call that may have been done: the second of its pauses (§8).
const RETRY_SECONDS: u64 = 4;

/// Members of a call that stand beside its arguments.
const ENVELOPE: [&str; 4] = ["intent", "intent_version", "request_id", "user_session_id"];

/// The key of a call that changes something, and how often it was sent.
#[derive(Clone, Copy)]
pub(super) enum Repetition<'a> {
    /// Sent once.
    Never,
    Keyed {
        key: &'a str,
        attempt: u32,
    },
}

/// Why there is no answer that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// It has not arrived, or was turned away unread. The seconds say when it may be tried again.
    NotSent { cause: String, seconds: u64 },
    /// It may have been done.
    Unknown(String),
    /// It was answered, and with something that cannot be passed on.
    Bad(String),
}

impl Failure {
    /// For a call that changes nothing.
    pub(super) fn of_read(self) -> Fault {
        match self {
            Failure::NotSent { cause, seconds } => Fault::unavailable(cause).retry_after(seconds),
            Failure::Unknown(cause) => Fault::unavailable(cause),
            Failure::Bad(cause) => Fault::internal(cause),
        }
    }

    /// For a call that may have been done: what makes TOMO repeat it with the same key.
    pub(super) fn of_change(self) -> Fault {
        match self {
            Failure::NotSent { .. } | Failure::Bad(_) => self.of_read(),
            Failure::Unknown(cause) => {
                let message = "The business has not answered yet. Repeat the request as it is, with the same key.";
                Fault::new(FaultKind::KeyInFlight, message).retry_after(RETRY_SECONDS).caused_by(cause)
            }
        }
    }
}

impl Forwarded {
    /// Sends the call, and reads the answer.
    pub(super) async fn ask(
        &self,
        permitted: &Permitted<'_>,
        repetition: Repetition<'_>,
    ) -> Result<BackendAnswer, Failure> {
        if let Some(seconds) = self.backend.breaker.enter(permitted.now()) {
            return Err(suspended(seconds));
        }
        let request = self.request(permitted, repetition)?;
        let answered = permitted.http_client().post(request).await;
        let response = answered.map_err(failure).and_then(check_status);
        self.note(permitted, &response);
        read(&self.shared.intent, &self.tool, permitted, &response?.body).map_err(Failure::Bad)
    }

    /// Fails at once while the system is left alone.
    pub(super) fn check_not_suspended(&self, permitted: &Permitted<'_>) -> Result<(), Fault> {
        match self.backend.breaker.closed_for(permitted.now()) {
            Some(seconds) => Err(suspended(seconds).of_read()),
            None => Ok(()),
        }
    }

    fn request(&self, permitted: &Permitted<'_>, repetition: Repetition<'_>) -> Result<HttpRequest, Failure> {
        let key = self.backend.keys.first();
        let key = key.ok_or_else(|| Failure::NotSent { cause: "no key to sign with".to_owned(), seconds: 1 })?;
        let body = self.body(permitted, repetition).to_string();
        let now = permitted.now();
        Ok(HttpRequest {
            url: self.backend.url.clone(),
            headers: vec![
                ("Content-Type", "application/json".to_owned()),
                ("Accept", "application/json".to_owned()),
                ("X-Frontdesk-Timestamp", now.0.to_string()),
                ("X-Frontdesk-Signature", sign(key, now, body.as_bytes())),
            ],
            timeout: timeout(&self.backend.timeouts, self.tool.role),
            body: body.into(),
            max_response: MAX_ANSWER,
        })
    }

    fn body(&self, permitted: &Permitted<'_>, repetition: Repetition<'_>) -> Value {
        let intent = &self.shared.intent;
        let given = &permitted.input().arguments;
        let arguments: Map<String, Value> = given
            .iter()
            .filter(|(name, _)| !ENVELOPE.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let (key, attempt) = match repetition {
            Repetition::Never => (None, 1),
            Repetition::Keyed { key, attempt } => (Some(key), attempt),
        };
        let mut body = json!({
            "tool": self.tool.name,
            "role": self.tool.role.as_str(),
            "intent": intent.id,
            "intent_version": intent.version,
            "mode": BookingMode::of(permitted).as_str(),
            "attempt": attempt,
            "arguments": arguments,
        });
        if let Some(members) = body.as_object_mut() {
            let texts = ["request_id", "user_session_id"];
            members.extend(texts.iter().filter_map(|name| Some(((*name).to_owned(), given.get(*name)?.clone()))));
            members.extend(key.map(|key| ("idempotency_key".to_owned(), Value::from(key))));
        }
        body
    }

    fn note(&self, permitted: &Permitted<'_>, response: &Result<HttpResponse, Failure>) {
        let turn = match response {
            Ok(_) | Err(Failure::Bad(_)) => self.backend.breaker.succeeded(),
            Err(Failure::NotSent { .. } | Failure::Unknown(_)) => self.backend.breaker.failed(permitted.now()),
        };
        let remote = &self.shared.partner_id;
        match turn {
            Turn::Nothing => {}
            Turn::Suspended { failures } => {
                permitted.notify(&Notice::RemoteSuspended { contract: ID, remote, failures });
            }
            Turn::Resumed => permitted.notify(&Notice::RemoteResumed { contract: ID, remote }),
        }
    }
}

fn suspended(seconds: u64) -> Failure {
    Failure::NotSent { cause: "the backend failed repeatedly and is left alone".to_owned(), seconds }
}

fn timeout(timeouts: &BackendTimeouts, role: Role) -> Duration {
    let millis = match role {
        Role::Search => timeouts.search,
        Role::GetDetail | Role::Utility => timeouts.get,
        Role::Create => timeouts.create,
        Role::Modify | Role::Cancel | Role::Rate => timeouts.cancel,
        Role::Track => timeouts.track,
    };
    Duration::from_millis(u64::from(millis))
}

fn failure(error: HttpError) -> Failure {
    let cause = format!("backend: {}", error.as_str());
    match error {
        HttpError::Refused | HttpError::Unreachable => Failure::NotSent { cause, seconds: 1 },
        HttpError::TimedOut | HttpError::Broken => Failure::Unknown(cause),
        HttpError::TooLarge => Failure::Bad(cause),
    }
}

/// 429 says that nothing was done; another 4xx or a redirect is no answer of this protocol.
fn check_status(response: HttpResponse) -> Result<HttpResponse, Failure> {
    let cause = format!("backend: status {}", response.status);
    match response.status {
        200 => Ok(response),
        429 => Err(Failure::NotSent { cause, seconds: 1 }),
        500..=599 => Err(Failure::Unknown(cause)),
        _ => Err(Failure::Bad(cause)),
    }
}
