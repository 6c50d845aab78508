//! Validation of consent. Contact data is recorded only with consent that covers it.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Code, Fault};
use serde::Deserialize;

use crate::automotive::codes;
use crate::automotive::lead::Consent;
use crate::automotive::values::{Contact, optional_instant};
use crate::automotive::vocabulary::{ConsentChannel, VocabularyTerm};

/// Clock skew: a time up to this far in the future counts as now.
const TOLERANCE_SECONDS: i64 = 300;

/// The `consent` argument.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ConsentInput {
    granted: bool,
    channels: Vec<VocabularyTerm<ConsentChannel>>,
    #[serde(with = "optional_instant", default)]
    granted_at: Option<Millis>,
    #[serde(with = "optional_instant", default)]
    expires_at: Option<Millis>,
    #[serde(default)]
    pub(super) text: Option<String>,
}

/// Returns the consent if it covers this contact now.
pub(super) fn accept(input: Option<&ConsentInput>, contact: &Contact, now: Millis) -> Result<Consent, Fault> {
    let Some(input) = input else {
        let expected = "the person's consent to be contacted is required. Ask them, and send it like \
            {\"granted\":true,\"channels\":[\"email\"]}";
        return Err(rejected(codes::CONSENT_REQUIRED, ("/consent", "required"), expected));
    };
    if !input.granted {
        let expected = "the person's consent to be contacted is required, and they have not given it";
        return Err(rejected(codes::CONSENT_REQUIRED, ("/consent/granted", "const"), expected));
    }
    let granted_at = input.granted_at.unwrap_or(now);
    if is_future(granted_at, now) {
        return Err(invalid("/consent/granted_at", "maximum", "it must not lie in the future"));
    }
    if input.expires_at.is_some_and(|expires_at| expires_at <= now) {
        return Err(invalid("/consent/expires_at", "minimum", "the consent must not have expired"));
    }
    let covers = |channels: &[&str]| input.channels.iter().any(|channel| channels.contains(&channel.as_str()));
    if contact.email.is_some() && !covers(&["email"]) {
        return Err(invalid("/consent/channels", "contains", "an e-mail address needs consent to email"));
    }
    if contact.phone.is_some() && !covers(&["sms", "voice_call", "autodialed_call"]) {
        return Err(invalid(
            "/consent/channels",
            "contains",
            "a telephone number needs consent to sms, voice_call or autodialed_call",
        ));
    }
    let mut channels = Vec::new();
    for channel in &input.channels {
        if !channels.contains(channel) {
            channels.push(*channel);
        }
    }
    Ok(Consent { status: VocabularyTerm::of("granted"), channels, granted_at, expires_at: input.expires_at })
}

pub(super) fn is_future(at: Millis, now: Millis) -> bool {
    at > now.plus_seconds(TOLERANCE_SECONDS)
}

fn invalid(pointer: &str, keyword: &'static str, expected: &str) -> Fault {
    rejected(codes::CONSENT_INVALID, (pointer, keyword), expected)
}

fn rejected(code: Code, (pointer, keyword): (&str, &'static str), expected: &str) -> Fault {
    Fault {
        problems: vec![Problem { pointer: pointer.to_owned(), keyword, expected: expected.to_owned() }],
        ..Fault::domain(code, format!("Nothing was recorded: {expected}."))
    }
}
