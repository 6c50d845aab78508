//! The example files are right, and are what the documents say about them.

use std::path::Path;

use frontdesk_contracts::automotive::adf::{self, AdfSettings};
use frontdesk_contracts::automotive::vin::Vin;
use frontdesk_contracts::feed::{AliasTarget, FeedReader, FeedSettings};
use serde_json::json;

use super::support::{arguments, settings, target, vehicles};

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/feeds").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_example_of_vehicles_is_right_without_a_mapping() {
    let rows = arguments(example("vehicles.csv").as_bytes(), FeedSettings::default());
    assert_eq!(rows.len(), 20);
    for row in &rows {
        let vin = Vin::parse(row["vin"].as_str().unwrap()).unwrap();
        assert_eq!(vin.year().map(i64::from), row["year"].as_i64(), "{row}");
        assert!(vin.make().is_none_or(|make| make == row["make"]), "{row}");
    }
    assert_eq!(
        rows[1],
        json!({
            "vin": "WBA5R1C58NA700002", "stock_number": "S-1002", "condition": "used", "year": 2022, "make": "BMW",
            "model": "330i", "body_style": "sedan", "mileage": {"value": 28_310, "unit": "mi"},
            "price": {"amount": 3_145_000, "currency": "USD"}, "exterior_color": "White", "interior_color": "Brown",
            "transmission": "automatic", "drivetrain": "rwd", "fuel_type": "gasoline",
            "in_stock_at": "2026-08-04T00:00:00Z", "options": [{"name": "Backup camera"}],
            "media": [{"url": "https://images.example/s-1002-1.jpg", "type": "image", "alt": "2022 BMW 330i", "order": 0}],
        })
    );
}

#[test]
fn the_example_of_a_mapping_fits_its_feed() {
    let rows = arguments(example("dms-export.csv").as_bytes(), settings(&example("mapping.toml")));
    assert_eq!(
        rows[0],
        json!({
            "vin": "1HGCV1F3XNA710001", "stock_number": "U-201", "condition": "used", "year": 2022, "make": "Honda",
            "model": "Accord", "mileage": {"value": 41_250, "unit": "mi"}, "price": {"amount": 2_345_000, "currency": "USD"},
            "status": "available", "in_stock_at": "2026-11-18T00:00:00Z", "description": "Ask us for a test drive.",
        })
    );
    let shown: Vec<_> = rows.iter().map(|row| (&row["condition"], &row["status"], &row["mileage"]["value"])).collect();
    assert_eq!(
        shown,
        [
            (&json!("used"), &json!("available"), &json!(41_250)),
            (&json!("new"), &json!("in_transit"), &json!(0)),
            (&json!("certified_pre_owned"), &json!("pending"), &json!(38_004)),
        ]
    );
}

#[test]
fn the_example_of_a_lead_is_right() {
    let prospects = adf::read(example("lead.xml").as_bytes(), &AdfSettings::default()).unwrap();
    assert_eq!(prospects.len(), 1);
    assert_eq!(
        serde_json::to_value(&prospects[0].arguments).unwrap(),
        json!({
            "contact": {"name": "Dana Reyes", "email": "dana.reyes@example.com", "phone": "+15125550123"},
            "interest": "test_drive",
            "vehicle_of_interest": {"make": "Honda", "model": "CR-V", "year": 2022},
            "source": {"channel": "third_party", "provider": "Example Cars", "external_id": "EC-20261118-7"},
            "consent": {"granted": true, "channels": ["email", "sms"]},
            "trade_in": {
                "year": 2016, "make": "Subaru", "model": "Outback", "mileage": {"value": 88_000, "unit": "mi"},
            },
            "x_frontdesk_stock_number": "S-1013",
            "comments": "Is Saturday morning possible?\n\nrequestdate: 2026-11-18T09:12:44-06:00\nvehicle/@status: used\n\
                customer/contact/phone/@type: cellphone\ncustomer/contact/address/country: US\n\
                vendor/vendorname: Lakeside Motors",
        })
    );
}

#[test]
fn the_example_of_parts_is_right_without_a_mapping() {
    let target = target("parts");
    let feed = example("parts.csv");
    let rows = FeedReader::open(feed.as_bytes(), &target, FeedSettings::default()).unwrap();
    let rows: Vec<_> = rows.map(|row| json!(row.unwrap().arguments.unwrap())).collect();
    assert_eq!(rows.len(), 7);
    let usd = |amount: i64| json!({"amount": amount, "currency": "USD"});
    assert_eq!(
        rows[5],
        json!({
            "part_number": "BXT-94R-H7-730", "manufacturer_code": "FOR", "description": "Battery, Motorcraft",
            "quantity_on_hand": 2, "quantity_on_order": 4, "reorder_point": 2, "lead_time_days": 5,
            "price": usd(20_995), "core_charge": usd(2_200), "bin": "F-03", "status": "active",
            "fitment": [{"make": "Ford", "model": "Escape", "year_from": 2013}],
        })
    );
    assert_eq!(rows[1]["superseded_by"], "90915-YZZD3");
    for alias in target.aliases {
        if let AliasTarget::Field(field) = alias.to {
            assert!(target.input.fields().iter().any(|known| known.name == field), "{}", alias.header);
            assert!(target.input.fields().iter().all(|known| known.name != alias.header), "{}", alias.header);
        }
    }
}

#[test]
fn only_vehicles_and_parts_have_other_names() {
    assert!(!vehicles().aliases.is_empty() && !target("parts").aliases.is_empty());
    assert!(target("leads").aliases.is_empty());
}

#[test]
fn every_alias_names_a_field_that_exists_and_no_field_itself() {
    let target = vehicles();
    let fields = "[constants]\nvin = \"v\"\nstock_number = \"s\"\ncondition = \"new\"\nyear = 2000\nmake = \"m\"\n\
                  model = \"m\"\nprice = \"1 USD\"\n";
    for alias in target.aliases {
        let AliasTarget::Field(field) = alias.to else {
            continue;
        };
        // Nothing else may give the field of the alias.
        let top = field.split('.').next().unwrap();
        let constants: String = fields
            .split('\n')
            .filter(|line| !line.starts_with(&format!("{top} ")))
            .map(|line| format!("{line}\n"))
            .collect();
        let feed = format!("{},doors\n", alias.header);
        let feed = if field == "doors" { feed.replace(",doors", "") } else { feed };
        let reader = FeedReader::open(feed.as_bytes(), &target, settings(&constants));
        let reader = reader.unwrap_or_else(|error| panic!("{}: {error}", alias.header));
        assert_eq!(reader.columns()[0].target.to_string(), field, "{}", alias.header);
    }
}
