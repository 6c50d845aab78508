//! Made-up businesses: one with providers of its own, one dealership in India and one in another country.

use frontdesk_contracts::automotive::service::repair_order::PayType;
use frontdesk_contracts::automotive::service::service_code::{ServiceCode, ServiceCodeStatus};
use frontdesk_contracts::automotive::service::workshop::{BayKind, Workshop};
use frontdesk_contracts::automotive::values::Money;
use frontdesk_contracts::calendar::{Weekday, WeekdayHours};
use frontdesk_contracts::record::{Entity, FixedDecimal, Integer, List, Stored};
use frontdesk_contracts::tomo::service::provider::{Provider, ProviderStatus};
use frontdesk_contracts::tomo::service::provider_service::ProviderService;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::{Fault, TenantId};

use super::support::NOW;

pub(crate) const OWN: &str = "srv_karnataka";
/// Another business with the same codes.
pub(crate) const OTHER: &str = "srv_telangana";
pub(crate) const DEALERSHIP: &str = "dlr_bengaluru";
pub(crate) const ABROAD: &str = "dlr_lakeside";

pub(crate) const WORKSHOP: &str = "wsp_main";

/// What each tenant has.
pub(crate) fn seeds() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        (OWN, own_rows(OWN)),
        (OTHER, own_rows(OTHER)),
        (DEALERSHIP, dealership_rows(DEALERSHIP, "INR", "Asia/Kolkata")),
        (ABROAD, dealership_rows(ABROAD, "USD", "America/New_York")),
    ]
}

pub(crate) fn insert<R: Stored>(tenant: &str, id: &str, record: R) -> Step {
    let member = if R::TABLE_NAME.starts_with("tomo") { "tenant" } else { "dealership_id" };
    let entity = Entity::new(id.to_owned(), TenantId::parse(tenant).unwrap(), NOW, record);
    Step::Insert { table: R::table(), row: entity.row(member), on_duplicate: Fault::internal("seeded twice") }
}

fn own_rows(tenant: &str) -> Vec<Step> {
    let koramangala = Provider {
        name: "Koramangala Car Care".into(),
        area: Some("Koramangala".into()),
        pincode: Some("560034".into()),
        latitude: Some(FixedDecimal::scaled(12_935_200)),
        longitude: Some(FixedDecimal::scaled(77_624_500)),
        rating: Some(FixedDecimal::scaled(46)),
        places: Integer::clamped(2),
        free_cancel_hours: Integer::clamped(24),
        late_refund_percent: Integer::clamped(50),
        ..provider("BLR-1", "Bengaluru", "Asia/Kolkata")
    };
    let indiranagar = Provider {
        name: "Indiranagar Auto".into(),
        pincode: Some("560038".into()),
        rating: Some(FixedDecimal::scaled(42)),
        closed_days: List(vec!["2027-03-02".into()]),
        ..provider("BLR-2", "bangalore", "Asia/Kolkata")
    };
    let withdrawn = Provider { status: ProviderStatus::Withdrawn, ..provider("BLR-3", "Bengaluru", "Asia/Kolkata") };
    vec![
        insert(tenant, "prv_koramangala", koramangala),
        insert(tenant, "prv_indiranagar", indiranagar),
        insert(tenant, "prv_withdrawn", withdrawn),
        insert(tenant, "prv_hyderabad", provider("HYD-1", "Hyderabad", "Asia/Kolkata")),
        insert(tenant, "psv_1", service("BLR-1", "GENERAL_SERVICE", "General service", 120, 3499)),
        insert(tenant, "psv_2", service("BLR-1", "OIL_CHANGE", "Oil and filter", 45, 1299)),
        insert(tenant, "psv_3", service("BLR-1", "COATING", "Ceramic coating", 240, 14_999)),
        insert(tenant, "psv_4", service("BLR-2", "GENERAL_SERVICE", "Standard service", 90, 2999)),
        insert(tenant, "psv_5", service("BLR-3", "GENERAL_SERVICE", "General service", 90, 999)),
        insert(tenant, "psv_6", service("HYD-1", "GENERAL_SERVICE", "General service", 120, 3299)),
    ]
}

/// Open from Monday to Saturday, one customer at a time, everything paid back.
pub(crate) fn provider(code: &str, city: &str, time_zone: &str) -> Provider {
    Provider {
        provider_code: code.into(),
        name: format!("Provider {code}").as_str().into(),
        city: city.into(),
        area: None,
        address: "80 Feet Road 12".into(),
        pincode: None,
        latitude: None,
        longitude: None,
        rating: None,
        time_zone: time_zone.into(),
        slot_minutes: Integer::clamped(30),
        places: Integer::clamped(1),
        opening_hours: List(week("09:00", "18:00")),
        closed_days: List::default(),
        free_cancel_hours: Integer::clamped(0),
        late_refund_percent: Integer::clamped(100),
        status: ProviderStatus::Offered,
    }
}

pub(crate) fn service(provider: &str, code: &str, name: &str, minutes: i64, price: i64) -> ProviderService {
    ProviderService {
        offer_code: format!("{provider}-{code}").as_str().into(),
        provider_code: provider.into(),
        service_code: code.into(),
        name: name.into(),
        duration_minutes: Integer::clamped(minutes),
        price_inr: Integer::clamped(price),
        status: ProviderStatus::Offered,
    }
}

pub(crate) fn week(opens: &str, closes: &str) -> Vec<WeekdayHours> {
    use Weekday::{Friday, Monday, Saturday, Thursday, Tuesday, Wednesday};
    [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday]
        .map(|weekday| WeekdayHours { weekday, opens: opens.into(), closes: closes.into() })
        .to_vec()
}

fn dealership_rows(tenant: &str, currency: &str, time_zone: &str) -> Vec<Step> {
    let workshop = Workshop {
        code: "MAIN".into(),
        name: "Lakeside Motors Bengaluru Service".into(),
        time_zone: time_zone.into(),
        slot_minutes: Integer::clamped(30),
        bays: Integer::clamped(2),
        bay_kinds: List(vec![BayKind { kind: "alignment".into(), bays: Integer::clamped(1) }]),
        opening_hours: List(week("09:00", "18:00")),
        closed_days: List::default(),
    };
    let code = |code: &str, name: &str, minutes: i64, kind: Option<&str>, price: i64| ServiceCode {
        code: code.into(),
        name: name.into(),
        duration_minutes: Integer::clamped(minutes),
        bay_kind: kind.map(Into::into),
        price: Some(Money::new(price, currency)),
        pay_type: PayType::Customer,
        status: ServiceCodeStatus::Offered,
    };
    vec![
        insert(tenant, WORKSHOP, workshop),
        insert(tenant, "svc_1", code("GENERAL_SERVICE", "General service", 120, None, 349_900)),
        insert(tenant, "svc_2", code("WHEEL_ALIGNMENT", "Wheel alignment", 60, Some("alignment"), 89_950)),
        insert(tenant, "svc_3", code("OIL_CHANGE", "Oil change", 30, None, 129_900)),
    ]
}
