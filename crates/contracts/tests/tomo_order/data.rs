//! Made-up restaurants: one that is always open, one for late nights, one far away, and what they cook.

use frontdesk_contracts::calendar::{Weekday, WeekdayHours};
use frontdesk_contracts::record::{Entity, FixedDecimal, Integer, List, Stored};
use frontdesk_contracts::tomo::order::dish::{Allergen, Diet, Dish, DishOption, DishStatus, OptionChoice, SpiceLevel};
use frontdesk_contracts::tomo::order::restaurant::{Cuisine, Restaurant, RestaurantStatus};
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, TenantId};

use super::desk::Seeds;

/// 2027-02-20T06:00:00Z, a Saturday; 11:30 in India.
pub(crate) const NOW: Millis = Millis(1_803_103_200_000);

pub(crate) const KITCHENS: &str = "fod_karnataka";
/// Another business with the same codes.
pub(crate) const OTHERS: &str = "fod_telangana";

pub(crate) fn seeds() -> Seeds {
    Seeds { now: NOW, tenants: vec![(KITCHENS, rows(KITCHENS)), (OTHERS, Vec::new())] }
}

pub(crate) fn insert<R: Stored>(tenant: &str, id: &str, record: R) -> Step {
    let entity = Entity::new(id.to_owned(), TenantId::parse(tenant).unwrap(), NOW, record);
    Step::Insert { table: R::table(), row: entity.row("tenant"), on_duplicate: Fault::internal("seeded twice") }
}

fn rows(tenant: &str) -> Vec<Step> {
    let night = Restaurant {
        name: "Late Night Grill".into(),
        pincode: "560034".into(),
        latitude: FixedDecimal::scaled(12_935_200),
        longitude: FixedDecimal::scaled(77_624_500),
        cuisines: List(vec![Cuisine::NorthIndian]),
        rating: Some(FixedDecimal::scaled(47)),
        veg_only: false,
        opening_hours: List(vec![hours(Weekday::Saturday, "19:00", "24:00"), hours(Weekday::Sunday, "00:00", "02:00")]),
        delivery_fee_inr: Integer::clamped(19),
        preparation_minutes: Integer::clamped(10),
        ..restaurant("GRILL")
    };
    let far = Restaurant {
        name: "Hyderabad Dosa Corner".into(),
        city: "Hyderabad".into(),
        area: "Banjara Hills".into(),
        pincode: "500034".into(),
        latitude: FixedDecimal::scaled(17_415_600),
        longitude: FixedDecimal::scaled(78_434_700),
        ..restaurant("FAR")
    };
    let unrated = Restaurant { rating: None, ..restaurant("UNRATED") };
    let withdrawn = Restaurant { status: RestaurantStatus::Withdrawn, ..restaurant("GONE") };
    let dosa = Dish {
        options: List(vec![
            option("GHEE", "Extras", 20, OptionChoice::Any),
            option("CHEESE", "Extras", 35, OptionChoice::Any),
            option("SMALL", "Size", 0, OptionChoice::One),
            option("LARGE", "Size", 45, OptionChoice::One),
        ]),
        allergens: List(vec![Allergen::Mustard]),
        ..dish("TIFFIN-1", "Masala Dosa", 95)
    };
    let last = Dish { daily_stock: Some(Integer::clamped(1)), ..dish("TIFFIN-3", "Last Payasam", 80) };
    let few = Dish { daily_stock: Some(Integer::clamped(5)), ..dish("TIFFIN-4", "Special Pongal", 110) };
    let sold_out = Dish { status: DishStatus::SoldOut, ..dish("TIFFIN-5", "Rava Kesari", 60) };
    let off_menu = Dish { status: DishStatus::Withdrawn, ..dish("TIFFIN-6", "Old Dosa", 50) };
    let kebab = Dish { diet: Diet::NonVeg, spice_level: SpiceLevel::Hot, ..dish("GRILL-1", "Seekh Kebab", 260) };
    vec![
        insert(tenant, "rst_tiffin", restaurant("TIFFIN")),
        insert(tenant, "rst_grill", night),
        insert(tenant, "rst_far", far),
        insert(tenant, "rst_unrated", unrated),
        insert(tenant, "rst_gone", withdrawn),
        insert(tenant, "dsh_dosa", dosa),
        insert(tenant, "dsh_coffee", dish("TIFFIN-2", "Filter Coffee", 41)),
        insert(tenant, "dsh_last", last),
        insert(tenant, "dsh_few", few),
        insert(tenant, "dsh_sold_out", sold_out),
        insert(tenant, "dsh_off_menu", off_menu),
        insert(tenant, "dsh_kebab", kebab),
        insert(tenant, "dsh_paneer", dish("GRILL-2", "Paneer Tikka", 220)),
        insert(tenant, "dsh_far_dosa", dish("FAR-1", "Masala Dosa", 90)),
        insert(tenant, "dsh_unrated_dosa", dish("UNRATED-1", "Paper Dosa", 90)),
        insert(tenant, "dsh_gone_dosa", dish("GONE-1", "Masala Dosa", 10)),
    ]
}

/// Always open, for vegetarians, in the middle of Bengaluru.
pub(crate) fn restaurant(code: &str) -> Restaurant {
    use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    let week = [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday];
    Restaurant {
        restaurant_code: code.into(),
        name: "Anytime Tiffin".into(),
        city: "Bengaluru".into(),
        area: "Shivajinagar".into(),
        address: "3 Church Street".into(),
        pincode: "560001".into(),
        latitude: FixedDecimal::scaled(12_974_900),
        longitude: FixedDecimal::scaled(77_606_200),
        cuisines: List(vec![Cuisine::SouthIndian, Cuisine::Beverages]),
        rating: Some(FixedDecimal::scaled(43)),
        veg_only: true,
        time_zone: "Asia/Kolkata".into(),
        opening_hours: List(week.map(|weekday| hours(weekday, "00:00", "24:00")).to_vec()),
        closed_days: List(vec!["2027-03-04".into()]),
        delivery_radius_km: FixedDecimal::scaled(80),
        delivery_fee_inr: Integer::clamped(29),
        packaging_fee_inr: Integer::clamped(10),
        minimum_order_inr: Integer::clamped(60),
        tax_percent: Integer::clamped(5),
        preparation_minutes: Integer::clamped(15),
        accepted_refund_percent: Integer::clamped(50),
        fssai_number: "11215000000101".into(),
        status: RestaurantStatus::Offered,
    }
}

pub(crate) fn hours(weekday: Weekday, opens: &str, closes: &str) -> WeekdayHours {
    WeekdayHours { weekday, opens: opens.into(), closes: closes.into() }
}

fn dish(code: &str, name: &str, price: i64) -> Dish {
    Dish {
        dish_code: code.into(),
        restaurant_code: code.split_once('-').unwrap().0.into(),
        name: name.into(),
        description: "Freshly made.".into(),
        category: "Favourites".into(),
        price_inr: Integer::clamped(price),
        diet: Diet::Veg,
        spice_level: SpiceLevel::Mild,
        allergens: List::default(),
        daily_stock: None,
        options: List::default(),
        status: DishStatus::Offered,
    }
}

fn option(code: &str, group: &str, price: i64, choose: OptionChoice) -> DishOption {
    DishOption {
        code: code.into(),
        group: group.into(),
        name: format!("{group} {code}").as_str().into(),
        price_inr: Integer::clamped(price),
        choose,
    }
}
