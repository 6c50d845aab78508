//! The demo dealerships as rows for an empty store. It only adds ids; people, cars and dates come from `dealerships`.

use std::collections::HashMap;

use frontdesk_engine::model::plan::{Change, Event, Step};
use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Scopes, TenantId};
use time::OffsetDateTime;

use super::{DemoCustomer, DemoDealership, DemoLead, DemoVehicle, NAMES, dealerships};
use crate::automotive::consent::{Consent, ConsentStatus};
use crate::automotive::customer::{Customer, CustomerInterest, LatestLead, LatestSale, Location};
use crate::automotive::lead::{Lead, LeadOwner, LeadSource, LeadStatus};
use crate::automotive::resource::TENANT;
use crate::automotive::values::{Contact, Distance, Money, VehicleInterest};
use crate::automotive::vehicle::{Equipment, MediaType, Medium, Vehicle};
use crate::automotive::vocabulary::{ConsentChannel, DistanceUnit};
use crate::automotive::{contract, resource::Resource};
use crate::demo::{Business, BusinessData, DemoInfo, ExampleCall};
use crate::record::{Entity, Integer, List, Stored};

pub fn info() -> DemoInfo {
    DemoInfo {
        businesses: NAMES.iter().map(|(id, name)| Business { id, name }).collect(),
        tenant_key: TENANT,
        scopes: Scopes::new(contract().scopes),
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
    // The ids of the demo's dealerships are valid, so this does not happen.
    let Some(tenant) = TenantId::parse(dealership.id) else { return Vec::new() };
    let vehicle_ids = ids(Vehicle::ID_PREFIX, dealership.vehicles.len());
    let customer_ids = ids(Customer::ID_PREFIX, dealership.customers.len());
    let lead_ids = ids(Lead::ID_PREFIX, dealership.leads.len());
    let sale_ids = ids("sal", dealership.customers.len());
    let latest = latest_leads(&dealership.leads, &lead_ids);

    let vehicles = dealership.vehicles.iter().zip(&vehicle_ids).map(|(demo, id)| {
        let in_stock_at = millis(demo.in_stock_at);
        row(&tenant, id, (in_stock_at, in_stock_at), vehicle(dealership, demo, id))
    });
    let customers = dealership.customers.iter().zip(&customer_ids).enumerate().map(|(place, (demo, id))| {
        let created_at = millis(demo.created_at);
        let record = customer(demo, latest.get(&place).cloned(), sale_ids.get(place));
        row(&tenant, id, (created_at, created_at), record)
    });
    let leads = dealership.leads.iter().zip(&lead_ids).filter_map(|(demo, id)| {
        let writer = dealership.customers.get(demo.customer).zip(customer_ids.get(demo.customer))?;
        let vehicle_id = demo.vehicle.and_then(|place| vehicle_ids.get(place));
        let times = (millis(demo.received_at), millis(demo.updated_at));
        Some(row(&tenant, id, times, lead(demo, writer, vehicle_id)))
    });
    vehicles.chain(customers).chain(leads).collect()
}

fn row<R: Resource>(
    tenant: &TenantId,
    id: &str,
    (created_at, updated_at): (Millis, Millis),
    record: R,
) -> (&'static TableSpec, Row) {
    let entity = Entity::new(id.to_owned(), tenant.clone(), created_at, record);
    (R::table(), Entity { updated_at, ..entity }.row(TENANT))
}

fn vehicle(dealership: &DemoDealership, demo: &DemoVehicle, id: &str) -> Vehicle {
    let medium = |order: u8| Medium {
        url: format!("https://media.example.com/{}/{id}/{order}.jpg", dealership.id).as_str().into(),
        r#type: MediaType::Image,
        alt: format!("{} {} {}, picture {}", demo.year, demo.make, demo.model, u16::from(order) + 1).as_str().into(),
        order: Integer::clamped(i64::from(order)),
    };
    Vehicle {
        vin: demo.vin.as_str().into(),
        stock_number: demo.stock_number.as_str().into(),
        condition: demo.condition,
        year: Integer::clamped(i64::from(demo.year)),
        make: demo.make.into(),
        model: demo.model.into(),
        trim: demo.trim.into(),
        body_style: demo.body_style,
        doors: Some(Integer::clamped(i64::from(demo.doors))),
        mileage: Distance { value: Integer::clamped(demo.mileage), unit: DistanceUnit::Mi },
        exterior_color: Some(demo.exterior_color.into()),
        interior_color: Some(demo.interior_color.into()),
        engine: Some(demo.engine.into()),
        transmission: demo.transmission,
        drivetrain: demo.drivetrain,
        fuel_type: demo.fuel_type,
        options: List(
            demo.options
                .iter()
                .map(|option| Equipment { code: option.code.into(), name: option.name.into() })
                .collect(),
        ),
        media: List((0..demo.media_count).map(medium).collect()),
        price: Money::new(demo.price_minor, demo.currency),
        msrp: demo.msrp_minor.map(|amount| Money::new(amount, demo.currency)),
        status: demo.status,
        in_stock_at: millis(demo.in_stock_at),
        description: Some(demo.description.as_str().into()),
    }
}

fn customer(demo: &DemoCustomer, latest_lead: Option<LatestLead>, sale: Option<&String>) -> Customer {
    Customer {
        kind: demo.kind,
        location: Location { city: demo.city.into(), region: demo.region.into(), country: demo.country.into() },
        lifetime_value: Money::new(demo.lifetime_value_minor, "USD"),
        latest_lead,
        latest_sale: sale
            .zip(demo.latest_sale_at)
            .map(|(id, closed_at)| LatestSale { id: id.as_str().into(), closed_at: millis(closed_at) }),
        vehicle_of_interest: Some(CustomerInterest {
            make: demo.vehicle_of_interest.make.into(),
            model: demo.vehicle_of_interest.model.into(),
        }),
        primary_contact: contact(demo),
    }
}

fn lead(demo: &DemoLead, (writer, customer_id): (&DemoCustomer, &String), vehicle_id: Option<&String>) -> Lead {
    let received_at = millis(demo.received_at);
    Lead {
        status: demo.status,
        interest: demo.interest,
        source: LeadSource { channel: demo.channel, provider: Some(demo.provider.into()), external_id: None },
        owner: Some(LeadOwner { id: demo.owner.id.into(), name: demo.owner.name.into() }),
        customer_id: Some(customer_id.as_str().into()),
        vehicle_id: vehicle_id.map(|id| id.as_str().into()),
        vehicle_of_interest: Some(VehicleInterest {
            make: writer.vehicle_of_interest.make.into(),
            model: writer.vehicle_of_interest.model.into(),
            year: None,
        }),
        timeframe: Some(demo.timeframe),
        consent: Consent {
            status: ConsentStatus::Granted,
            channels: List(vec![ConsentChannel::Email, ConsentChannel::VoiceCall]),
            granted_at: received_at,
            expires_at: None,
        },
        received_at,
        last_contact_at: (demo.status != LeadStatus::New).then_some(millis(demo.updated_at)),
        lost_reason: demo.lost_reason,
        contact: contact(writer),
        comments: Some(demo.comments.into()),
        consent_text: Some("I agree to be contacted about my enquiry.".into()),
    }
}

/// Each customer's newest lead, by the customer's index.
fn latest_leads(leads: &[DemoLead], ids: &[String]) -> HashMap<usize, LatestLead> {
    let mut by_age: Vec<(&DemoLead, &String)> = leads.iter().zip(ids).collect();
    by_age.sort_by_key(|(lead, _)| lead.received_at);
    let entries = by_age.into_iter().map(|(lead, id)| {
        let latest = LatestLead { id: id.as_str().into(), status: lead.status };
        (lead.customer, latest)
    });
    entries.collect()
}

fn contact(demo: &DemoCustomer) -> Contact {
    let name = match demo.company {
        Some(company) => company.into(),
        None => format!("{} {}", demo.given_name, demo.family_name).as_str().into(),
    };
    Contact { name, email: Some(demo.email.as_str().into()), phone: Some(demo.phone.as_str().into()) }
}

fn millis(at: OffsetDateTime) -> Millis {
    Millis(at.unix_timestamp().saturating_mul(1000))
}
