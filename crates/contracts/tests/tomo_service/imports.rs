//! Providers and their services come in by file; bad rows are reported and the others are kept.

use frontdesk_contracts::partner::PartnerSource;
use frontdesk_engine::import::{FeedText, ImportRow, RowProblem, RowVerdict};
use serde_json::json;

use super::support::{OWN_LIVE, ServiceDesk, booking_of, contract, general_service};

/// What a file of a spreadsheet looks like: lists stand as JSON in their cell.
const PROVIDERS: &str = r#"provider_code,name,city,address,pincode,latitude,longitude,rating,time_zone,places,opening_hours
PNQ-1,Kothrud Motors,Pune,Karve Road 5,411038,18.5074,73.8077,4.3,asia/kolkata,2,"[{""weekday"":""monday"",""opens"":""08:00"",""closes"":""12:00""}]"
PNQ-2,No Zone,Pune,Karve Road 6,411038,,,,India/Pune,1,"[{""weekday"":""monday"",""opens"":""08:00"",""closes"":""12:00""}]"
PNQ-3,Odd Hours,Pune,Karve Road 7,4110,,,,Asia/Kolkata,1,"[{""weekday"":""monday"",""opens"":""12:00"",""closes"":""08:00""}]"
"#;

const SERVICES: &str = "offer_code,provider_code,service_code,name,duration_minutes,price_inr
PNQ-1-GEN,PNQ-1,GENERAL_SERVICE,General service,120,3199
PNQ-9-GEN,PNQ-9,GENERAL_SERVICE,General service,120,3199
";

fn rows(name: &str, text: &str) -> Vec<ImportRow> {
    let imports = contract(PartnerSource::Own).imports;
    let spec = imports.iter().find(|spec| spec.name == name).unwrap();
    let read = spec.rules.read_feed(&FeedText::Text(text.to_owned())).unwrap();
    let row = |row: frontdesk_engine::import::ReadRow| {
        let arguments = row.arguments.unwrap_or_else(|problems| panic!("{problems:?}"));
        ImportRow { line: row.line, arguments, key: None }
    };
    read.into_iter().map(row).collect()
}

fn rejected(problems: &[(&str, &str)]) -> RowVerdict {
    let problem =
        |(field, reason): &(&str, &str)| RowProblem { field: (*field).to_owned(), reason: (*reason).to_owned() };
    RowVerdict::Rejected(problems.iter().map(problem).collect())
}

#[tokio::test]
async fn providers_come_in_by_file_and_can_be_booked() {
    let (desk, store) = ServiceDesk::open();
    let before = store.contents();
    let verdicts = [
        RowVerdict::Created,
        rejected(&[("/time_zone", "a time zone of the IANA database is expected, such as Asia/Kolkata.")]),
        rejected(&[
            ("/opening_hours/0/closes", "it must be later than opens; hours past midnight are two entries."),
            ("/pincode", "a pincode of 6 digits is expected."),
        ]),
    ];
    assert_eq!(desk.import("providers", true, &rows("providers", PROVIDERS)).await, verdicts, "a dry run");
    assert_eq!(store.contents(), before);
    assert_eq!(desk.import("providers", false, &rows("providers", PROVIDERS)).await, verdicts);
    let services = rows("provider_services", SERVICES);
    let verdicts =
        [RowVerdict::Created, rejected(&[("/provider_code", "there is no provider with this code; import it first.")])];
    assert_eq!(desk.import("provider_services", false, &services).await, verdicts);
    let again = desk.import("provider_services", false, &services[..1]).await;
    assert_eq!(again, [RowVerdict::Unchanged]);

    let found = desk.ok(OWN_LIVE, "search_providers", general_service("Poona", "2027-03-01")).await;
    let one = &found["providers"][0];
    assert_eq!((&one["name"], &one["time_zone"]), (&json!("Kothrud Motors"), &json!("Asia/Kolkata")));
    assert_eq!((&one["price_inr"], one["slots"].as_array().unwrap().len()), (&json!(3199), 5));
    desk.ok(OWN_LIVE, "book_slot", booking_of(&found, "20270301T023000Z", "key-1")).await;
}

#[tokio::test]
async fn an_import_changes_the_price_of_later_searches() {
    let (desk, _) = ServiceDesk::open();
    let dearer = "offer_code,provider_code,service_code,name,duration_minutes,price_inr\n\
        BLR-1-GENERAL_SERVICE,BLR-1,GENERAL_SERVICE,General service,120,4100\n";
    assert_eq!(
        desk.import("provider_services", false, &rows("provider_services", dearer)).await,
        [RowVerdict::Updated]
    );
    let found = desk.ok(OWN_LIVE, "search_providers", general_service("Bengaluru", "2027-03-01")).await;
    assert_eq!(found["providers"][0]["price_inr"], 4100);
}

#[tokio::test]
async fn the_example_files_come_in() {
    let (desk, _) = ServiceDesk::open();
    let providers = rows("providers", include_str!("../../../../examples/feeds/providers.csv"));
    assert_eq!(desk.import("providers", false, &providers).await, [RowVerdict::Updated, RowVerdict::Updated]);
    let services = rows("provider_services", include_str!("../../../../examples/feeds/provider_services.csv"));
    let created = [RowVerdict::Created, RowVerdict::Created, RowVerdict::Created];
    assert_eq!(desk.import("provider_services", false, &services).await, created);
}
