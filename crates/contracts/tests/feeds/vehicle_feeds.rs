//! Feeds of vehicles as Google's listings and HomeNet's exports have them.

use serde_json::json;

use super::support::{american, arguments, report, settings, vehicles};

const GOOGLE: &str = "\
vin\tid\tstore_code\tdealership_name\tdealership_address\tprice\tvehicle_msrp\tcondition\tcertified_pre-owned\tmake\tmodel\t\
trim\tyear\tmileage\texterior_color\tdate_in_stock\timage_link\tadditional_image_link\tlink\n\
2T3P1RFVXMC100001\tG-1\t77\tExample Motors\t1 Main St\t28,999.00 USD\t\tused\tyes\tToyota\tRAV4\tXLE\t2021\t32,000 miles\t\
Blue\t2026-10-02\thttps://i.example/1.jpg\thttps://i.example/2.jpg,https://i.example/w_300,h_200/3.jpg\thttps://d.example/1\n\
4T1C11AK4NU100002\tG-2\t77\tExample Motors\t1 Main St\t27450 USD\t28100 USD\tnew\tno\tToyota\tCamry\t\t2022\t\t\t\t\t\t\n";

#[test]
fn google_vehicle_listings_are_read() {
    assert_eq!(
        arguments(GOOGLE.as_bytes(), settings("")),
        [
            json!({
                "vin": "2T3P1RFVXMC100001", "stock_number": "G-1", "condition": "certified_pre_owned", "year": 2021,
                "make": "Toyota", "model": "RAV4", "trim": "XLE", "mileage": {"value": 32_000, "unit": "mi"},
                "exterior_color": "Blue", "in_stock_at": "2026-10-02T00:00:00Z",
                "price": {"amount": 2_899_900, "currency": "USD"},
                "media": [
                    {"url": "https://i.example/1.jpg", "type": "image", "alt": "2021 Toyota RAV4", "order": 0},
                    {"url": "https://i.example/2.jpg", "type": "image", "alt": "2021 Toyota RAV4", "order": 1},
                    {"url": "https://i.example/w_300,h_200/3.jpg", "type": "image", "alt": "2021 Toyota RAV4", "order": 2},
                ],
            }),
            json!({
                "vin": "4T1C11AK4NU100002", "stock_number": "G-2", "condition": "new", "year": 2022, "make": "Toyota",
                "model": "Camry", "mileage": {"value": 0, "unit": "mi"},
                "price": {"amount": 2_745_000, "currency": "USD"}, "msrp": {"amount": 2_810_000, "currency": "USD"},
            }),
        ]
    );
}

const HOMENET: &str = "\
DealerId,Stock,VIN,Type,Year,Make,Model,ModelNumber,Body,Trim,Doors,ExteriorColor,InteriorColor,EngineDescription,\
Transmission,Miles,SellingPrice,MSRP,Certified,DateInStock,Description,Options,Drivetrain,Fuel,ImageList\n\
MP01,H100,1FTFW1E82NFA00003,Used,2022,Ford,F-150,W1E,Crew Cab Pickup,XLT,4,Oxford White,Grey,3.5L V6,\
10-Speed Automatic,41250,38995,0,True,11/18/2026 12:00:00 AM,\"Clean, one owner.\",\"Tow hitch,Bed liner\",4WD,Gasoline Fuel,\
https://i.example/a.jpg|https://i.example/b.jpg\n\
MP01,H101,5YJ3E1EAXKF100004,New,2019,Tesla,Model 3,,4dr Sedan,,4,Black,White,Electric motor,Single-Speed,,45200,47100,False,\
10/02/2026,,,RWD,Electric,\n";

