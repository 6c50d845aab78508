//! Mapping files: what they can say, and what is said about a wrong one.

use frontdesk_contracts::feed::{FeedMapping, FeedReader, FeedSettings};
use serde_json::json;

use super::support::{FIRST, HEADER, arguments, report, settings, target, vehicles};

fn refused(toml: &str) -> String {
    FeedMapping::from_toml(toml).unwrap_err().to_string()
}

#[test]
fn a_wrong_mapping_file_is_refused_with_what_is_right() {
    assert_eq!(
        refused("[defaults]\ncurency = \"USD\""),
        "The mapping file has an unknown key under [defaults], \"curency\"; there are currency, distance, dates, numbers, \
         calling_code, separator, encoding. Did you mean \"currency\"?"
    );
    assert_eq!(
        refused("[defaults]\ncurrency = \"Dollars\""),
        "In the mapping file, [defaults] \"currency\" must be an ISO 4217 code, such as \"USD\"."
    );
    assert_eq!(
        refused("[defaults]\ndates = \"dmy\""),
        "In the mapping file, [defaults] \"dates\" must be \"month_first\" or \"day_first\"."
    );
    assert_eq!(
        refused("[constants]\nprice = 12.5"),
        "In the mapping file, [constants] \"price\" must be a text in quotes."
    );
    assert_eq!(refused("columns = 1"), "In the mapping file [columns] must be a table.");
    assert!(refused("[columns]\n\nx = ").starts_with("The mapping file is not valid TOML, line 3: "));
}

#[test]
fn words_columns_and_constants_have_the_meaning_they_are_given() {
    let mapping = settings(
        "[columns]\n\"Unit #\" = \"stock_number\"\n\"price\" = \"\"\n\"Net\" = \"price\"\n\
         [values.status]\n\"Front line\" = \"available\"\n\"n/a\" = \"\"\n\
         [constants]\ncondition = \"Used\"\n\"mileage.unit\" = \"km\"\n\"mileage.value\" = 5\n\
         [lists]\noptions = \"/\"\n[defaults]\ncurrency = \"cad\"",
    );
    let feed = "vin,Unit #,year,make,model,price,Net,status,options\n\
                5YJ3E1EAXKF100004,T-1,2019,Tesla,Model 3,1,\"$2,000\",FRONTLINE,a|b/c\n\
                4T1C11AK4NU100002,T-2,2022,Toyota,Camry,1,3000,N/A,\n";
    let rows = arguments(feed.as_bytes(), mapping);
    assert_eq!(
        rows[0],
        json!({
            "vin": "5YJ3E1EAXKF100004", "stock_number": "T-1", "condition": "used", "year": 2019, "make": "Tesla",
            "model": "Model 3", "price": {"amount": 200_000, "currency": "CAD"}, "status": "available",
            "mileage": {"value": 5, "unit": "km"}, "options": [{"name": "a|b"}, {"name": "c"}],
        })
    );
    assert_eq!(rows[1].get("status"), None);
}

#[test]
fn a_mapped_column_replaces_the_one_of_that_name() {
    let feed = format!("{HEADER},Net\n{},\"2,000 USD\"\n", FIRST.replace("30100", "1 mi"));
    let rows = arguments(feed.as_bytes(), settings("[columns]\n\"net\" = \"price\""));
    assert_eq!(rows[0]["price"], json!({"amount": 200_000, "currency": "USD"}));
}

#[test]
fn a_constant_and_a_column_for_the_same_field_are_refused() {
    let feed = format!("{HEADER}\n{FIRST}\n");
    assert_eq!(
        report(feed.as_bytes(), settings("[constants]\ncondition = \"used\"")),
        ["The column \"condition\" gives condition, and so does [constants] of the mapping file. Remove one of them."]
    );
}

#[test]
fn a_column_for_the_currency_decides_it_and_must_agree() {
    let feed =
        |price: &str| format!("{HEADER},currency\n{},eur\n", FIRST.replace("24999", price).replace("30100", "1 km"));
    let read = |price: &str| arguments(feed(price).as_bytes(), settings("[defaults]\ncurrency = \"USD\""));
    assert_eq!(read("24999")[0]["price"], json!({"amount": 2_499_900, "currency": "EUR"}));
    assert_eq!(read("24999 EUR")[0]["price"], json!({"amount": 2_499_900, "currency": "EUR"}));
    assert_eq!(
        report(feed("24999 USD").as_bytes(), settings("")),
        ["2: price: the currency here is another than that of the column for it"]
    );
}

#[test]
fn a_column_for_the_unit_decides_it() {
    let feed = format!("{HEADER},Mileage Unit\n{},Kilometers\n", FIRST.replace("24999", "1 USD"));
    assert_eq!(arguments(feed.as_bytes(), settings(""))[0]["mileage"], json!({"value": 30_100, "unit": "km"}));
    let json = r#"{"vin":"5YJ3E1EAXKF100004","stock":"T-1","condition":"used","year":2019,"make":"Tesla","model":"Model 3",
        "mileage":{"value":5,"unit":"mi"},"mileage_unit":"km","price":"1 USD"}"#;
    assert_eq!(
        report(json.as_bytes(), settings("")),
        ["1: mileage_unit: another column says something else about this"]
    );
}

#[test]
fn columns_show_what_becomes_of_each() {
    let target = vehicles();
    let feed = "VIN,Stock #,Type,Certified,Year,Make,Model,Miles,SellingPrice,DealerId,Notes,x_acme_bay,ImageList\n";
    let reader = FeedReader::open(feed.as_bytes(), &target, FeedSettings::default()).unwrap();
    let shown: Vec<String> =
        reader.columns().iter().map(|column| format!("{} = {}", column.header, column.target)).collect();
    assert_eq!(
        shown,
        [
            "VIN = vin",
            "Stock # = stock_number",
            "Type = condition",
            "Certified = (certified)",
            "Year = year",
            "Make = make",
            "Model = model",
            "Miles = mileage",
            "SellingPrice = price",
            "DealerId = ignored",
            "Notes = ignored",
            "x_acme_bay = x_acme_bay",
            "ImageList = (images)",
        ]
    );
}

#[test]
fn leads_are_read_by_their_own_names() {
    let leads = target("leads");
    let feed = "contact.name;Contact Email;contact.phone;interest;consent.granted;consent.channels;dealership_id\n\
                Dana Reyes;dana@example.com;(512) 555-0123;Test drive;yes;email|sms;dlr_other\n\
                Sam Poe;sam;+44 20 7946 0018;buy;maybe;;\n";
    let settings = settings("[defaults]\ncalling_code = \"1\"");
    let rows: Vec<_> = FeedReader::open(feed.as_bytes(), &leads, settings).unwrap().map(Result::unwrap).collect();
    assert_eq!(
        serde_json::to_value(rows[0].arguments.as_ref().unwrap()).unwrap(),
        json!({
            "contact": {"name": "Dana Reyes", "email": "dana@example.com", "phone": "+15125550123"},
            "interest": "test_drive",
            "consent": {"granted": true, "channels": ["email", "sms"]},
        })
    );
    let problems: Vec<String> = rows[1].arguments.as_ref().unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["consent.granted: yes or no is expected", "Contact Email: an e-mail address is expected"]);
}
