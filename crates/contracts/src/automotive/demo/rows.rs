//! The demo dealerships as rows for an empty store. It only adds ids; people, cars and dates come from `dealerships`.

use std::collections::HashMap;

use frontdesk_engine::model::plan::{Change, Event, Step};
use frontdesk_engine::model::table::{Row, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Scope, Scopes, TenantId};
use time::OffsetDateTime;

use super::market::{Market, market};
use super::{
    DemoCustomer, DemoDealership, DemoLead, DemoVehicle, NAMES, bengaluru, consents, credit, dealerships, deals, parts,
    service,
};
use crate::automotive::consent::{Consent, ConsentRecord};
use crate::automotive::contract;
use crate::automotive::customer::{
    Customer, CustomerInterest, LatestLead, LatestSale, Location, PreferredContact, PreferredContactTime,
};
use crate::automotive::deal::Deal;
use crate::automotive::fee::Fee;
use crate::automotive::lead::{Interest, Lead, LeadOwner, LeadSource, LeadStatus, TradeIn, TradeInCondition};
use crate::automotive::resource::TENANT;
use crate::automotive::service::repair_order::RepairOrder;
use crate::automotive::values::{Contact, Distance, Money, VehicleInterest};
use crate::automotive::vehicle::{
    Equipment, MediaType, Medium, PricePoint, Vehicle, VehicleHold, VehicleStatus, VinCheck,
};
use crate::automotive::vocabulary::DistanceUnit;
use crate::demo::{Business, BusinessData, ColumnFormat, DemoColumn, DemoField, DemoForm, DemoInfo, ExampleCall};
use crate::record::{Entity, Integer, List, Ref, Stored};

pub fn info() -> DemoInfo {
    DemoInfo {
        businesses: NAMES.iter().map(|(id, name)| Business { id, name }).collect(),
        tenant_key: TENANT,
        scopes: contract().ordinary_scopes,
        example: ExampleCall {
            tool: "inventory.search",
            arguments: r#"{"text":"leather","price_max":{"amount":3500000,"currency":"USD"},"sort":"price_asc","limit":3}"#,
        },
        form: DemoForm {
            tool: "inventory.search",
            scopes: Scopes::new([Scope::new("amcp:inventory:read")]),
            business: Business { id: NAMES[0].0, name: NAMES[0].1 },
            fields: &[
                DemoField { argument: "text", label: "Words", example: "leather" },
                DemoField { argument: "make", label: "Make", example: "Toyota" },
            ],
            arguments: r#"{"status":"available","sort":"price_asc","limit":10}"#,
            columns: &[
                DemoColumn { label: "vehicle", fields: &["year", "make", "model", "trim"], format: ColumnFormat::Text },
                DemoColumn { label: "colour", fields: &["exterior_color"], format: ColumnFormat::Text },
                DemoColumn { label: "mileage", fields: &["mileage"], format: ColumnFormat::Measure },
                DemoColumn { label: "price", fields: &["price"], format: ColumnFormat::Money },
            ],
        },
    }
}

