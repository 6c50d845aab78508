//! The demo dealerships as rows for an empty store. It only adds ids; people, cars and dates come from `dealerships`.

use std::collections::HashMap;

use frontdesk_engine::model::plan::{Change, Event, Step};
use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Scopes};
use time::OffsetDateTime;

use super::{DemoCustomer, DemoDealership, DemoLead, DemoVehicle, NAMES, dealerships};
use crate::automotive::customer::{self, Customer, LatestLead, LatestSale, Location};
use crate::automotive::lead::{self, Consent, Lead, LeadOwner, LeadSource};
use crate::automotive::scopes;
use crate::automotive::tools::TENANT;
use crate::automotive::values::{Contact, Distance, Money, VehicleInterest};
use crate::automotive::vehicle::{self, Equipment, Medium, Vehicle};
use crate::automotive::vocabulary::VocabularyTerm;
use crate::demo::{Business, BusinessData, DemoInfo, ExampleCall};

pub fn info() -> DemoInfo {
    DemoInfo {
        businesses: NAMES.iter().map(|(id, name)| Business { id, name }).collect(),
        tenant_key: TENANT,
        scopes: Scopes::new(scopes::all()),
        example: ExampleCall {
            tool: "inventory.search",
            arguments: r#"{"text":"leather","price_max":{"amount":3500000,"currency":"USD"},"sort":"price_asc","limit":3}"#,
        },
    }
}

