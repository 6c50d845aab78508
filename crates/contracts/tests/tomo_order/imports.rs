//! Restaurants and dishes come in by file; bad rows are named and the others are kept.

use frontdesk_engine::import::{RowProblem, RowVerdict};
use serde_json::json;

use super::data::KITCHENS;
use super::desk::DryRun;
use super::support::{LIVE, open};

const HOURS: &str = r#""[{""weekday"":""saturday"",""opens"":""10:00"",""closes"":""24:00""},{""weekday"":""sunday"",""opens"":""00:00"",""closes"":""01:30""}]""#;
const PAST_MIDNIGHT: &str = r#""[{""weekday"":""saturday"",""opens"":""18:00"",""closes"":""02:00""}]""#;

fn restaurants() -> String {
    let columns = "restaurant_code,name,city,area,address,pincode,latitude,longitude,cuisines,rating,veg_only,time_zone,\
        opening_hours,delivery_radius_km,delivery_fee_inr,packaging_fee_inr,minimum_order_inr,preparation_minutes,\
        accepted_refund_percent,fssai_number";
    format!(
        "{columns}\n\
        PNQ-1,Kothrud Thali,Pune,Kothrud,5 Karve Road,411038,18.5074,73.8077,maharashtrian|desserts,4.4,yes,asia/kolkata,\
        {HOURS},6.5,25,10,150,20,40,11215000000201\n\
        PNQ-2,Odd One,Pune,Kothrud,6 Karve Road,4110,18.5,73.8,maharashtrian,4,no,India/Pune,{PAST_MIDNIGHT},6,0,0,0,20,0,\
        1121500000020\n"
    )
}

const DISHES: &str = r#"dish_code,restaurant_code,name,description,category,price_inr,diet,spice_level,allergens,daily_stock,options
PNQ-1-1,PNQ-1,Puran Poli,A sweet flatbread.,Sweets,90,veg,none,gluten|milk,12,"[{""code"":""GHEE"",""group"":""Extras"",""name"":""More ghee"",""price_inr"":15}]"
PNQ-1-2,PNQ-1,Chicken Thali,Not for this house.,Thali,260,non_veg,hot,,,
PNQ-9-1,PNQ-9,Nowhere Dish,Nobody cooks it.,Thali,260,veg,hot,,,
PNQ-1-3,PNQ-1,Double,Two options of one code.,Thali,260,veg,hot,,,"[{""code"":""A"",""group"":""Size"",""name"":""A"",""choose"":""one""},{""code"":""A"",""group"":""Size"",""name"":""B""}]"
"#;

fn rejected(problems: &[(&str, &str)]) -> RowVerdict {
    let problem =
        |(field, reason): &(&str, &str)| RowProblem { field: (*field).to_owned(), reason: (*reason).to_owned() };
    RowVerdict::Rejected(problems.iter().map(problem).collect())
}

#[tokio::test]
async fn restaurants_and_dishes_come_in_by_file_and_can_be_ordered() {
    let (desk, store) = open();
    let before = store.contents();
    let verdicts = [
        RowVerdict::Created,
        rejected(&[
            ("/opening_hours/0/closes", "it must be later than opens; hours past midnight are two entries."),
            ("/time_zone", "a time zone of the IANA database is expected, such as Asia/Kolkata."),
            ("/pincode", "a pincode of 6 digits is expected."),
            ("/fssai_number", "a licence number of 14 digits is expected."),
        ]),
    ];
    assert_eq!(desk.import(KITCHENS, "restaurants", &restaurants(), DryRun::Yes).await, verdicts);
    assert_eq!(store.contents(), before, "a dry run");
    assert_eq!(desk.import(KITCHENS, "restaurants", &restaurants(), DryRun::No).await, verdicts);
    let verdicts = [
        RowVerdict::Created,
        rejected(&[("/diet", "everything that this restaurant has is veg.")]),
        rejected(&[("/restaurant_code", "there is no restaurant with this code; import it first.")]),
        rejected(&[
            ("/options/1/code", "another option has this code."),
            ("/options/1/choose", "all options of a group say the same."),
        ]),
    ];
    assert_eq!(desk.import(KITCHENS, "dishes", DISHES, DryRun::No).await, verdicts);
    let again = desk.import(KITCHENS, "dishes", DISHES, DryRun::No).await;
    assert_eq!((&again[0], &again[1..]), (&RowVerdict::Unchanged, &verdicts[1..]));

    let search = json!({"location": {"city": "Poona"}, "query": "puran poli"});
    let found = desk.ok(LIVE, "search_restaurants_and_dishes", search).await;
    let one = &found["results"][0];
    assert_eq!((&one["name"], &one["cuisines"]), (&json!("Kothrud Thali"), &json!(["maharashtrian", "desserts"])));
    assert_eq!((&one["veg_only"], &one["rating"]), (&json!(true), &json!(4.4)));
    let dish = &one["dishes"][0];
    let items = json!([{"dish_id": dish["dish_id"], "quantity": 12, "option_codes": ["GHEE"]}]);
    let wanted = json!({"restaurant_id": one["restaurant_id"], "items": items, "location": {"pincode": "411038"}});
    let total = desk.ok(LIVE, "compute_cart_total", wanted.clone()).await;
    assert_eq!((&total["subtotal_inr"], &total["tax_percent"]), (&json!(1260), &json!(5)), "tax is 5 if absent");
    // Half an hour after midnight it is still open, and a quarter past two it is not.
    desk.clock.advance(13 * 3_600_000);
    desk.ok(LIVE, "compute_cart_total", wanted.clone()).await;
    desk.clock.advance(3_600_000);
    assert_eq!(desk.code(LIVE, "compute_cart_total", wanted).await, "RESTAURANT_CLOSED");
}

#[tokio::test]
async fn the_example_files_come_in() {
    let (desk, _) = open();
    for (name, text) in [
        ("restaurants", include_str!("../../../../examples/feeds/restaurants.csv")),
        ("dishes", include_str!("../../../../examples/feeds/dishes.csv")),
    ] {
        let first = desk.import(KITCHENS, name, text, DryRun::No).await;
        assert!(!first.is_empty() && first.iter().all(|verdict| *verdict == RowVerdict::Created), "{first:?}");
        let again = desk.import(KITCHENS, name, text, DryRun::No).await;
        assert!(again.iter().all(|verdict| *verdict == RowVerdict::Unchanged), "{again:?}");
    }
    let search = json!({"location": {"city": "Mysore"}, "query": "dosa"});
    let found = desk.ok(LIVE, "search_restaurants_and_dishes", search).await;
    assert_eq!(found["results"][0]["name"], "Sample Dosa House");
}
