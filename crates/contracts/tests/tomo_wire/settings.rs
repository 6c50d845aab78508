//! What a partner says of itself is checked before anything is served (§2).

use frontdesk_contracts::partner::{PartnerSettings, PartnerSource};
use frontdesk_contracts::tomo;

use crate::support::{HOTEL, partner};

/// The problems, as `key: reason`.
fn problems(change: impl FnOnce(&mut PartnerSettings)) -> Vec<String> {
    let mut settings = partner(HOTEL, PartnerSource::Own);
    change(&mut settings);
    let problems = tomo::contract(&settings).err().unwrap_or_default();
    problems.iter().map(|problem| format!("{}: {}", problem.key, problem.reason)).collect()
}

#[test]
fn wrong_settings_are_named_with_their_key() {
    assert_eq!(problems(|_| {}), [""; 0]);
    assert_eq!(
        problems(|settings| settings.company = " ".to_owned()),
        ["company: the name of the company is required"]
    );
    assert_eq!(
        problems(|settings| settings.signals = vec![("time".to_owned(), 1.5), ("speed".to_owned(), 0.1)]),
        [
            "signals: time must lie between 0.0 and 1.0",
            "signals: taste is missing: rate each of time, taste, budget, safety",
            "signals: budget is missing: rate each of time, taste, budget, safety",
            "signals: safety is missing: rate each of time, taste, budget, safety",
            "signals: speed is none of time, taste, budget, safety",
        ]
    );
    assert_eq!(
        problems(|settings| settings.service_area = vec!["5600".to_owned()]),
        ["service_area: a pincode has 6 digits"]
    );
    assert_eq!(
        problems(|settings| settings.pricing_band = "cheap".to_owned()),
        ["pricing_band: one of these is expected: ok, good, great"]
    );
    assert_eq!(
        problems(|settings| settings.partner_id = "another".to_owned()),
        ["callback: it is the callback of another partner; it must end with another"]
    );
}

#[test]
fn t_151_the_callback_is_https() {
    assert_eq!(
        problems(|settings| settings.callback = "http://tomo.example/api/v1/cpc/mcp_provider/demo_partner".to_owned()),
        ["callback: an https URL that ends with /api/v1/cpc/mcp_provider/<partner_id> is expected"]
    );
}

#[test]
fn intents_with_a_tool_in_common_need_a_mount_each() {
    let found = problems(|settings| {
        settings.intents.extend(partner("auto.book_general_service", PartnerSource::Own).intents);
    });
    assert_eq!(
        found,
        [
            "intents: travel.book_hotel and auto.book_general_service both have the tool modify_booking: give each a mount of its own"
        ]
    );
}