#[test]
fn homenet_exports_are_read() {
    assert_eq!(
        arguments(HOMENET.as_bytes(), american()),
        [
            json!({
                "vin": "1FTFW1E82NFA00003", "stock_number": "H100", "condition": "certified_pre_owned", "year": 2022,
                "make": "Ford", "model": "F-150", "trim": "XLT", "body_style": "pickup", "doors": 4,
                "mileage": {"value": 41_250, "unit": "mi"}, "exterior_color": "Oxford White", "interior_color": "Grey",
                "engine": "3.5L V6", "transmission": "automatic", "drivetrain": "four_wd", "fuel_type": "gasoline",
                "options": [{"name": "Tow hitch"}, {"name": "Bed liner"}],
                "media": [
                    {"url": "https://i.example/a.jpg", "type": "image", "alt": "2022 Ford F-150", "order": 0},
                    {"url": "https://i.example/b.jpg", "type": "image", "alt": "2022 Ford F-150", "order": 1},
                ],
                "price": {"amount": 3_899_500, "currency": "USD"},
                "in_stock_at": "2026-11-18T00:00:00Z", "description": "Clean, one owner.",
            }),
            json!({
                "vin": "5YJ3E1EAXKF100004", "stock_number": "H101", "condition": "new", "year": 2019, "make": "Tesla",
                "model": "Model 3", "body_style": "sedan", "doors": 4, "mileage": {"value": 0, "unit": "mi"},
                "exterior_color": "Black", "interior_color": "White", "engine": "Electric motor",
                "transmission": "direct_drive", "drivetrain": "rwd", "fuel_type": "electric",
                "price": {"amount": 4_520_000, "currency": "USD"}, "msrp": {"amount": 4_710_000, "currency": "USD"},
                "in_stock_at": "2026-10-02T00:00:00Z",
            }),
        ]
    );
}

#[test]
fn condition_and_certified_must_agree() {
    let feed = |type_and_certified: &str| {
        format!(
            "vin,stock,year,make,model,miles,price,type,certified\n\
             5YJ3E1EAXKF100004,T-1,2019,Tesla,Model 3,5,24999,{type_and_certified}\n"
        )
    };
    let of = |text: &str| report(feed(text).as_bytes(), american());
    for (text, condition) in [
        ("U,1", "certified_pre_owned"),
        (",yes", "certified_pre_owned"),
        ("CPO,", "certified_pre_owned"),
        ("N,no", "new"),
    ] {
        assert_eq!(arguments(feed(text).as_bytes(), american())[0]["condition"], condition, "{text}");
    }
    assert_eq!(of("New,yes"), ["2: certified: only a used vehicle can be certified, and the condition says otherwise"]);
    assert_eq!(
        of("CPO,no"),
        ["2: certified: this says that the vehicle is not certified, and the condition that it is"]
    );
    assert_eq!(of("used,perhaps"), ["2: certified: yes or no is expected"]);
    assert_eq!(of(",no"), ["2: type: it is required, as one of these: new, used, certified_pre_owned, demo"]);
}

#[test]
fn a_used_vehicle_needs_its_mileage() {
    let feed = "vin,stock,year,make,model,price,type\n5YJ3E1EAXKF100004,T-1,2019,Tesla,Model 3,24999,used\n";
    assert_eq!(report(feed.as_bytes(), american()), ["2: mileage: it is required"]);
}

#[test]
fn a_price_of_0_is_no_price() {
    let feed =
        "vin,stock,year,make,model,miles,type,Internet Price\n5YJ3E1EAXKF100004,T-1,2019,Tesla,Model 3,5,used,0.00\n";
    assert_eq!(
        report(feed.as_bytes(), american()),
        ["2: Internet Price: a price of 0 would be offered as one: give the price, or leave the vehicle out"]
    );
}

#[test]
fn pictures_must_be_addresses() {
    let feed = "vin,stock,year,make,model,miles,price,type,images\n\
                5YJ3E1EAXKF100004,T-1,2019,Tesla,Model 3,5,24999,used,a.jpg|b.jpg\n";
    assert_eq!(
        report(feed.as_bytes(), american()),
        ["2: images: addresses of pictures are expected, each beginning with https:// or http://"]
    );
}

#[test]
fn every_other_word_of_a_vocabulary_has_its_meaning() {
    let synonyms = vehicles().synonyms;
    assert!(synonyms.len() > 50);
    for synonym in synonyms {
        let feed = format!(
            "vin,stock,year,make,model,miles,price{},{}\n5YJ3E1EAXKF100004,T-1,2019,Tesla,Model 3,5,24999{},{}\n",
            if synonym.field == "condition" { "" } else { ",condition" },
            synonym.field,
            if synonym.field == "condition" { "" } else { ",used" },
            synonym.text,
        );
        assert_eq!(arguments(feed.as_bytes(), american())[0][synonym.field], synonym.word, "{synonym:?}");
    }
}
