//! What the demo's dealership says of its workshop beyond the workshop itself. The workshop, its services and its hours
//! are the dealership's own demo data.

use frontdesk_engine::model::plan::{Change, Event, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, TenantId};

use super::provider::{Provider, ProviderStatus};
use crate::calendar::{Weekday, WeekdayHours};
use crate::record::{Entity, FixedDecimal, Integer, List, Stored as _};
use crate::tomo::TENANT;

/// The dealership whose workshop is sold.
pub const BUSINESS: &str = "dlr_bengaluru";

/// The code of its workshop.
const WORKSHOP_CODE: &str = "MAIN";

/// The provider that says where the workshop is, as steps to commit. `new_id` generates an id with a prefix.
pub fn rows(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> (Vec<Step>, Vec<Event>) {
    // The id of the demo's business is valid, so this does not happen.
    let Some(tenant) = TenantId::parse(BUSINESS) else { return (Vec::new(), Vec::new()) };
    // Whole seconds, the precision of published times.
    let now = Millis(now.seconds() * 1000);
    let entity = Entity::new(new_id(Provider::ID_PREFIX), tenant, now, profile());
    let event = Event { kind: Provider::TABLE_NAME, id: entity.id.clone(), change: Change::Created };
    let on_duplicate = Fault::internal("demo data exists already");
    (vec![Step::Insert { table: Provider::table(), row: entity.row(TENANT), on_duplicate }], vec![event])
}

fn profile() -> Provider {
    use Weekday::{Friday, Monday, Saturday, Thursday, Tuesday, Wednesday};
    let hours = |weekday| WeekdayHours { weekday, opens: "09:00".into(), closes: "18:00".into() };
    Provider {
        provider_code: WORKSHOP_CODE.into(),
        name: "Lakeside Motors Bengaluru Service".into(),
        city: "Bengaluru".into(),
        area: Some("Halasuru".into()),
        address: "21 Sample Lake Road, Halasuru".into(),
        pincode: Some("560008".into()),
        latitude: Some(FixedDecimal::scaled(12_982_400)),
        longitude: Some(FixedDecimal::scaled(77_619_300)),
        rating: Some(FixedDecimal::scaled(44)),
        time_zone: "Asia/Kolkata".into(),
        slot_minutes: Integer::constant::<30>(),
        places: Integer::constant::<3>(),
        opening_hours: List([Monday, Tuesday, Wednesday, Thursday, Friday, Saturday].map(hours).to_vec()),
        closed_days: List::default(),
        free_cancel_hours: Integer::constant::<24>(),
        late_refund_percent: Integer::constant::<50>(),
        status: ProviderStatus::Offered,
    }
}
