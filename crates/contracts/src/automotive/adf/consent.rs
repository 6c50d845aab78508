//! Consent as a message states it: elements and attributes of the dialects that have some, for one channel or for all. A
//! refusal outweighs an agreement, and where nothing is stated there is no consent.

use frontdesk_engine::model::timestamp::Millis;
use serde_json::{Map, Value};

use super::AdfSettings;
use super::element::Element;
use crate::automotive::vocabulary::ConsentChannel;
use crate::record::Vocabulary;

const MAX_TEXT: usize = 4000;

/// What a message says, in the order in which it says it.
#[derive(Default)]
struct Statements {
    agreed: Vec<ConsentChannel>,
    refused: Vec<ConsentChannel>,
    /// Stated without naming a channel.
    agreed_in_general: bool,
    refused_in_general: bool,
    text: Option<String>,
    granted_at: Option<String>,
}

/// What an element or attribute with a certain name is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Topic {
    Agreement(Vec<ConsentChannel>),
    Refusal(Vec<ConsentChannel>),
    Text,
    Time,
}

/// Takes all statements out of the prospect and returns the argument `consent`.
pub(super) fn take(prospect: &mut Element, settings: &AdfSettings) -> Option<Value> {
    let mut statements = Statements::default();
    for child in prospect.children.iter_mut().filter(|child| !matches!(child.name.as_str(), "vendor" | "provider")) {
        statements.collect(child);
    }
    statements.collect_attributes(prospect, &[]);
    statements.argument(settings.stated_consent.as_deref())
}

impl Statements {
    fn collect(&mut self, element: &mut Element) {
        match topic(&element.name) {
            Some(topic) => self.collect_statement(element, &topic),
            None => {
                let channels = match element.name.as_str() {
                    "email" => vec![ConsentChannel::Email],
                    "phone" => vec![ConsentChannel::VoiceCall],
                    _ => Vec::new(),
                };
                self.collect_attributes(element, &channels);
                element.children.iter_mut().for_each(|child| self.collect(child));
            }
        }
    }

    /// `<email optin="yes">`: the channel is that of the attribute, or of the element.
    fn collect_attributes(&mut self, element: &mut Element, around: &[ConsentChannel]) {
        element.attributes.retain(|(name, value)| match topic(name) {
            Some(topic) => !self.add(&topic, around, value),
            None => true,
        });
    }

    /// `<optin channel="sms">yes</optin>`, `<consent granted="true" type="email"/>`, `<consent><sms>no</sms></consent>`.
    fn collect_statement(&mut self, element: &mut Element, topic: &Topic) {
        let line = element.line();
        if matches!(topic, Topic::Text | Topic::Time) {
            if self.add(topic, &[], &line) {
                element.text.clear();
            }
            return;
        }
        let mut named = Vec::new();
        for name in ["channel", "channels", "type", "method", "via"] {
            let channels = element.attribute(name).map(channels_in).unwrap_or_default();
            if !channels.is_empty() {
                element.take_attribute(name);
                named.extend(channels);
            }
        }
        if self.add(topic, &named, &line) {
            element.text.clear();
        }
        for name in ["granted", "value", "status", "given"] {
            if element.attribute(name).is_some_and(|value| self.add(topic, &named, value)) {
                element.take_attribute(name);
            }
        }
        for name in ["date", "timestamp", "time"] {
            if element.attribute(name).is_some_and(|value| self.add(&Topic::Time, &[], value)) {
                element.take_attribute(name);
            }
        }
        for child in &mut element.children {
            let line = child.line();
            let channels = channels_in(&child.name);
            let is_added = match child.name.as_str() {
                "text" if truth(&line).is_none() => self.add(&Topic::Text, &[], &line),
                "language" | "disclosure" => self.add(&Topic::Text, &[], &line),
                "date" | "timestamp" => self.add(&Topic::Time, &[], &line),
                "granted" | "value" | "status" => self.add(topic, &named, &line),
                _ if !channels.is_empty() => self.add(topic, &channels, &line),
                _ => false,
            };
            if is_added {
                child.text.clear();
            }
        }
    }

