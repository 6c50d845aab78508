//! The tool that says whether somebody may be contacted.

use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::route::Route;
use frontdesk_engine::model::schema::{Field, Schema, TextFormat, optional, required};
use frontdesk_engine::model::tool::{
    Effect, Future, Outcome, RateKey, ReadTool, Run, ScopeRule, Sensitivity, Tool, ToolSpec,
};
use frontdesk_engine::{Fault, Permitted, Scope};
use serde_json::{Map, Value, json};

use super::statements::Decision;
use super::{ConsentPerson, ConsentStatus, Statements, is_by_email, is_by_phone};
use crate::Vocabulary;
use crate::automotive::customer::Customer;
use crate::automotive::domains;
use crate::automotive::resource::{TENANT, missing_reference, tenant};
use crate::automotive::vocabulary::{ConsentChannel, ConsentPurpose};
use crate::record::{Email, Entity, FieldType, Phone, Stored, Vocabulary as _, without_unknown};

const TYPE: &[&str] = &["consent_check"];

/// Why somebody may or may not be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum ConsentReason {
    Granted,
    Denied,
    Withdrawn,
    Expired,
    Pending,
    None,
    Unknown,
}

impl ConsentReason {
    pub(super) fn of(status: ConsentStatus) -> ConsentReason {
        match status {
            ConsentStatus::Granted => ConsentReason::Granted,
            ConsentStatus::Denied => ConsentReason::Denied,
            ConsentStatus::Withdrawn => ConsentReason::Withdrawn,
            ConsentStatus::Expired => ConsentReason::Expired,
            ConsentStatus::Pending => ConsentReason::Pending,
            ConsentStatus::Unknown => ConsentReason::Unknown,
        }
    }

    fn next(self) -> &'static str {
        match self {
            ConsentReason::Granted => "They may be contacted this way for this purpose.",
            ConsentReason::Denied | ConsentReason::Withdrawn => {
                "Do not contact them this way for this purpose. Only if they agree anew by themselves, record it with \
                 consent.create."
            }
            ConsentReason::Expired => {
                "Do not contact them this way. When they agree again, record it with consent.create."
            }
            ConsentReason::Pending => {
                "They have been asked and have not answered. When they do, record it with consent.update."
            }
            ConsentReason::None | ConsentReason::Unknown => {
                "No consent is known. Ask them when they contact you, then record the answer with consent.create."
            }
        }
    }
}

pub(super) fn tool() -> Tool {
    Tool {
        spec: ToolSpec {
            name: "consent.check",
            title: "Check consent",
            about: "Says whether somebody may be contacted on a channel for a purpose, as of now, and which consent decides. \
                    Call it before every message or call. email is needed for channel email, phone for sms and calls, \
                    unless customer_id names the person.",
            input: Schema::object(arguments()),
            output: output(),
            effect: Effect::Reads,
            scope: ScopeRule::One(Scope::new(domains::CONSENT.read)),
            unmask_scope: None,
            sensitivity: Sensitivity::Business,
            max_login_age: None,
            rate: RateKey::Client,
            route: Some(Route::new(Verb::Get, "/consents/check")),
            codes: vec![Customer::NOT_FOUND],
        },
        run: Run::read(CheckTool),
    }
}

fn arguments() -> [Field; 6] {
    [
        optional("customer_id", Schema::text(64), "The customer meant."),
        optional("email", Schema::Text(TextFormat::Email), "Whole e-mail address of the person meant."),
        optional("phone", Schema::Text(TextFormat::Phone), "Their whole number in E.164 form."),
        required("channel", without_unknown(ConsentChannel::input()), "How you want to contact them."),
        required("purpose", without_unknown(ConsentPurpose::input()), "What for."),
        tenant(),
    ]
}

fn output() -> Schema {
    Schema::object([
        required("type", Schema::one_of(TYPE), "Always consent_check."),
        required(TENANT, Schema::text(64), "The dealership that asks."),
        required("channel", ConsentChannel::output(), "How they would be contacted."),
        required("purpose", ConsentPurpose::output(), "What for."),
        required("allowed", Schema::Boolean, "Whether they may be contacted so, now."),
        required("reason", ConsentReason::output(), "Why; none if nothing is known."),
        optional("consent_id", Schema::text(64), "The consent that decides; read it with consent.get."),
        optional("expires_at", Schema::Text(TextFormat::Timestamp), "When that consent ends, if it does."),
        required("next_step", Schema::text(200), "What to do now."),
    ])
}

struct CheckTool;

impl ReadTool for CheckTool {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let input = permitted.input();
            let word = |name: &str| input.text(name).unwrap_or_default();
            let (channel, purpose) =
                (ConsentChannel::from_word(word("channel")), ConsentPurpose::from_word(word("purpose")));
            let customer = customer(permitted).await?;
            let contact = customer.as_ref().map(|customer| &customer.record.primary_contact);
            let (email, phone) = (input.text("email").map(Email::from), input.text("phone").map(Phone::from));
            check_address(channel, &input.arguments)?;
            let person = ConsentPerson {
                customer_id: customer.as_ref().map(|customer| customer.id.as_str()),
                email: email.as_ref().or(contact.and_then(|contact| contact.email.as_ref())),
                phone: phone.as_ref().or(contact.and_then(|contact| contact.phone.as_ref())),
            };
            let statements = Statements::load(permitted, &person).await?;
            let decision = statements.decide(channel, purpose, permitted.now());
            let answer = answer(permitted, channel, purpose, &decision);
            Ok(Outcome::Raw { answer: answer.to_string(), rows: usize::from(decision.id.is_some()) })
        })
    }
}

async fn customer(permitted: &Permitted<'_>) -> Result<Option<Entity<Customer>>, Fault> {
    let Some(id) = permitted.input().text("customer_id") else { return Ok(None) };
    let Some(row) = permitted.get_to_change(Customer::table(), id).await? else {
        return Err(missing_reference::<Customer>(permitted, id).await?);
    };
    Entity::restore(permitted.tenant(), &row).map(Some)
}

/// Consent to e-mail is given for an address: asked by number, the answer could be about somebody else's.
fn check_address(channel: ConsentChannel, arguments: &Map<String, Value>) -> Result<(), Fault> {
    let has = |name: &str| arguments.contains_key(name);
    let required = |pointer: &str, expected: &str| Err(Fault::invalid_argument(pointer, "required", expected));
    if has("customer_id") {
        Ok(())
    } else if is_by_email(channel) && !has("email") {
        required("/email", "channel email needs email or customer_id")
    } else if is_by_phone(channel) && !has("phone") {
        required("/phone", "this channel needs phone or customer_id")
    } else if !has("email") && !has("phone") {
        Err(Fault::invalid_argument("", "anyOf", "one of customer_id, email and phone is required"))
    } else {
        Ok(())
    }
}

fn answer(
    permitted: &Permitted<'_>,
    channel: ConsentChannel,
    purpose: ConsentPurpose,
    decision: &Decision<'_>,
) -> Value {
    let mut answer = json!({
        "type": "consent_check",
        TENANT: permitted.tenant().as_str(),
        "channel": channel.as_str(),
        "purpose": purpose.as_str(),
        "allowed": decision.reason == ConsentReason::Granted,
        "reason": decision.reason.as_str(),
        "next_step": decision.reason.next(),
    });
    if let Some(members) = answer.as_object_mut() {
        members.extend(decision.id.map(|id| ("consent_id".to_owned(), Value::from(id))));
        members.extend(decision.expires_at.map(|at| ("expires_at".to_owned(), Value::from(at.to_rfc3339()))));
    }
    answer
}
