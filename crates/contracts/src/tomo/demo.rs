//! The demo's partner: who it says it is, and which of its businesses is behind which intent. It names no host of TOMO's:
//! a demo never reports an order to anybody.

use frontdesk_engine::model::timestamp::Millis;

use super::{ID, intent, listing, mobility, order, service};
use crate::ENTRIES;
use crate::demo::{Business, BusinessData, DemoPartner, DemoPartnerMount};
use crate::partner::{ErrorStatus, IntentText, ManifestSettings, PartnerKeys, PartnerSettings, PartnerSource};

const HOTEL: Business = Business { id: listing::demo::BUSINESS.0, name: listing::demo::BUSINESS.1 };
const RIDES: Business = Business { id: mobility::demo::BUSINESS.0, name: mobility::demo::BUSINESS.1 };
const FOOD: Business = Business { id: order::demo::BUSINESS.0, name: order::demo::BUSINESS.1 };
const DEALERSHIP: &str = "dlr_bengaluru";

/// Intent, business, and whose goods it sells.
const MOUNTS: [(&str, &str, PartnerSource); 5] = [
    ("travel.book_hotel", HOTEL.id, PartnerSource::Own),
    ("marketplace.buy_used_car", DEALERSHIP, PartnerSource::Dealership),
    ("auto.book_general_service", DEALERSHIP, PartnerSource::Dealership),
    ("mobility.book_intracity_ride", RIDES.id, PartnerSource::Own),
    ("food.order_delivery", FOOD.id, PartnerSource::Own),
];

pub(crate) fn partner() -> Option<DemoPartner> {
    Some(DemoPartner {
        entry: ENTRIES.iter().find(|entry| entry.name == ID)?,
        businesses: vec![HOTEL, RIDES, FOOD],
        mounts: MOUNTS.iter().filter_map(|(intent, business, source)| mount(intent, business, *source)).collect(),
    })
}

fn mount(intent: &'static str, business: &'static str, source: PartnerSource) -> Option<DemoPartnerMount> {
    let text = intent::built_in(intent)?.to_owned();
    let signals = [("time", 0.6), ("taste", 0.8), ("budget", 0.5), ("safety", 0.7)];
    Some(DemoPartnerMount {
        path: format!("/mcp/{ID}/{intent}"),
        intent,
        business,
        settings: PartnerSettings {
            company: "Monsoon Mobility Demo".to_owned(),
            partner_id: "demo_partner".to_owned(),
            intents: vec![IntentText { name: intent.to_owned(), text }],
            signals: signals.map(|(axis, rating)| (axis.to_owned(), rating)).to_vec(),
            service_area: ["Bengaluru", "Hyderabad", "Mumbai"].map(str::to_owned).to_vec(),
            pricing_band: "good".to_owned(),
            callback: "https://tomo.example/api/v1/cpc/mcp_provider/demo_partner".to_owned(),
            source,
            backend: None,
            error_status: ErrorStatus::Ok,
            public_url: String::new(),
            keys: PartnerKeys::default(),
            manifest: manifest(intent),
        },
    })
}

/// What it would register with. Nothing of it exists: nobody has a PAN with the number 0000.
fn manifest(intent: &str) -> ManifestSettings {
    let offers = [
        ("travel.book_hotel", "Rooms in made-up hotels of three cities.", 1_500, 60_000),
        (
            "marketplace.buy_used_car",
            "Used cars of a made-up dealership, inspected and with papers.",
            150_000,
            6_000_000,
        ),
        ("auto.book_general_service", "General service of cars in a made-up workshop.", 1_000, 40_000),
        ("mobility.book_intracity_ride", "Rides in the city with made-up drivers.", 40, 3_000),
        ("food.order_delivery", "Dishes of made-up restaurants, delivered.", 60, 10_000),
    ];
    let offer = offers.iter().find(|(id, ..)| *id == intent);
    let licence = |kind: &str, number: &str| vec![(kind.to_owned(), number.to_owned())];
    ManifestSettings {
        legal_name: Some("Monsoon Mobility Demo Private Limited".to_owned()),
        tier: Some("tier1".to_owned()),
        gstin: Some("29ZZZCD0000Z1ZJ".to_owned()),
        licences: if intent.starts_with("food.") { licence("fssai", "10000000000000") } else { Vec::new() },
        privacy_policy_url: Some("https://monsoon.example/privacy".to_owned()),
        min_price_inr: offer.map(|(_, _, min, _)| *min),
        max_price_inr: offer.map(|(.., max)| *max),
        availability: Some("24x7".to_owned()),
        description: offer.map(|(_, description, ..)| (*description).to_owned()),
    }
}

/// The rows of the businesses that have records of this contract.
pub(crate) fn business_data(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> Vec<BusinessData> {
    let (steps, events) = listing::demo::rows(now, new_id);
    let hotel = BusinessData { business: HOTEL, steps, events };
    let (steps, events) = mobility::demo::rows(now, new_id);
    let rides = BusinessData { business: RIDES, steps, events };
    let (steps, events) = order::demo::rows(now, new_id);
    let food = BusinessData { business: FOOD, steps, events };
    vec![hotel, rides, food]
}

/// The data of a business with what this contract adds to it: what a dealership says of its workshop.
pub(crate) fn completed(mut contents: BusinessData, now: Millis) -> BusinessData {
    if contents.business.id == service::demo::BUSINESS {
        // There is one in a database, so its id need not be made up.
        let (steps, events) = service::demo::rows(now, &mut |prefix| format!("{prefix}_{:026}", 1));
        contents.steps.extend(steps);
        contents.events.extend(events);
    }
    contents
}

/// City and region of the businesses in India.
pub(crate) fn place(business: &str) -> Option<(&'static str, &'static str)> {
    [HOTEL.id, RIDES.id, FOOD.id, DEALERSHIP].contains(&business).then_some(("Bengaluru", "KA"))
}
