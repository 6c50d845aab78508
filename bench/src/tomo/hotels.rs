//! A made-up hotel business in ten cities, made anew for each run through the store's own commit, and the folders of the two
//! servers that sell its rooms.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use frontdesk::app::DataBackend;
use frontdesk::config::DatabaseConfig;
use frontdesk::data_dir::{self, DataDir};
use frontdesk::net;
use frontdesk::system::SystemClock;
use frontdesk_contracts::record::{Day, Entity, FixedDecimal, Integer, List, Stored};
use frontdesk_contracts::tomo::TENANT as TENANT_MEMBER;
use frontdesk_contracts::tomo::listing::RefundTier;
use frontdesk_contracts::tomo::listing::hotel::{
    Amenity, BedType, HotelListing, MealPlan, OfferStatus, RoomKind, RoomRate,
};
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Item;
use frontdesk_engine::ports::Clock as _;
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::ports::{Commit, Committed};
use frontdesk_engine::{Fault, TenantId};
use time::{Duration, OffsetDateTime};

use crate::cms::SiteSource;
use crate::database::{Storage, copy_folder};
use crate::seed::explain;
use crate::{BenchResult, Options};

pub const TENANT: &str = "htl_bench";
/// One partner may make 60,000 calls a minute, which a bench reaches; so several sell the rooms of the business, and each
/// stays below that.
const PARTNERS: usize = 16;
/// None of them has another name, so that each is searched for by one.
pub const CITIES: [&str; 10] =
    ["Agra", "Ahmedabad", "Bhopal", "Delhi", "Hyderabad", "Indore", "Jaipur", "Lucknow", "Nagpur", "Surat"];
/// As many as an answer has at most.
pub const HOTELS_OF_A_CITY: usize = 20;
pub const HOTELS: usize = CITIES.len() * HOTELS_OF_A_CITY;
pub const ROOMS_OF_A_CITY: usize = HOTELS_OF_A_CITY * ROOMS.len();

const ROOMS: [(&str, i64, BedType); 3] =
    [("Standard", 100, BedType::Queen), ("Deluxe", 130, BedType::King), ("Twin", 110, BedType::Twin)];
/// More than are booked in a run.
const UNITS: i64 = 10_000;
/// The first night that is searched for, in days from today; the rates cover all of them.
const FIRST_NIGHT: i64 = 200;
const RATE_DAYS: [i64; 2] = [100, 500];
const CHUNK: usize = 500;

pub fn path(caller: usize) -> String {
    format!("/mcp/tomo/{}", partner(caller))
}

/// Of servers that nobody reaches from outside.
pub fn bearer(caller: usize) -> String {
    format!("token-of-{}-0123456789abcdef0123456789", partner(caller))
}

fn partner(caller: usize) -> String {
    format!("bench{:02}", caller % PARTNERS)
}

/// The days of arrival and departure of a caller.
pub fn nights(caller: usize) -> [String; 2] {
    let first = FIRST_NIGHT + 2 * i64::try_from(caller).unwrap_or_default();
    [day(first), day(first + 2)]
}

fn day(days_ahead: i64) -> String {
    let now = OffsetDateTime::from_unix_timestamp(SystemClock.now().seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let date = (now + Duration::days(days_ahead)).date();
    format!("{}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
}

/// A folder for each of the two servers.
pub async fn create(options: &Options) -> BenchResult<(Storage, Storage)> {
    options.log(&format!("making {HOTELS} hotels on sqlite"));
    let folder = options.work.join("tomo");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let [seeded, desk, bare] = ["seeded", "frontdesk", "reference"].map(|name| folder.join(name));
    fill(&seeded).await?;
    copy_folder(&seeded, &desk)?;
    copy_folder(&seeded, &bare)?;
    configure(&desk)?;
    Ok((Storage::with_partner(desk), Storage::with_partner(bare)))
}

fn configure(folder: &Path) -> BenchResult<()> {
    let mut config = String::new();
    for number in 0..PARTNERS {
        let (partner, path) = (partner(number), path(number));
        let tokens = folder.join(&partner);
        fs::write(&tokens, bearer(number))?;
        fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600))?;
        let tokens = fs::canonicalize(tokens)?;
        config.push_str(&format!(
            "[[mount]]\ncontract = \"tomo\"\npath = \"{path}\"\ntenant = \"{TENANT}\"\n\
             intents = [\"travel.book_hotel\"]\n\
             [mount.partner]\nid = \"{partner}\"\ncompany = \"Bench Stays\"\n\
             signals = {{ time = 0.6, taste = 0.8, budget = 0.5, safety = 0.7 }}\nservice_area = [\"Delhi\"]\n\
             pricing_band = \"good\"\ncallback = \"https://tomo.example/api/v1/cpc/mcp_provider/{partner}\"\n\
             [mount.auth]\nlive_tokens = {tokens:?}\n\n"
        ));
    }
    Ok(fs::write(folder.join(SiteSource::CONFIG), config)?)
}

