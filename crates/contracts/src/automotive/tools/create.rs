//! Taking a lead. It checks consent and references, and decides; it never looks for a customer who
//! might be the same person, because a wrong match would show one person's history to another.

use frontdesk_engine::model::plan::{Change, Event, Plan, Step};
use frontdesk_engine::model::table::search_terms;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::{Fault, Permitted};
use serde::Deserialize;

use super::consent::{self, Stated};
use super::{known_customer, read_arguments};
use crate::automotive::customer::LatestLead;
use crate::automotive::lead::{self, Lead, Open, Personal, Receipt, Source, Type, Wanted};
use crate::automotive::shapes::Contact;
use crate::automotive::vocabulary::{Interest, Term, Timeframe};
use crate::automotive::{codes, vehicle};

#[derive(Debug, Deserialize)]
struct Arguments {
    contact: Contact,
    interest: Term<Interest>,
    #[serde(default)]
    consent: Option<Stated>,
    #[serde(default)]
    source: Option<Source>,
    #[serde(default)]
    vehicle_id: Option<String>,
    #[serde(default)]
    vehicle_of_interest: Option<Wanted>,
    #[serde(default)]
    customer_id: Option<String>,
    #[serde(default)]
    timeframe: Option<Term<Timeframe>>,
    #[serde(default)]
    comments: Option<String>,
}

pub(super) fn plan<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let asked: Arguments = read_arguments(permitted)?;
        let now = permitted.now();
        reachable(&asked.contact)?;
        let consent = consent::accept(asked.consent.as_ref(), &asked.contact, now)?;
        if let Some(id) = &asked.vehicle_id {
            let found = permitted.get(&vehicle::KIND, id).await?;
            found.ok_or_else(|| Fault::domain(codes::INVENTORY_NOT_FOUND, "No vehicle with this id exists here."))?;
        }
        let lead = Lead {
            receipt: Receipt {
                id: permitted.new_id(lead::PREFIX),
                r#type: Type::Lead,
                dealership_id: permitted.tenant().as_str().to_owned(),
                status: Term::of("new"),
                created_at: now,
                updated_at: now,
                version: 1,
            },
            open: Open {
                interest: asked.interest,
                customer_id: asked.customer_id,
                vehicle_id: asked.vehicle_id,
                timeframe: asked.timeframe,
                consent,
                received_at: now,
                last_contact_at: None,
                lost_reason: None,
            },
            personal: Personal {
                contact: asked.contact,
                source: asked.source.unwrap_or(Source {
                    channel: Term::of("ai_agent"),
                    provider: None,
                    external_id: None,
                }),
                owner: None,
                vehicle_of_interest: asked.vehicle_of_interest,
                comments: asked.comments,
                consent_text: asked.consent.and_then(|stated| stated.text),
                redacted: Vec::new(),
            },
        };
        recorded(permitted, lead).await
    })
}

/// The lead, and beside it its place as the customer's latest.
async fn recorded(permitted: &Permitted<'_>, lead: Lead) -> Result<Plan, Fault> {
    let (row, outcome) = lead.row_and_answer()?;
    let taken = Fault::internal("the id of a new lead was taken");
    let mut steps = vec![Step::Insert { table: &lead::KIND, row, on_duplicate: taken }];
    let mut events = vec![Event { kind: lead::KIND.name, id: lead.receipt.id.clone(), change: Change::Created }];
    if let Some(id) = &lead.open.customer_id {
        let known = known_customer(permitted, id).await?;
        let (mut customer, version) =
            known.ok_or_else(|| Fault::domain(codes::CUSTOMERS_NOT_FOUND, "No customer with this id exists here."))?;
        customer.open.latest_lead = Some(LatestLead { id: lead.receipt.id.clone(), status: lead.receipt.status });
        let (step, event) = super::changed_customer(permitted, customer, version)?;
        steps.push(step);
        events.push(event);
    }
    Ok(Plan { steps, events, outcome })
}

/// A lead nobody can answer is none.
fn reachable(contact: &Contact) -> Result<(), Fault> {
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
