//! Fares, surges and drivers come in by file; bad rows are reported and the others are kept.

use frontdesk_engine::import::{RowProblem, RowVerdict};
use serde_json::json;

use super::data::RIDES;
use super::support::{LIVE, SANDBOX, asked, booked, estimates, open, reference};

fn rejected(problems: &[(&str, &str)]) -> RowVerdict {
    let problem =
        |(field, reason): &(&str, &str)| RowProblem { field: (*field).to_owned(), reason: (*reason).to_owned() };
    RowVerdict::Rejected(problems.iter().map(problem).collect())
}

const FARES: &str = "fare_code,city,vehicle_class,seats,base_fare_inr,included_km,per_km_inr,tax_percent,speed_kmh
HYD-MINI,Hyderabad,mini,4,60,2,14.50,5,25
BLR-SEDAN-2,Bangalore,Sedan,4,60,2,14.50,5,25
HYD-MINI-2,hyderabad,mini,4,60,2,14.50,5,25
";

#[tokio::test]
async fn fares_come_in_by_file_and_a_class_has_one() {
    let (desk, store) = open();
    let before = store.contents();
    let sedan = rejected(&[("/vehicle_class", "BLR-Sedan is the fare table of this class in this city.")]);
    let dry = desk.import(RIDES, "fares", true, FARES).await;
    assert_eq!(dry, [RowVerdict::Created, sedan.clone(), RowVerdict::Created], "a dry run writes none of them");
    assert_eq!(store.contents(), before);
    let applied = desk.import(RIDES, "fares", false, FARES).await;
    assert_eq!(applied, [RowVerdict::Created, sedan, RowVerdict::Created], "rows of one file are checked together");
    let mut hyderabad = asked();
    hyderabad["city"] = json!("Hyderabad");
    let found = desk.ok(SANDBOX, "get_ride_estimates", hyderabad).await;
    assert_eq!(found["options"].as_array().unwrap().len(), 1, "a class has one price: {found}");
    let later = FARES.replace("HYD-MINI-2", "HYD-MINI-3");
    let mini = rejected(&[("/vehicle_class", "HYD-MINI is the fare table of this class in this city.")]);
    assert_eq!(desk.import(RIDES, "fares", false, &later).await[2], mini);
    let dearer = FARES.lines().take(2).collect::<Vec<_>>().join("\n").replace("14.50", "20");
    assert_eq!(desk.import(RIDES, "fares", false, &dearer).await, [RowVerdict::Updated]);
    assert_eq!(desk.import(RIDES, "fares", false, &dearer).await, [RowVerdict::Unchanged]);
}

#[tokio::test]
async fn surges_come_in_by_file_with_hours_that_are_right() {
    let (desk, _) = open();
    let rows = "surge_code,city,vehicle_class,weekdays,from_time,until_time,multiplier
SAT,Bengaluru,auto,saturday|sunday,11:00,12:00,1.2
MON,Bengaluru,,monday,11:00,12:00,2
NIGHT,Bengaluru,,,22:00,02:00,1.5
ODD,Bengaluru,,,9am,12:00,1.5
";
    let expected = [
        RowVerdict::Created,
        RowVerdict::Created,
        rejected(&[("/until_time", "it must be later than from_time; hours past midnight are two entries.")]),
        rejected(&[("/from_time", "a local time such as 08:00 is expected.")]),
    ];
    assert_eq!(desk.import(RIDES, "surges", false, rows).await, expected);
    let found = estimates(&desk, LIVE).await;
    let surges: Vec<_> = found["options"].as_array().unwrap().iter().map(|one| &one["surge_multiplier"]).collect();
    assert_eq!(surges, [&json!(1.2), &json!(1.0)], "a Saturday, autos only");
}

const DRIVER: &str = "driver_code,name,phone,vehicle_class,vehicle,plate,city,latitude,longitude,rating,status";

#[tokio::test]
async fn drivers_come_in_by_file_and_drive() {
    let (desk, _) = open();
    let row = "D8,Kiran Shetty,+919811111111,suv,Toyota Innova,KA05ZZ0001,Bengaluru,12.971,77.6,4.9,available";
    let verdicts = desk.import(RIDES, "drivers", false, &format!("{DRIVER}\n{row}\n")).await;
    assert_eq!(verdicts, [RowVerdict::Created]);
    let ride = booked(&desk, LIVE, "far_suv", "key-1").await;
    assert_eq!(
        ride["driver"],
        json!({"first_name": "Kiran", "rating": 4.9, "vehicle": "Toyota Innova", "plate": "KA05ZZ0001"})
    );
}

#[tokio::test]
async fn a_file_takes_no_ride_from_its_driver() {
    let (desk, _) = open();
    let ride = booked(&desk, LIVE, "far_sedan", "key-1").await;
    let row = |status: &str| {
        format!(
            "{DRIVER}\nD1,Prakash Rao Hegde,+919800000011,sedan,Maruti Suzuki Dzire,KA01D1,bangalore,12.985,77.6,4.7,{status}\n"
        )
    };
    desk.import(RIDES, "drivers", false, &row("available")).await;
    let sedans = async || {
        let found = desk.ok(LIVE, "get_ride_estimates", asked()).await;
        found["options"].as_array().unwrap().iter().filter(|option| option["vehicle_class"] == "sedan").count()
    };
    assert_eq!(sedans().await, 0, "written before the ride was booked");
    desk.import(RIDES, "drivers", false, &row("off")).await;
    desk.ok(LIVE, "cancel_ride", reference(&ride)).await;
    assert_eq!(sedans().await, 0, "who went off duty meanwhile stays so");
    assert_eq!(desk.import(RIDES, "drivers", false, &row("available")).await, [RowVerdict::Updated]);
    assert_eq!(sedans().await, 1);
}

#[tokio::test]
async fn the_example_files_come_in() {
    let (desk, _) = open();
    let files = [
        ("fares", include_str!("../../../../examples/feeds/fares.csv")),
        ("surges", include_str!("../../../../examples/feeds/surges.csv")),
        ("drivers", include_str!("../../../../examples/feeds/drivers.csv")),
    ];
    for (name, text) in files {
        let verdicts = desk.import(RIDES, name, false, text).await;
        assert!(verdicts.iter().all(|verdict| *verdict == RowVerdict::Created) && verdicts.len() > 1, "{verdicts:?}");
    }
    let ride = json!({
        "city": "Hyderabad", "pickup": {"lat": 17.4156, "lng": 78.4347, "address": "Road 10"},
        "drop": {"lat": 17.4401, "lng": 78.3489, "address": "Gachibowli"},
    });
    let found = desk.ok(LIVE, "get_ride_estimates", ride).await;
    assert_eq!(found["options"].as_array().unwrap().len(), 2, "{found}");
}
