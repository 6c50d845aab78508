//! The demo's partner: who it says it is, and which of its businesses is behind which intent. It names no host of TOMO's:
//! a demo never reports an order to anybody.

use frontdesk_engine::model::timestamp::Millis;

use super::{ID, intent, listing, service};
use crate::ENTRIES;
use crate::demo::{Business, BusinessData, DemoPartner, DemoPartnerMount};
use crate::partner::{ErrorStatus, IntentText, PartnerSettings, PartnerSource};

const HOTEL: Business = Business { id: listing::demo::BUSINESS.0, name: listing::demo::BUSINESS.1 };
const DEALERSHIP: &str = "dlr_bengaluru";

/// Intent, business, and whose goods it sells.
const MOUNTS: [(&str, &str, PartnerSource); 3] = [
    ("travel.book_hotel", HOTEL.id, PartnerSource::Own),
    ("marketplace.buy_used_car", DEALERSHIP, PartnerSource::Dealership),
    ("auto.book_general_service", DEALERSHIP, PartnerSource::Dealership),
];

pub(crate) fn partner() -> Option<DemoPartner> {
    Some(DemoPartner {
        entry: ENTRIES.iter().find(|entry| entry.name == ID)?,
        businesses: vec![HOTEL],
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
            error_status: ErrorStatus::Ok,
        },
    })
}

/// The rows of the businesses that have records of this contract.
pub(crate) fn business_data(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> Vec<BusinessData> {
    let (steps, events) = listing::demo::rows(now, new_id);
    vec![BusinessData { business: HOTEL, steps, events }]
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
    [HOTEL.id, DEALERSHIP].contains(&business).then_some(("Bengaluru", "KA"))
}