/// Both demo dealerships as of `now`, as steps to commit.
pub fn business_data(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> impl Iterator<Item = BusinessData> {
    let now = OffsetDateTime::from_unix_timestamp(now.seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    dealerships(now).into_iter().map(move |dealership| dealership_data(&dealership, new_id))
}

fn dealership_data(dealership: &DemoDealership, new_id: &mut dyn FnMut(&str) -> String) -> BusinessData {
    let rows = rows(dealership, new_id);
    let created = |(table, row): &(&'static TableSpec, Row)| Event {
        kind: table.name,
        id: row.id.clone(),
        change: Change::Created,
    };
    let insert = |(table, row)| Step::Insert { table, row, on_duplicate: Fault::internal("demo data exists already") };
    BusinessData {
        business: Business { id: dealership.id, name: dealership.name },
        events: rows.iter().map(created).collect(),
        steps: rows.into_iter().map(insert).collect(),
    }
}

fn rows(dealership: &DemoDealership, new_id: &mut dyn FnMut(&str) -> String) -> Vec<(&'static TableSpec, Row)> {
    // Sorted, so that rows are inserted in the order of their primary key, which is cheapest for a B-tree.
    let mut ids = |prefix: &str, count: usize| -> Vec<String> {
        let mut ids: Vec<String> = (0..count).map(|_| new_id(prefix)).collect();
        ids.sort_unstable();
        ids
    };
    let vehicle_ids = ids(vehicle::PREFIX, dealership.vehicles.len());
    let customer_ids = ids(customer::PREFIX, dealership.customers.len());
    let lead_ids = ids(lead::PREFIX, dealership.leads.len());
    let sale_ids = ids("sal", dealership.customers.len());
    let latest = latest_leads(&dealership.leads, &lead_ids);

    let vehicles = dealership.vehicles.iter().zip(&vehicle_ids).map(|(demo, id)| {
        let row = vehicle(dealership, demo, id).row();
        row.map(|row| (&vehicle::TABLE, row))
    });
    let customers = dealership.customers.iter().zip(&customer_ids).enumerate().map(|(place, (demo, id))| {
        let row = customer(dealership, demo, id, latest.get(&place).cloned(), sale_ids.get(place)).row();
        row.map(|row| (&customer::TABLE, row))
    });
    let leads = dealership.leads.iter().zip(&lead_ids).filter_map(|(demo, id)| {
        let writer = dealership.customers.get(demo.customer).zip(customer_ids.get(demo.customer))?;
        let vehicle_id = demo.vehicle.and_then(|place| vehicle_ids.get(place));
        let row = lead(dealership, demo, id, writer, vehicle_id).row();
        Some(row.map(|row| (&lead::TABLE, row)))
    });
    // Serialization of plain data cannot fail, so `flatten` drops nothing.
    vehicles.chain(customers).chain(leads).flatten().collect()
}

fn vehicle(dealership: &DemoDealership, demo: &DemoVehicle, id: &str) -> Vehicle {
    let money = |amount| Money { amount, currency: demo.currency.to_owned() };
    let in_stock_at = millis(demo.in_stock_at);
    let medium = |order: u8| Medium {
        url: format!("https://media.example.com/{}/{id}/{order}.jpg", dealership.id),
        r#type: VocabularyTerm::of("image"),
        alt: format!("{} {} {}, picture {}", demo.year, demo.make, demo.model, u16::from(order) + 1),
        order: i64::from(order),
    };
    Vehicle {
        id: id.to_owned(),
        r#type: "vehicle",
        dealership_id: dealership.id.to_owned(),
        vin: demo.vin.as_str().to_owned(),
        stock_number: demo.stock_number.clone(),
        condition: VocabularyTerm::of(demo.condition),
        year: i64::from(demo.year),
        make: demo.make.to_owned(),
        model: demo.model.to_owned(),
        trim: demo.trim.to_owned(),
        body_style: VocabularyTerm::of(demo.body_style),
        doors: i64::from(demo.doors),
        mileage: Distance { value: demo.mileage, unit: "mi".to_owned() },
        exterior_color: demo.exterior_color.to_owned(),
        interior_color: demo.interior_color.to_owned(),
        engine: demo.engine.to_owned(),
        transmission: VocabularyTerm::of(demo.transmission),
        drivetrain: VocabularyTerm::of(demo.drivetrain),
        fuel_type: VocabularyTerm::of(demo.fuel_type),
        options: demo
            .options
            .iter()
            .map(|option| Equipment { code: option.code.to_owned(), name: option.name.to_owned() })
            .collect(),
        media: (0..demo.media_count).map(medium).collect(),
        price: money(demo.price_minor),
        msrp: demo.msrp_minor.map(money),
        status: VocabularyTerm::of(demo.status),
        in_stock_at,
        description: demo.description.clone(),
        created_at: in_stock_at,
        updated_at: in_stock_at,
        version: 1,
    }
}

fn customer(
    dealership: &DemoDealership,
    demo: &DemoCustomer,
    id: &str,
    latest_lead: Option<LatestLead>,
    sale: Option<&String>,
) -> Customer {
    let created_at = millis(demo.created_at);
    Customer {
        public: customer::CustomerPublicPart {
            id: id.to_owned(),
            r#type: customer::CustomerType::Customer,
            dealership_id: dealership.id.to_owned(),
            kind: VocabularyTerm::of(demo.kind),
            location: Location {
                city: demo.city.to_owned(),
                region: demo.region.to_owned(),
                country: demo.country.to_owned(),
            },
            lifetime_value: Money { amount: demo.lifetime_value_minor, currency: "USD".to_owned() },
            latest_lead,
            latest_sale: sale
                .zip(demo.latest_sale_at)
                .map(|(id, closed_at)| LatestSale { id: id.clone(), closed_at: millis(closed_at) }),
            vehicle_of_interest: Some(VehicleInterest {
                make: demo.vehicle_of_interest.make.to_owned(),
                model: demo.vehicle_of_interest.model.to_owned(),
                year: None,
            }),
            created_at,
            updated_at: created_at,
            version: 1,
        },
        personal: customer::CustomerPersonalPart { primary_contact: contact(demo), redacted: Vec::new() },
    }
}

fn lead(
    dealership: &DemoDealership,
    demo: &DemoLead,
    id: &str,
    (writer, customer_id): (&DemoCustomer, &String),
    vehicle_id: Option<&String>,
) -> Lead {
    let received_at = millis(demo.received_at);
    let updated_at = millis(demo.updated_at);
    Lead {
        receipt: lead::Receipt {
            id: id.to_owned(),
            r#type: lead::LeadType::Lead,
            dealership_id: dealership.id.to_owned(),
            status: VocabularyTerm::of(demo.status),
            created_at: received_at,
            updated_at,
            version: 1,
        },
        public: lead::LeadPublicPart {
            interest: VocabularyTerm::of(demo.interest),
            customer_id: Some(customer_id.clone()),
            vehicle_id: vehicle_id.cloned(),
            timeframe: Some(VocabularyTerm::of(timeframe(demo.timeframe))),
            consent: Consent {
                status: VocabularyTerm::of("granted"),
                channels: vec![VocabularyTerm::of("email"), VocabularyTerm::of("voice_call")],
                granted_at: received_at,
                expires_at: None,
            },
            received_at,
            last_contact_at: (demo.status != "new").then_some(updated_at),
            lost_reason: demo.lost_reason.map(|reason| VocabularyTerm::of(lost_reason(reason))),
        },
        personal: lead::LeadPersonalPart {
            contact: contact(writer),
            source: LeadSource {
                channel: VocabularyTerm::of(demo.channel),
                provider: Some(demo.provider.to_owned()),
                external_id: None,
            },
            owner: Some(LeadOwner { id: demo.owner.id.to_owned(), name: Some(demo.owner.name.to_owned()) }),
            vehicle_of_interest: Some(VehicleInterest {
                make: writer.vehicle_of_interest.make.to_owned(),
                model: writer.vehicle_of_interest.model.to_owned(),
                year: None,
            }),
            comments: Some(demo.comments.to_owned()),
            consent_text: Some("I agree to be contacted about my enquiry.".to_owned()),
            redacted: Vec::new(),
        },
    }
}

/// Each customer's newest lead, by the customer's index.
fn latest_leads(leads: &[DemoLead], ids: &[String]) -> HashMap<usize, LatestLead> {
    let mut by_age: Vec<(&DemoLead, &String)> = leads.iter().zip(ids).collect();
    by_age.sort_by_key(|(lead, _)| lead.received_at);
    let entries = by_age.into_iter().map(|(lead, id)| {
        let latest = LatestLead { id: id.clone(), status: VocabularyTerm::of(lead.status) };
        (lead.customer, latest)
    });
    entries.collect()
}

fn contact(demo: &DemoCustomer) -> Contact {
    Contact {
        name: match demo.company {
            Some(company) => company.to_owned(),
            None => format!("{} {}", demo.given_name, demo.family_name),
        },
        email: Some(demo.email.clone()),
        phone: Some(demo.phone.clone()),
    }
}

/// The contract's term for a timeframe in the words of the demo.
fn timeframe(said: &str) -> &'static str {
    match said {
        "this week" => "within_week",
        "within 2 weeks" => "within_two_weeks",
        "within 30 days" => "within_month",
        "1 to 3 months" => "within_quarter",
        "just looking" => "just_looking",
        _ => "unknown",
    }
}

fn lost_reason(said: &str) -> &'static str {
    match said {
        "Bought from another dealer" => "bought_elsewhere",
        "Financing was declined" => "financing",
        "Price out of reach" => "price",
        "Decided to keep the current car" => "kept_current_vehicle",
        "No answer after six attempts" => "no_response",
        _ => "unknown",
    }
}

fn millis(at: OffsetDateTime) -> Millis {
    Millis(at.unix_timestamp().saturating_mul(1000))
}
