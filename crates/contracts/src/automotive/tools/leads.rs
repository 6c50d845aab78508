//! The lead tools; `create` and `update` plan the writes. Lists always mask contact data. A caller with write access only
//! gets a receipt of what it wrote.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::schema::{Schema, TextFormat, optional, required};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Effect, Future, Outcome, RateKey, Run, Tool, ToolSpec};
use frontdesk_engine::{Fault, Permitted, Scope};

use super::{
    NEWEST, create, equals, equals_digest, get_one, id_argument, list_input, list_page, single_input, update,
    write_input,
};
use crate::automotive::values::normalize_email;
use crate::automotive::vocabulary::{
    Channel, GRANTABLE_CHANNEL, Interest, LeadStatus, SETTABLE_LEAD_STATUS, SETTABLE_LOST_REASON, Timeframe, Vocabulary,
};
use crate::automotive::{codes, lead, schemas, scopes};

pub(super) fn list() -> Tool {
    Tool {
        spec: ToolSpec {
            name: "leads.list",
            title: "List leads",
            about: "Lists the dealership's leads, newest first, page by page, contact data masked.",
            input: list_input([
                optional("status", Schema::one_of(LeadStatus::WORDS), "Only leads with this status."),
                optional("channel", Schema::one_of(Channel::WORDS), "Only leads that came this way."),
                optional("owner_id", Schema::text(64), "Only leads this employee looks after."),
                optional("customer_id", Schema::text(64), "Only leads of this customer."),
                optional("vehicle_id", Schema::text(64), "Only leads about this vehicle."),
                optional("email", Schema::Text(TextFormat::Email), "Whole e-mail address; case does not matter."),
                optional("phone", Schema::Text(TextFormat::Phone), "Whole number in E.164 form."),
                optional("received_since", Schema::Text(TextFormat::Timestamp), "Only leads that came in at or after this."),
            ]),
            output: schemas::list(lead::schema()),
            effect: Effect::Reads,
            scope: Scope::new(scopes::LEADS_READ),
            unmask_scope: None,
            rate: RateKey::Client,
            codes: &[],
        },
        run: Run::read(run_list),
    }
}

pub(super) fn get() -> Tool {
    Tool {
        spec: ToolSpec {
            name: "leads.get",
            title: "Get a lead",
            about: "Reads one lead by its id, with contact data and comments.",
            input: single_input([id_argument("The lead's id, as lists give it.")]),
            output: lead::schema(),
            effect: Effect::Reads,
            scope: Scope::new(scopes::LEADS_READ),
            unmask_scope: Some(Scope::new(scopes::LEADS_READ)),
            rate: RateKey::Client,
            codes: &[codes::LEADS_NOT_FOUND],
        },
        run: Run::read(run_get),
    }
}

pub(super) fn create() -> Tool {
    let contact = Schema::object([
        required("name", Schema::text(200), "Full name."),
        optional("email", Schema::Text(TextFormat::Email), "E-mail address."),
        optional("phone", Schema::Text(TextFormat::Phone), "Number in E.164 form."),
    ]);
    // Optional in the schema, so that its absence is answered with its own code, consent.required.
    let consent = Schema::object([
        required("granted", Schema::Boolean, "Whether the person agreed to be contacted."),
        required(
            "channels",
            Schema::list(Schema::one_of(GRANTABLE_CHANNEL), 10),
            "How they may be contacted. An e-mail address needs email; a number needs sms, voice_call or \
            autodialed_call.",
        ),
        optional("granted_at", Schema::Text(TextFormat::Timestamp), "When they agreed; now if absent."),
        optional("expires_at", Schema::Text(TextFormat::Timestamp), "When it ends, if it does."),
        optional("text", Schema::text(4000), "The words they agreed to."),
    ]);
    Tool {
        spec: ToolSpec {
            name: "leads.create",
            title: "Create a lead",
            about: "Records somebody's interest. Needs the person's consent to be contacted and an e-mail address or a \
                telephone number. The new lead has status new. Without amcp:leads:read the answer is a receipt.",
            input: write_input([
                required("contact", contact, "Who it is, with an e-mail address or a number or both."),
                required("interest", Schema::one_of(Interest::WORDS), "What they want."),
                optional(
                    "consent",
                    consent,
                    "Their consent to be contacted. Without it nothing is recorded: consent.required.",
                ),
                optional("source", lead::source_schema(), "Where it comes from; channel ai_agent if absent."),
                optional("vehicle_id", Schema::text(64), "The vehicle meant, by its id here."),
                optional("vehicle_of_interest", lead::vehicle_interest_schema(), "The kind of vehicle meant."),
                optional("customer_id", Schema::text(64), "The customer, if already known here."),
                optional("timeframe", Schema::one_of(Timeframe::WORDS), "How soon."),
                optional("comments", Schema::text(4000), "What they wrote."),
            ]),
            output: lead::written_lead_schema(),
            effect: Effect::Adds,
            scope: Scope::new(scopes::LEADS_WRITE),
            unmask_scope: Some(Scope::new(scopes::LEADS_READ)),
            rate: RateKey::Client,
            codes: &[
                codes::CONSENT_REQUIRED,
                codes::CONSENT_INVALID,
                codes::INVENTORY_NOT_FOUND,
                codes::CUSTOMERS_NOT_FOUND,
            ],
        },
        run: Run::write(create::plan),
    }
}

pub(super) fn update() -> Tool {
    Tool {
        spec: ToolSpec {
            name: "leads.update",
            title: "Update a lead",
            about: "Changes status, owner, comments, last contact or the reason why a lead was lost. A finished lead \
                opens again only if you name an open status. Without amcp:leads:read the answer is a receipt.",
            input: write_input([
                id_argument("The lead's id, as lists give it."),
                optional("status", Schema::one_of(SETTABLE_LEAD_STATUS), "The new status."),
                optional("owner", lead::owner_schema(required), "The employee who looks after it from now on."),
                optional("comments", Schema::text(4000), "Comments that take the place of those before."),
                optional("last_contact_at", Schema::Text(TextFormat::Timestamp), "When somebody last spoke with the person."),
                optional(
                    "lost_reason",
                    Schema::one_of(SETTABLE_LOST_REASON),
                    "Why it was lost; needed with status lost and only then.",
                ),
                optional(
                    "expected_version",
                    Schema::integer(1, schemas::MAX_SAFE_INTEGER),
                    "The version you have seen; if the lead has changed since, nothing happens.",
                ),
            ]),
            output: lead::written_lead_schema(),
            effect: Effect::Changes,
            scope: Scope::new(scopes::LEADS_WRITE),
            unmask_scope: Some(Scope::new(scopes::LEADS_READ)),
            rate: RateKey::Client,
            codes: &[codes::LEADS_NOT_FOUND, codes::LOST_REASON_REQUIRED],
        },
        run: Run::write(update::plan),
    }
}

fn run_list<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let columns = ["status", "channel", "owner_id", "customer_id", "vehicle_id"];
        let mut filters: Vec<Filter> = columns.into_iter().filter_map(|name| equals(permitted, name, name)).collect();
        filters.extend(equals_digest(permitted, "email", "email", normalize_email));
        filters.extend(equals_digest(permitted, "phone", "phone", str::to_owned));
        let since = permitted.input().text("received_since").and_then(Millis::parse);
        filters.extend(since.map(|since| Filter::AtLeast("received_at", since.0)));
        list_page(permitted, &lead::TABLE, filters, NEWEST).await
    })
}

fn run_get<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(get_one(permitted, &lead::TABLE))
}
