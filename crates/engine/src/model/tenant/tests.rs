//! What is accepted as a value of a profile, and how it is kept.

use super::places::COUNTRIES;
use super::*;

#[test]
fn a_time_zone_is_one_of_the_iana_database() {
    assert_eq!(TimeZone::parse("europe/berlin").unwrap().as_str(), "Europe/Berlin");
    assert_eq!(TimeZone::parse("UTC").unwrap().as_str(), "UTC");
    assert_eq!(
        TimeZone::parse("Europe/Berlinn").unwrap_err(),
        "there is no time zone of that name in the IANA database; did you mean Europe/Berlin?"
    );
    for wrong in ["", "+02:00", "CEST summer", "Europe"] {
        assert!(TimeZone::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn countries_and_currencies_are_published_codes() {
    assert_eq!(COUNTRIES.split(' ').count(), 249);
    assert_eq!(CountryCode::parse("de").unwrap().as_str(), "DE");
    assert_eq!(CurrencyCode::parse("eur").unwrap().as_str(), "EUR");
    for wrong in ["", "D", "DEU", "XX", "UK", "D E"] {
        assert!(CountryCode::parse(wrong).is_err(), "{wrong}");
    }
    for wrong in ["", "EU", "EURO", "XXX"] {
        assert!(CurrencyCode::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn opening_hours_are_kept_in_the_order_of_the_week() {
    let hours = OpeningHours::parse(&["sat 10:00-14:00", "mon-tue 13:00-18:30,09:00-12:00"]).unwrap();
    let lines = ["mon 09:00-12:00", "mon 13:00-18:30", "tue 09:00-12:00", "tue 13:00-18:30", "sat 10:00-14:00"]
        .map(str::to_owned);
    assert_eq!(hours.lines(), lines);
    assert_eq!(OpeningHours::parse(&hours.lines()).unwrap(), hours);
    assert_eq!(OpeningHours::parse(&["sun 00:00-24:00"]).unwrap().lines(), ["sun 00:00-24:00"]);
}

#[test]
fn impossible_opening_hours_are_refused() {
    for wrong in [
        "",
        "mon",
        "mon 9:00-18:00",
        "mon 18:00-09:00",
        "mon 09:00-09:00",
        "mon 09:00-24:01",
        "mon 09:60-10:00",
        "mon 09:00",
        "day 09:00-18:00",
        "fri-mon 09:00-18:00",
        "mon 09:00-18:00;",
        "mon +9:00-18:00",
    ] {
        assert!(OpeningHours::parse(&[wrong]).is_err(), "{wrong}");
    }
    assert!(OpeningHours::parse::<&str>(&[]).is_err());
    assert_eq!(
        OpeningHours::parse(&["mon 09:00-12:00", "mon 11:00-13:00"]).unwrap_err(),
        "two intervals of a day overlap; write each hour once"
    );
}

#[test]
fn a_profile_is_stored_as_small_json_and_read_back() {
    let profile = TenantProfile {
        time_zone: Some(TimeZone::parse("Europe/Berlin").unwrap()),
        city: Some(ProfileText::parse(" Kiel ").unwrap()),
        opening_hours: Some(OpeningHours::parse(&["mon 09:00-18:00"]).unwrap()),
        ..TenantProfile::default()
    };
    let text = serde_json::to_string(&profile).unwrap();
    assert_eq!(text, r#"{"time_zone":"Europe/Berlin","city":"Kiel","opening_hours":["mon 09:00-18:00"]}"#);
    assert_eq!(serde_json::from_str::<TenantProfile>(&text).unwrap(), profile);
    assert_eq!(serde_json::from_str::<TenantProfile>("{}").unwrap(), TenantProfile::default());
    assert!(serde_json::from_str::<TenantProfile>(r#"{"country":"Atlantis"}"#).is_err());
}

#[test]
fn an_update_changes_what_it_names_and_nothing_else() {
    let mut tenant = Tenant::new(TenantId::parse("north").unwrap(), "North");
    tenant.profile.city = Some(ProfileText::parse("Kiel").unwrap());
    tenant.group = GroupId::parse("harbours");
    let update = TenantUpdate {
        city: FieldUpdate::Clear,
        currency: FieldUpdate::Set(CurrencyCode::parse("EUR").unwrap()),
        ..TenantUpdate::default()
    };
    update.apply(&mut tenant);
    assert_eq!((tenant.name.as_str(), tenant.group.as_ref().map(GroupId::as_str)), ("North", Some("harbours")));
    assert_eq!((tenant.profile.city, tenant.profile.currency.unwrap().as_str()), (None, "EUR"));
}
