//! Made-up restaurants for the demo, the same on every machine. None of them exists.

use frontdesk_engine::model::plan::{Change, Event, Step};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, TenantId};

use super::demo_menus::{DISHES, DemoDish, DemoRestaurant, RESTAURANTS};
use super::dish::{Dish, DishOption, DishStatus};
use super::restaurant::{Restaurant, RestaurantStatus};
use crate::calendar::{Weekday, WeekdayHours};
use crate::record::{Entity, FixedDecimal, Integer, List, Stored};
use crate::tomo::TENANT;

/// The business that delivers: its id and its name.
pub const BUSINESS: (&str, &str) = ("fod_monsoon", "Monsoon Kitchens");

/// Its restaurants and dishes, as steps to commit. `new_id` generates an id with a prefix.
pub fn rows(now: Millis, new_id: &mut dyn FnMut(&str) -> String) -> (Vec<Step>, Vec<Event>) {
    // Whole seconds, the precision of published times.
    let now = Millis(now.seconds() * 1000);
    let mut rows = DemoRows { now, new_id, steps: Vec::new(), events: Vec::new() };
    for demo in &RESTAURANTS {
        rows.add(restaurant(demo));
    }
    for demo in &DISHES {
        rows.add(dish(demo));
    }
    (rows.steps, rows.events)
}

struct DemoRows<'a> {
    now: Millis,
    new_id: &'a mut dyn FnMut(&str) -> String,
    steps: Vec<Step>,
    events: Vec<Event>,
}

impl DemoRows<'_> {
    fn add<R: Stored>(&mut self, record: R) {
        // The id of the demo's business is valid, so this does not happen.
        let Some(tenant) = TenantId::parse(BUSINESS.0) else { return };
        let entity = Entity::new((self.new_id)(R::ID_PREFIX), tenant, self.now, record);
        self.events.push(Event { kind: R::TABLE_NAME, id: entity.id.clone(), change: Change::Created });
        let on_duplicate = Fault::internal("demo data exists already");
        self.steps.push(Step::Insert { table: R::table(), row: entity.row(TENANT), on_duplicate });
    }
}

fn restaurant(demo: &DemoRestaurant) -> Restaurant {
    use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    let week = [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday];
    let hours = week.into_iter().flat_map(|weekday| {
        demo.hours.iter().map(move |(opens, closes)| WeekdayHours {
            weekday,
            opens: (*opens).into(),
            closes: (*closes).into(),
        })
    });
    Restaurant {
        restaurant_code: demo.code.into(),
        name: demo.name.into(),
        city: "Bengaluru".into(),
        area: demo.area.into(),
        address: demo.address.into(),
        pincode: demo.pincode.into(),
        latitude: FixedDecimal::scaled(demo.at.0),
        longitude: FixedDecimal::scaled(demo.at.1),
        cuisines: List(demo.cuisines.to_vec()),
        rating: Some(FixedDecimal::scaled(demo.rating)),
        veg_only: demo.veg_only,
        time_zone: "Asia/Kolkata".into(),
        opening_hours: List(hours.collect()),
        closed_days: List::default(),
        delivery_radius_km: FixedDecimal::scaled(demo.radius),
        delivery_fee_inr: Integer::clamped(demo.delivery_fee_inr),
        packaging_fee_inr: Integer::clamped(demo.packaging_inr),
        minimum_order_inr: Integer::clamped(demo.minimum_inr),
        tax_percent: Integer::constant::<5>(),
        preparation_minutes: Integer::clamped(demo.minutes),
        accepted_refund_percent: Integer::clamped(demo.refund_percent),
        fssai_number: demo.fssai.into(),
        status: RestaurantStatus::Offered,
    }
}

fn dish(demo: &DemoDish) -> Dish {
    let option = |(code, group, name, price, choose): &super::demo_menus::DemoDishOption| DishOption {
        code: (*code).into(),
        group: (*group).into(),
        name: (*name).into(),
        price_inr: Integer::clamped(*price),
        choose: *choose,
    };
    Dish {
        dish_code: demo.code.into(),
        restaurant_code: demo.code.split_once('-').map_or(demo.code, |(restaurant, _)| restaurant).into(),
        name: demo.name.into(),
        description: demo.about.into(),
        category: demo.category.into(),
        price_inr: Integer::clamped(demo.price_inr),
        diet: demo.diet,
        spice_level: demo.spice,
        allergens: List(demo.allergens.to_vec()),
        daily_stock: demo.daily_stock.map(Integer::clamped),
        options: List(demo.options.iter().map(option).collect()),
        status: DishStatus::Offered,
    }
}