/// All demo dealerships as of `now`, as steps to commit.
pub fn business_data(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> impl Iterator<Item = BusinessData> {
    // Whole seconds, the precision of published times.
    let started = Millis(now.seconds() * 1000);
    let now = OffsetDateTime::from_unix_timestamp(now.seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    dealerships(now)
        .into_iter()
        .chain([bengaluru::dealership(now)])
        .map(move |dealership| dealership_data(&dealership, started, new_id))
}

fn dealership_data(dealership: &DemoDealership, now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> BusinessData {
    let rows = rows(dealership, now, new_id);
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

const SIX_WEEKS: i64 = 42 * 24 * 60 * 60;

fn rows(
    dealership: &DemoDealership,
    now: Millis,
    new_id: &mut dyn FnMut(&str) -> String,
) -> Vec<(&'static TableSpec, Row)> {
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
    let consent_ids = ids(ConsentRecord::ID_PREFIX, dealership.leads.len());
    let marketing_ids = ids(ConsentRecord::ID_PREFIX, dealership.customers.len());
    // As many as there can be; not every lead becomes a deal.
    let mut deal_ids = ids(Deal::ID_PREFIX, dealership.leads.len()).into_iter();
    let fees = deals::fees(dealership);
    let fee_ids = ids(Fee::ID_PREFIX, fees.len());
    let market = market(dealership.country);
    let known = DemoIds { tenant: &tenant, vehicles: &vehicle_ids, customers: &customer_ids, leads: &lead_ids };
    let deals = deals::deals(dealership, &known, &fees, &mut || deal_ids.next().unwrap_or_default());

    let vehicles = dealership.vehicles.iter().zip(&vehicle_ids).enumerate().map(|(place, (demo, id))| {
        let in_stock_at = millis(demo.in_stock_at);
        let holder = deals.iter().find(|deal| deal.vehicle == place && deal.holds_vehicle());
        let held_by = holder
            .map(|deal| VehicleHold { deal_id: deal.id.as_str().into(), status_before: VehicleStatus::Available });
        // Cars without a deal of the demo were sold by others, about six weeks after they came.
        let closed_at = holder.and_then(|deal| deal.deal.closed_at);
        let earliest = Millis(in_stock_at.plus_seconds(SIX_WEEKS).0.min(now.0));
        let sold_at = (demo.status == VehicleStatus::Sold).then_some(closed_at.unwrap_or(earliest));
        row(&tenant, id, (in_stock_at, in_stock_at), Vehicle { held_by, sold_at, ..vehicle(dealership, demo, id) })
    });
    let customers = dealership.customers.iter().zip(&customer_ids).enumerate().map(|(place, (demo, id))| {
        let created_at = millis(demo.created_at);
        let earlier = sale_ids.get(place).zip(demo.latest_sale_at).map(|(id, at)| (millis(at), id));
        let bought = deals.iter().filter(|deal| deal.customer == place);
        let bought = bought.filter_map(|deal| Some((deal.deal.closed_at?, &deal.id)));
        let latest_sale = earlier.into_iter().chain(bought).max();
        let mut record = customer(place, demo, market, latest.get(&place).cloned(), latest_sale);
        for deal in deals.iter().filter(|deal| deal.customer == place && deal.deal.closed_at.is_some()) {
            record.add_spent(deal.deal.spent(), &deal.deal.selling_price.currency);
        }
        row(&tenant, id, (created_at, created_at), record)
    });
    let mut leads = Vec::new();
    let mut consents = Vec::new();
    for (place, ((demo, id), consent_id)) in dealership.leads.iter().zip(&lead_ids).zip(&consent_ids).enumerate() {
        let writer = dealership.customers.get(demo.customer).zip(customer_ids.get(demo.customer));
        let Some(writer) = writer else { continue };
        let vehicle_id = demo.vehicle.and_then(|place| vehicle_ids.get(place));
        let times = (millis(demo.received_at), millis(demo.updated_at));
        let record = Lead {
            duplicate_of: first_of_duplicate(&dealership.leads, &lead_ids, demo),
            consent: consents::summary(place, demo),
            consent_id: Some(consent_id.as_str().into()),
            ..lead(place, demo, writer, vehicle_id)
        };
        let consent = consents::of_lead(id, &record, market, times.1);
        consents.push(row(&tenant, consent_id, (times.0, consent.decided_at), consent));
        leads.push(row(&tenant, id, times, record));
    }
    let buyers = dealership.customers.iter().zip(customer_ids.iter().zip(&marketing_ids)).enumerate();
    let marketing = buyers.filter_map(|(place, (demo, (customer_id, id)))| {
        let consent = consents::of_buyer(place, customer_id, &contact(demo), market, millis(demo.latest_sale_at?));
        Some(row(&tenant, id, (consent.granted_at?, consent.decided_at), consent))
    });
    let visits = service::rows(dealership, &known, &deals, now, new_id);
    let is_repair_order = |(table, _): &&(&'static TableSpec, Row)| table.name == RepairOrder::TABLE_NAME;
    let repair_order = visits.iter().find(is_repair_order).map(|(_, row)| row.id.as_str());
    let parts = parts::rows(dealership, &known, repair_order, now, new_id);
    let financing = credit::rows(dealership, &known, &deals, new_id);
    let sold = deals.iter().map(|demo| row(&tenant, &demo.id, (demo.created_at, demo.updated_at), demo.deal.clone()));
    let since = Millis(dealership.customers.iter().map(|demo| millis(demo.created_at).0).min().unwrap_or_default());
    let table = fees.iter().zip(&fee_ids).map(|(fee, id)| row(&tenant, id, (since, since), fee.clone()));
    let mut rows: Vec<_> =
        vehicles.chain(customers).chain(leads).chain(consents).chain(marketing).chain(sold).chain(table).collect();
    rows.extend(visits);
    rows.extend(parts);
    rows.extend(financing);
    rows
}

/// The rows that others refer to.
pub(super) struct DemoIds<'a> {
    pub(super) tenant: &'a TenantId,
    pub(super) vehicles: &'a [String],
    pub(super) customers: &'a [String],
    pub(super) leads: &'a [String],
}

pub(super) fn row<R: Stored>(
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
        vin_check: VinCheck::of(&demo.vin),
        stock_number: demo.stock_number.as_str().into(),
        condition: demo.condition,
        year: Integer::clamped(i64::from(demo.year)),
        make: demo.make.into(),
        model: demo.model.into(),
        trim: Some(demo.trim.into()),
        body_style: demo.body_style,
        doors: Some(Integer::clamped(i64::from(demo.doors))),
        mileage: Distance { value: Integer::clamped(demo.mileage), unit: market(dealership.country).distance },
        exterior_color: Some(demo.exterior_color.into()),
        interior_color: Some(demo.interior_color.into()),
        engine: Some(demo.engine.into()),
        transmission: demo.transmission,
        drivetrain: demo.drivetrain,
        fuel_type: demo.fuel_type,
        options: List(
            demo.options
                .iter()
                .map(|option| Equipment { code: Some(option.code.into()), name: option.name.into() })
                .collect(),
        ),
        media: List((0..demo.media_count).map(medium).collect()),
        price: Money::new(demo.price_minor, demo.currency),
        price_history: List(vec![PricePoint {
            at: millis(demo.in_stock_at),
            price: Money::new(demo.price_minor, demo.currency),
        }]),
        msrp: demo.msrp_minor.map(|amount| Money::new(amount, demo.currency)),
        status: demo.status,
        held_by: None,
        in_stock_at: millis(demo.in_stock_at),
        sold_at: None,
        description: Some(demo.description.as_str().into()),
    }
}

fn customer(
    place: usize,
    demo: &DemoCustomer,
    market: &Market,
    latest_lead: Option<LatestLead>,
    sale: Option<(Millis, &String)>,
) -> Customer {
    Customer {
        kind: demo.kind,
        dms_customer_number: Some(format!("C{:05}", place.saturating_add(10_001)).as_str().into()),
        preferred_contact: Some(match place % 4 {
            0 => PreferredContact::Phone,
            1 => PreferredContact::Sms,
            2 => PreferredContact::Any,
            _ => PreferredContact::Email,
        }),
        preferred_contact_time: place.is_multiple_of(3).then_some(PreferredContactTime::Evening),
        language: Some(if place % 9 == 4 { market.languages[1] } else { market.languages[0] }.into()),
        do_not_contact: None,
        location: Some(Location { city: demo.city.into(), region: demo.region.into(), country: demo.country.into() }),
        lifetime_value: Some(Money::new(demo.lifetime_value_minor, market.currency)),
        latest_lead,
        latest_sale: sale.map(|(closed_at, id)| LatestSale { id: id.as_str().into(), closed_at }),
        vehicle_of_interest: Some(CustomerInterest {
            make: demo.vehicle_of_interest.make.into(),
            model: demo.vehicle_of_interest.model.into(),
        }),
        primary_contact: contact(demo),
    }
}

/// Without what it says about its consent and other leads.
fn lead(
    place: usize,
    demo: &DemoLead,
    (writer, customer_id): (&DemoCustomer, &String),
    vehicle_id: Option<&String>,
) -> Lead {
    let received_at = millis(demo.received_at);
    Lead {
        status: demo.status,
        interest: demo.interest,
        source: LeadSource { channel: demo.channel, provider: Some(demo.provider.into()), external_id: None },
        owner: Some(LeadOwner { id: demo.owner.id.into(), name: demo.owner.name.into() }),
        customer_id: Some(customer_id.as_str().into()),
        duplicate_of: None,
        vehicle_id: vehicle_id.map(|id| id.as_str().into()),
        vehicle_of_interest: Some(VehicleInterest {
            make: writer.vehicle_of_interest.make.into(),
            model: writer.vehicle_of_interest.model.into(),
            year: None,
        }),
        trade_in: matches!(demo.interest, Interest::TradeIn | Interest::Sell).then(|| trade_in(place)),
        timeframe: Some(demo.timeframe),
        consent: Consent::pending(received_at),
        consent_id: None,
        do_not_contact: None,
        received_at,
        last_contact_at: (demo.status != LeadStatus::New).then_some(millis(demo.updated_at)),
        // Most are answered within half a day; by whom and how is not invented.
        response_minutes: matches!(
            demo.status,
            LeadStatus::Contacted
                | LeadStatus::Working
                | LeadStatus::AppointmentSet
                | LeadStatus::Negotiating
                | LeadStatus::Sold
                | LeadStatus::Lost
        )
        .then(|| Integer::clamped(i64::try_from(place).unwrap_or_default() * 97 % 700 + 4)),
        lost_reason: demo.lost_reason,
        contact: contact(writer),
        comments: Some(demo.comments.into()),
        consent_text: Some(consents::WORDS.into()),
    }
}

fn trade_in(place: usize) -> TradeIn {
    let number = i64::try_from(place).unwrap_or_default();
    let (make, model) = match place % 4 {
        0 => ("Honda", "Civic"),
        1 => ("Ford", "Escape"),
        2 => ("Toyota", "Corolla"),
        _ => ("Nissan", "Rogue"),
    };
    TradeIn {
        vin: None,
        year: Some(Integer::clamped(2012 + number % 9)),
        make: Some(make.into()),
        model: Some(model.into()),
        mileage: Some(Distance { value: Integer::clamped(38_000 + number * 1_117), unit: DistanceUnit::Mi }),
        condition: Some(if place.is_multiple_of(3) { TradeInCondition::Fair } else { TradeInCondition::Good }),
        payoff: place.is_multiple_of(2).then(|| Money::new(412_000 + number * 5_300, "USD")),
    }
}

/// The first lead of the person whose second one is marked as a duplicate.
fn first_of_duplicate(leads: &[DemoLead], ids: &[String], demo: &DemoLead) -> Option<Ref<Lead>> {
    if demo.status != LeadStatus::Duplicate {
        return None;
    }
    let is_first = |other: &DemoLead| other.customer == demo.customer && other.received_at < demo.received_at;
    let first = leads.iter().zip(ids).find(|(other, _)| is_first(other));
    first.map(|(_, id)| id.as_str().into())
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

pub(super) fn contact(demo: &DemoCustomer) -> Contact {
    let name = match demo.company {
        Some(company) => company.into(),
        None => format!("{} {}", demo.given_name, demo.family_name).as_str().into(),
    };
    Contact { name, email: Some(demo.email.as_str().into()), phone: Some(demo.phone.as_str().into()) }
}

pub(super) fn millis(at: OffsetDateTime) -> Millis {
    Millis(at.unix_timestamp().saturating_mul(1000))
}
