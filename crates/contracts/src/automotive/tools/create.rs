//! Creating a lead. It checks consent and references. It never searches for a customer who might be the same person,
//! because a wrong match would show one person's history to another.

use frontdesk_engine::model::plan::{Change, Event, Plan, Step};
use frontdesk_engine::model::table::search_terms;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::{Fault, Permitted};
use serde::Deserialize;

use super::consent::{self, ConsentInput};
use super::{customer_for_update, read_arguments};
use crate::automotive::customer::LatestLead;
use crate::automotive::lead::{self, Lead, LeadPersonalPart, LeadPublicPart, LeadSource, LeadType, Receipt};
use crate::automotive::values::{Contact, VehicleInterest};
use crate::automotive::vocabulary::{Interest, Timeframe, VocabularyTerm};
use crate::automotive::{codes, vehicle};

#[derive(Debug, Deserialize)]
struct Arguments {
    contact: Contact,
    interest: VocabularyTerm<Interest>,
    #[serde(default)]
    consent: Option<ConsentInput>,
    #[serde(default)]
    source: Option<LeadSource>,
    #[serde(default)]
    vehicle_id: Option<String>,
    #[serde(default)]
    vehicle_of_interest: Option<VehicleInterest>,
    #[serde(default)]
    customer_id: Option<String>,
    #[serde(default)]
    timeframe: Option<VocabularyTerm<Timeframe>>,
    #[serde(default)]
    comments: Option<String>,
}

pub(super) fn plan<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let arguments: Arguments = read_arguments(permitted)?;
        let now = permitted.now();
        check_contact(&arguments.contact)?;
        let consent = consent::accept(arguments.consent.as_ref(), &arguments.contact, now)?;
        if let Some(id) = &arguments.vehicle_id {
            let found = permitted.get(&vehicle::TABLE, id).await?;
            found.ok_or_else(|| Fault::domain(codes::INVENTORY_NOT_FOUND, "No vehicle with this id exists here."))?;
        }
        let lead = Lead {
            receipt: Receipt {
                id: permitted.new_id(lead::PREFIX),
                r#type: LeadType::Lead,
                dealership_id: permitted.tenant().as_str().to_owned(),
                status: VocabularyTerm::of("new"),
                created_at: now,
                updated_at: now,
                version: 1,
            },
            public: LeadPublicPart {
                interest: arguments.interest,
                customer_id: arguments.customer_id,
                vehicle_id: arguments.vehicle_id,
                timeframe: arguments.timeframe,
                consent,
                received_at: now,
                last_contact_at: None,
                lost_reason: None,
            },
            personal: LeadPersonalPart {
                contact: arguments.contact,
                source: arguments.source.unwrap_or(LeadSource {
                    channel: VocabularyTerm::of("ai_agent"),
                    provider: None,
                    external_id: None,
                }),
                owner: None,
                vehicle_of_interest: arguments.vehicle_of_interest,
                comments: arguments.comments,
                consent_text: arguments.consent.and_then(|consent| consent.text),
                redacted: Vec::new(),
            },
        };
        insert_plan(permitted, lead).await
    })
}

/// Inserts the lead, and makes it the latest lead of its customer.
async fn insert_plan(permitted: &Permitted<'_>, lead: Lead) -> Result<Plan, Fault> {
    let (row, outcome) = lead.row_and_answer()?;
    let on_duplicate = Fault::internal("the id of a new lead exists already");
    let mut steps = vec![Step::Insert { table: &lead::TABLE, row, on_duplicate }];
    let mut events = vec![Event { kind: lead::TABLE.name, id: lead.receipt.id.clone(), change: Change::Created }];
    if let Some(id) = &lead.public.customer_id {
        let found = customer_for_update(permitted, id).await?;
        let (mut customer, version) =
            found.ok_or_else(|| Fault::domain(codes::CUSTOMERS_NOT_FOUND, "No customer with this id exists here."))?;
        customer.public.latest_lead = Some(LatestLead { id: lead.receipt.id.clone(), status: lead.receipt.status });
        let (step, event) = super::customer_update(permitted, customer, version)?;
        steps.push(step);
        events.push(event);
    }
    Ok(Plan { steps, events, outcome })
}

/// A lead needs a name and a way to contact the person.
fn check_contact(contact: &Contact) -> Result<(), Fault> {
    if search_terms(&contact.name).is_empty() {
        return Err(Fault::invalid_argument("/contact/name", "pattern", "at least one letter is expected"));
    }
    if contact.email.is_none() && contact.phone.is_none() {
        return Err(Fault::invalid_argument(
            "/contact",
            "anyOf",
            "an e-mail address or a telephone number is required",
        ));
    }
    Ok(())
}
