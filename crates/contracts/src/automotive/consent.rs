//! Consent to be contacted. Contact data is recorded only with consent that covers it.

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Code, Fault};

use super::codes::CodeSpec;
use super::values::Contact;
use super::vocabulary::ConsentChannel;
use crate::record::{List, Text, Timestamp};
use crate::{Record, Vocabulary};

/// Clock skew: a time up to this far in the future counts as now.
const TOLERANCE_SECONDS: i64 = 300;

pub(super) const CONSENT_REQUIRED: CodeSpec = CodeSpec {
    code: Code("consent.required"),
    means: "The person has not agreed to be contacted.",
    next: "Ask them, then send their consent.",
};
pub(super) const CONSENT_INVALID: CodeSpec = CodeSpec {
    code: Code("consent.invalid"),
    means: "The consent does not cover the contact data, lies in the future, or has expired.",
    next: "Fix what `details.errors` names.",
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ConsentStatus {
    Granted,
    Denied,
    Withdrawn,
    Expired,
    Pending,
    Unknown,
}

/// What the person agreed to. The words they agreed to are personal and stand apart.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct Consent {
    /// Whether it holds.
    pub status: ConsentStatus,
    /// How the person may be contacted.
    pub channels: List<ConsentChannel, 10>,
    /// When it was given.
    pub granted_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

impl Consent {
    /// Nobody has been asked yet.
    pub fn pending(now: Millis) -> Consent {
        Consent { status: ConsentStatus::Pending, channels: List::default(), granted_at: now, expires_at: None }
    }
}

/// Consent as a caller states it.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct ConsentInput {
    /// Whether the person agreed to be contacted.
    pub granted: bool,
    /// How they may be contacted. An e-mail address needs email; a number needs sms, voice_call or autodialed_call.
    #[field(known)]
    pub channels: List<ConsentChannel, 10>,
    /// When they agreed; now if absent.
    pub granted_at: Option<Timestamp>,
    /// When it ends, if it does.
    pub expires_at: Option<Timestamp>,
    /// The words they agreed to.
    pub text: Option<Text<4000>>,
}

/// Returns the consent if it covers this contact now.
pub(super) fn accept(input: Option<&ConsentInput>, contact: &Contact, now: Millis) -> Result<Consent, Fault> {
    let Some(input) = input else {
        let expected = "the person's consent to be contacted is required. Ask them, and send it like \
            {\"granted\":true,\"channels\":[\"email\"]}";
        return Err(rejected(CONSENT_REQUIRED, ("/consent", "required"), expected));
    };
    if !input.granted {
        let expected = "the person's consent to be contacted is required, and they have not given it";
        return Err(rejected(CONSENT_REQUIRED, ("/consent/granted", "const"), expected));
    }
    let granted_at = input.granted_at.unwrap_or(now);
    if is_future(granted_at, now) {
        return Err(invalid("/consent/granted_at", "maximum", "it must not lie in the future"));
    }
    if input.expires_at.is_some_and(|expires_at| expires_at <= now) {
        return Err(invalid("/consent/expires_at", "minimum", "the consent must not have expired"));
    }
    let covers = |channels: &[ConsentChannel]| input.channels.iter().any(|channel| channels.contains(channel));
    if contact.email.is_some() && !covers(&[ConsentChannel::Email]) {
        return Err(invalid("/consent/channels", "contains", "an e-mail address needs consent to email"));
    }
    let by_phone = [ConsentChannel::Sms, ConsentChannel::VoiceCall, ConsentChannel::AutodialedCall];
    if contact.phone.is_some() && !covers(&by_phone) {
        let expected = "a telephone number needs consent to sms, voice_call or autodialed_call";
        return Err(invalid("/consent/channels", "contains", expected));
    }
    let mut channels: List<ConsentChannel, 10> = List::default();
    for channel in input.channels.iter() {
        if !channels.contains(channel) {
            channels.push(*channel);
        }
    }
    Ok(Consent { status: ConsentStatus::Granted, channels, granted_at, expires_at: input.expires_at })
}

pub(super) fn is_future(at: Millis, now: Millis) -> bool {
    at > now.plus_seconds(TOLERANCE_SECONDS)
}

fn invalid(pointer: &str, keyword: &'static str, expected: &str) -> Fault {
    rejected(CONSENT_INVALID, (pointer, keyword), expected)
}

fn rejected(code: CodeSpec, (pointer, keyword): (&str, &'static str), expected: &str) -> Fault {
    Fault {
        problems: vec![Problem { pointer: pointer.to_owned(), keyword, expected: expected.to_owned() }],
        ..Fault::domain(code.code, format!("Nothing was recorded: {expected}."))
    }
}