    /// Whether the statement was understood.
    fn add(&mut self, topic: &Topic, named: &[ConsentChannel], value: &str) -> bool {
        let (channels, is_agreed) = match (topic, truth(value)) {
            (Topic::Text, _) => {
                let is_text = !value.is_empty() && value.chars().count() <= MAX_TEXT && self.text.is_none();
                if is_text {
                    self.text = Some(value.to_owned());
                }
                return is_text;
            }
            (Topic::Time, _) => {
                let is_time = Millis::parse(value).is_some() && self.granted_at.is_none();
                if is_time {
                    self.granted_at = Some(value.to_owned());
                }
                return is_time;
            }
            (Topic::Agreement(_) | Topic::Refusal(_), None) => return false,
            (Topic::Agreement(channels), Some(truth)) => (channels, truth),
            (Topic::Refusal(channels), Some(truth)) => (channels, !truth),
        };
        // That somebody has not opted out is no agreement.
        if matches!(topic, Topic::Refusal(_)) && is_agreed {
            return true;
        }
        let channels = if channels.is_empty() { named } else { channels };
        let (list, in_general) = if is_agreed {
            (&mut self.agreed, &mut self.agreed_in_general)
        } else {
            (&mut self.refused, &mut self.refused_in_general)
        };
        *in_general |= channels.is_empty();
        for channel in channels {
            if !list.contains(channel) {
                list.push(*channel);
            }
        }
        true
    }

    fn argument(self, stated: Option<&[ConsentChannel]>) -> Option<Value> {
        let says_nothing = self.agreed.is_empty() && self.refused.is_empty();
        let says_nothing = says_nothing && !self.agreed_in_general && !self.refused_in_general;
        let mut channels = self.agreed;
        if self.agreed_in_general || says_nothing {
            if says_nothing && stated.is_none() {
                return None;
            }
            for channel in stated.unwrap_or_default() {
                if !channels.contains(channel) {
                    channels.push(*channel);
                }
            }
        }
        channels.retain(|channel| !self.refused.contains(channel));
        let is_granted = !self.refused_in_general && (self.agreed_in_general || !channels.is_empty());
        if !is_granted {
            channels.clear();
        }
        let mut consent = Map::new();
        consent.insert("granted".to_owned(), is_granted.into());
        consent
            .insert("channels".to_owned(), channels.into_iter().map(|channel| Value::from(channel.as_str())).collect());
        if let Some(text) = self.text {
            consent.insert("text".to_owned(), text.into());
        }
        if let Some(granted_at) = self.granted_at {
            consent.insert("granted_at".to_owned(), granted_at.into());
        }
        Some(Value::Object(consent))
    }
}

fn topic(name: &str) -> Option<Topic> {
    let name = folded(name);
    let is_refusal = ["optout", "donot", "dnc", "unsubscribe"].iter().any(|part| name.contains(part));
    let is_agreement = ["optin", "consent", "tcpa"].iter().any(|part| name.contains(part));
    if is_refusal {
        let mut channels = channels_in(&name);
        if channels.contains(&ConsentChannel::VoiceCall) {
            channels.push(ConsentChannel::AutodialedCall);
        }
        return Some(Topic::Refusal(channels));
    }
    if !is_agreement {
        return None;
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&["text", "language", "disclosure", "statement"]) {
        return Some(Topic::Text);
    }
    if ends(&["date", "time", "timestamp"]) {
        return Some(Topic::Time);
    }
    let channels = channels_in(&name);
    // The act that the name refers to is about calls by a dialler and messages to telephones.
    if channels.is_empty() && name.contains("tcpa") {
        return Some(Topic::Agreement(vec![ConsentChannel::Sms, ConsentChannel::AutodialedCall]));
    }
    Some(Topic::Agreement(channels))
}

/// The channels that a text names.
fn channels_in(text: &str) -> Vec<ConsentChannel> {
    let mut text = folded(text);
    let mut channels = Vec::new();
    for (part, channel) in [
        ("email", ConsentChannel::Email),
        ("sms", ConsentChannel::Sms),
        ("text", ConsentChannel::Sms),
        ("autodialedcall", ConsentChannel::AutodialedCall),
        ("autodial", ConsentChannel::AutodialedCall),
        ("voicecall", ConsentChannel::VoiceCall),
        ("phone", ConsentChannel::VoiceCall),
        ("voice", ConsentChannel::VoiceCall),
        ("call", ConsentChannel::VoiceCall),
        ("mail", ConsentChannel::Mail),
        ("push", ConsentChannel::Push),
    ] {
        if text.contains(part) {
            // So that e-mail is not taken for mail as well.
            text = text.replace(part, " ");
            if !channels.contains(&channel) {
                channels.push(channel);
            }
        }
    }
    channels
}

fn truth(text: &str) -> Option<bool> {
    match folded(text).as_str() {
        "yes" | "y" | "true" | "1" | "on" | "granted" | "optin" | "optedin" | "accepted" | "agreed" => Some(true),
        "no" | "n" | "false" | "0" | "off" | "denied" | "optout" | "optedout" | "declined" | "revoked" => Some(false),
        _ => None,
    }
}

fn folded(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}