async fn fill(folder: &Path) -> BenchResult<()> {
    let backend = DataBackend::open(DataDir::lock(folder)?, &DatabaseConfig::Embedded).await?;
    let now = backend.clock.now();
    net::ensure(&data_dir::tls_dir(folder), &[], OffsetDateTime::from_unix_timestamp(now.seconds())?)?;
    let tenant = TenantId::parse(TENANT).ok_or("a tenant's id is not one")?;
    let mut registered = Tenant::new(tenant.clone(), "Bench Stays");
    registered.profile = serde_json::from_str(r#"{"currency":"INR"}"#)?;
    backend.store.add_tenant(registered, "{}".to_owned()).await.map_err(explain)?;
    let mut new = NewRows { tenant: tenant.clone(), now, steps: Vec::new() };
    new.add_all()?;
    let mut steps = new.steps.into_iter().peekable();
    while steps.peek().is_some() {
        let commit = Commit {
            tenant: tenant.clone(),
            at: now,
            steps: steps.by_ref().take(CHUNK).collect(),
            events: Vec::new(),
            claim: None,
            answer: Item { id: TENANT.to_owned(), version: 0, body: "{}".to_owned(), masked: None, personal: None },
            audit: "{}".to_owned(),
        };
        match backend.store.commit(commit).await.map_err(explain)? {
            Committed::Done => {}
            Committed::Refused(fault) => return Err(explain(fault)),
            Committed::AlreadyClaimed(_) | Committed::VersionConflict | Committed::Unknown => {
                return Err("generated hotels could not be written".into());
            }
        }
    }
    Ok(())
}

struct NewRows {
    tenant: TenantId,
    now: Millis,
    steps: Vec<Step>,
}

impl NewRows {
    fn add_all(&mut self) -> BenchResult<()> {
        let [from, until] = RATE_DAYS.map(|ahead| Day::parse(&day(ahead)));
        let (from_night, until_night) = from.zip(until).ok_or("a day is not one")?;
        for number in 0..HOTELS {
            let hotel = hotel(number);
            for (place, (name, percent, bed_type)) in ROOMS.into_iter().enumerate() {
                let price = base_price(number) * percent / 100;
                let room = RoomKind {
                    room_code: format!("{}-{place}", &*hotel.listing_code).as_str().into(),
                    listing_code: hotel.listing_code.clone(),
                    name: name.into(),
                    max_guests: Integer::clamped(3),
                    units: Integer::clamped(UNITS),
                    bed_type,
                    meal_plan: MealPlan::Breakfast,
                    base_price_inr: Integer::clamped(price),
                    tax_percent: Integer::clamped(12),
                    status: OfferStatus::Listed,
                };
                self.add(RoomRate {
                    rate_code: format!("{}-R", &*room.room_code).as_str().into(),
                    room_code: room.room_code.clone(),
                    from_night,
                    until_night,
                    price_inr: Integer::clamped(price * 5 / 4),
                    units_closed: Integer::constant::<0>(),
                });
                self.add(room);
            }
            self.add(hotel);
        }
        Ok(())
    }

    fn add<R: Stored>(&mut self, record: R) {
        let id = format!("{}_{:026}", R::ID_PREFIX, self.steps.len());
        let row = Entity::new(id, self.tenant.clone(), self.now, record).row(TENANT_MEMBER);
        let on_duplicate = Fault::internal("a generated row is there already");
        self.steps.push(Step::Insert { table: R::table(), row, on_duplicate });
    }
}

fn base_price(hotel: usize) -> i64 {
    3_000 + i64::try_from(hotel).unwrap_or_default() * 37 % 4_000
}

fn hotel(number: usize) -> HotelListing {
    let city = CITIES.get(number / HOTELS_OF_A_CITY).copied().unwrap_or_default();
    let place = i64::try_from(number).unwrap_or_default();
    let tier = |hours, percent| RefundTier {
        hours_before: Integer::clamped(hours),
        refund_percent: Integer::clamped(percent),
    };
    let image = |image: usize| format!("https://media.example.com/hotels/{number}/{image}.jpg").as_str().into();
    HotelListing {
        listing_code: format!("H{number:04}").as_str().into(),
        name: format!("Hotel {number} of {city}").as_str().into(),
        city: city.into(),
        area: "Old Town".into(),
        address: format!("{number} Station Road").as_str().into(),
        pincode: format!("{:06}", 110_000 + number).as_str().into(),
        latitude: FixedDecimal::scaled(20_000_000 + place * 1_000),
        longitude: FixedDecimal::scaled(75_000_000 + place * 1_000),
        star_rating: Integer::clamped(3 + place % 3),
        guest_rating: Some(FixedDecimal::scaled(35 + place % 14)),
        amenities: List(vec![Amenity::Wifi, Amenity::Parking, Amenity::Restaurant, Amenity::AirConditioning]),
        images: List((1..=3).map(image).collect()),
        description: Some(format!("A made-up hotel in the old town of {city}, near the station.").as_str().into()),
        check_in_time: "14:00".into(),
        check_out_time: "11:00".into(),
        cancellation_policy: List(vec![tier(48, 100), tier(24, 50)]),
        status: OfferStatus::Listed,
    }
}
