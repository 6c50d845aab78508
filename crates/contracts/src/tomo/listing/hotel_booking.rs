//! Booking rooms, changing a stay and cancelling it. Every change takes or frees its nights in the same plan.

use frontdesk_engine::model::plan::{OnConflict, Plan, Step};
use frontdesk_engine::model::tool::{Future, Item, WriteTool};
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Value, json};

use super::advance::tax_percent;
use super::dates::{StayDates, instant};
use super::hotel::{HotelListing, OfferStatus, RoomKind, RoomRate};
use super::hotel_facts::{POLICY, policy_facts};
use super::hotel_search::{Party, rates_of};
use super::night::Nights;
use super::price::{quote, refund_percent, share, units_of};
use super::{ListingContext, Stay, customer};
use crate::record::{Day, Entity, Integer, Stored as _};
use crate::tomo::booking::{Booking, BookingMode, BookingStatus, answer};
use crate::tomo::codes::{NOT_AVAILABLE, NOT_FOUND, RESULT_EXPIRED};
use crate::tomo::ending::{close, without_tax};
use crate::tomo::known_facts::{Fact, list, text, whole};
use crate::tomo::managed::find_by_code;
use crate::tomo::result_token;

pub(super) struct BookRooms(pub(super) ListingContext);

impl WriteTool for BookRooms {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let BookRooms(context) = self;
            let input = permitted.input();
            let offers =
                result_token::read(permitted, &context.shared, input.text("result_token").unwrap_or_default())?;
            let room_id = input.text("room_id").unwrap_or_default();
            let total_inr = offers.price(room_id).ok_or_else(not_offered)?;
            let (listing, room) = offered_room(permitted, room_id).await?;
            if input.text("listing_id").is_some_and(|id| id != listing.id) {
                return Err(not_offered());
            }
            let dates = dates_of(&offers.search).ok_or_else(not_offered)?;
            let party = Party::read(Some(&offers.search));
            let mut nights = Nights::of(BookingMode::of(permitted));
            let rates = rates_of(permitted, std::slice::from_ref(&room), dates).await?;
            take(permitted, &mut nights, &room, &rates, dates, party.rooms).await?;
            let hotel = &listing.record;
            let stay = Stay {
                listing_name: hotel.name.clone(),
                city: (&*hotel.city).into(),
                room_id: room.id.as_str().into(),
                room_name: room.record.name.clone(),
                check_in: dates.check_in,
                check_out: dates.check_out,
                check_in_time: hotel.check_in_time.clone(),
                rooms: Integer::clamped(party.rooms),
                adults: Integer::clamped(party.adults),
                children: Integer::clamped(party.children),
                tax_percent: Some(room.record.tax_percent),
                cancellation_policy: hotel.cancellation_policy.clone(),
            };
            let starts_at = instant(dates.check_in, &hotel.check_in_time);
            let booking = Booking {
                stay: Some(stay),
                customer: Some(customer::read(permitted, "guest")?),
                ..Booking::confirmed(permitted, &context.shared, &listing.id, total_inr, starts_at)?
            };
            let id = permitted.new_id(Booking::ID_PREFIX);
            let entity = Entity::new(id, permitted.tenant().clone(), permitted.now(), booking);
            let mut steps = vec![unchanged(&room)];
            steps.extend(nights.steps(permitted.now()));
            super::created(&context.tool, entity, steps, stay_facts)
        })
    }

    /// A repeated key gets the booking as it is by now.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let booking = Booking::load_by_id(permitted, &self.0.shared, &stored.id).await?;
            answer(&self.0.tool, &booking, &stay_facts(&booking))
        })
    }
}

pub(super) struct CancelRooms(pub(super) ListingContext);

impl WriteTool for CancelRooms {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let CancelRooms(context) = self;
            let mut booking = Booking::load(permitted, &context.shared).await?;
            if booking.record.status == BookingStatus::Cancelled {
                return super::repeated(&context.tool, &booking, &stay_facts(&booking));
            }
            booking.record.check_open(permitted.now())?;
            let stay = stay_of(&booking)?.clone();
            let mut nights = Nights::of(booking.record.mode);
            free(permitted, &mut nights, &stay).await?;
            let left = booking.record.starts_at.0.saturating_sub(permitted.now().0);
            let percent = refund_percent(&stay.cancellation_policy, left);
            booking.record.refund_inr = Some(Integer::clamped(share(booking.record.total_inr.get(), percent, 100)));
            booking.record.refund_percent = Some(Integer::clamped(percent));
            booking.record.cancelled_at = Some(permitted.now());
            booking.record.status = BookingStatus::Cancelled;
            let kept =
                booking.record.total_inr.get().saturating_sub(share(booking.record.total_inr.get(), percent, 100));
            let tax_percent = tax_percent(permitted, &stay).await?;
            close(&mut booking.record, permitted.now(), without_tax(kept, tax_percent));
            super::changed(permitted, &context.tool, booking, nights.steps(permitted.now()), stay_facts)
        })
    }
}

pub(super) struct ModifyRooms(pub(super) ListingContext);

impl WriteTool for ModifyRooms {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let ModifyRooms(context) = self;
            let mut booking = Booking::load(permitted, &context.shared).await?;
            let before = stay_of(&booking)?.clone();
            let wanted = Wanted::read(permitted, &before)?;
            if wanted.is(&before) && booking.record.status == BookingStatus::Confirmed {
                return super::repeated(&context.tool, &booking, &stay_facts(&booking));
            }
            booking.record.check_open(permitted.now())?;
            wanted.check_dates(permitted, &before)?;
            let (_, room) = offered_room(permitted, &before.room_id).await?;
            if !wanted.party.fits(&room.record) {
                return Err(Fault::invalid_argument("/rooms", "minimum", "so many people need more of these rooms"));
            }
            let mut nights = Nights::of(booking.record.mode);
            free(permitted, &mut nights, &before).await?;
            let rates = rates_of(permitted, std::slice::from_ref(&room), wanted.dates).await?;
            take(permitted, &mut nights, &room, &rates, wanted.dates, wanted.party.rooms).await?;
            let total_inr = revised_total(&booking.record, &before, &wanted, &room.record, &rates);
            let after = Stay {
                check_in: wanted.dates.check_in,
                check_out: wanted.dates.check_out,
                rooms: Integer::clamped(wanted.party.rooms),
                ..before
            };
            booking.record.starts_at = instant(after.check_in, &after.check_in_time);
            booking.record.previous_total_inr = Some(booking.record.total_inr);
            booking.record.total_inr = Integer::clamped(total_inr);
            booking.record.stay = Some(after);
            let mut steps = vec![unchanged(&room)];
            steps.extend(nights.steps(permitted.now()));
            super::changed(permitted, &context.tool, booking, steps, stay_facts)
        })
    }
}

/// What a stay is to become.
struct Wanted {
    dates: StayDates,
    party: Party,
}

impl Wanted {
    /// What is not named stays as it is.
    fn read(permitted: &Permitted<'_>, before: &Stay) -> Result<Wanted, Fault> {
        let arguments = &permitted.input().arguments;
        if !arguments.contains_key("dates") && !arguments.contains_key("rooms") {
            return Err(Fault::invalid_argument("", "minProperties", "dates or rooms is required"));
        }
        let dates = match arguments.get("dates") {
            Some(dates) => {
                dates_of(dates).ok_or_else(|| Fault::invalid_argument("/dates", "format", "two dates are expected"))?
            }
            None => StayDates { check_in: before.check_in, check_out: before.check_out },
        };
        let rooms = arguments.get("rooms").and_then(Value::as_i64).unwrap_or(before.rooms.get());
        let party = Party { adults: before.adults.get(), children: before.children.get(), rooms }.check("")?;
        Ok(Wanted { dates, party })
    }

    fn is(&self, stay: &Stay) -> bool {
        (self.dates.check_in, self.dates.check_out, self.party.rooms)
            == (stay.check_in, stay.check_out, stay.rooms.get())
    }

    fn check_dates(&self, permitted: &Permitted<'_>, before: &Stay) -> Result<(), Fault> {
        if (self.dates.check_in, self.dates.check_out) == (before.check_in, before.check_out) {
            return Ok(());
        }
        StayDates::read(permitted.input().arguments.get("dates"), permitted.now()).map(drop)
    }
}

/// What the room nights that stay have cost so far, and the new ones at what they cost now.
fn revised_total(booking: &Booking, before: &Stay, wanted: &Wanted, room: &RoomKind, rates: &[RoomRate]) -> i64 {
    let had = StayDates { check_in: before.check_in, check_out: before.check_out };
    let (kept, new): (Vec<Day>, Vec<Day>) =
        wanted.dates.nights().into_iter().partition(|night| had.nights().contains(night));
    let rooms_kept = wanted.party.rooms.min(before.rooms.get());
    let count = i64::try_from(kept.len()).unwrap_or(i64::MAX);
    let kept_inr = share(
        booking.total_inr.get(),
        count.saturating_mul(rooms_kept),
        had.count().saturating_mul(before.rooms.get()),
    );
    let added = quote(room, rates, &new, wanted.party.rooms).total_inr();
    let more_rooms = quote(room, rates, &kept, wanted.party.rooms.saturating_sub(rooms_kept)).total_inr();
    kept_inr.saturating_add(added).saturating_add(more_rooms)
}

async fn take(
    permitted: &Permitted<'_>,
    nights: &mut Nights,
    room: &Entity<RoomKind>,
    rates: &[RoomRate],
    dates: StayDates,
    rooms: i64,
) -> Result<(), Fault> {
    for night in dates.nights() {
        let booked = nights.add(permitted, &room.id, night, rooms).await?;
        if booked > units_of(&room.record, rates, night) {
            return Err(Fault::domain(NOT_AVAILABLE, "These rooms are no longer free in every night. Search again."));
        }
    }
    Ok(())
}

async fn free(permitted: &Permitted<'_>, nights: &mut Nights, stay: &Stay) -> Result<(), Fault> {
    let dates = StayDates { check_in: stay.check_in, check_out: stay.check_out };
    for night in dates.nights() {
        nights.add(permitted, &stay.room_id, night, -stay.rooms.get()).await?;
    }
    Ok(())
}

/// The room with its hotel, while both are offered.
async fn offered_room(
    permitted: &Permitted<'_>,
    room_id: &str,
) -> Result<(Entity<HotelListing>, Entity<RoomKind>), Fault> {
    let gone = || Fault::domain(NOT_AVAILABLE, "This room is no longer offered. Search again.");
    let row = permitted.get(RoomKind::table(), room_id).await?.ok_or_else(gone)?;
    let room: Entity<RoomKind> = Entity::restore(permitted.tenant(), &row)?;
    let listing: Entity<HotelListing> =
        find_by_code(permitted, "listing_code", &room.record.listing_code).await?.ok_or_else(gone)?;
    let is_offered = room.record.status == OfferStatus::Listed && listing.record.status == OfferStatus::Listed;
    if is_offered { Ok((listing, room)) } else { Err(gone()) }
}

/// The call holds only while the room stays as it was read: it says how many there are.
fn unchanged(room: &Entity<RoomKind>) -> Step {
    Step::Require {
        table: RoomKind::table(),
        id: room.id.clone(),
        expect_version: room.version,
        on_conflict: OnConflict::Retry,
    }
}

fn dates_of(search: &Value) -> Option<StayDates> {
    let day = |name: &str| search.get(name).and_then(Value::as_str).and_then(Day::parse);
    Some(StayDates { check_in: day("check_in")?, check_out: day("check_out")? })
}

fn not_offered() -> Fault {
    Fault::domain(RESULT_EXPIRED, "This search did not offer that room. Search again and book what it returns.")
}

fn stay_of(booking: &Entity<Booking>) -> Result<&Stay, Fault> {
    let missing = || Fault::domain(NOT_FOUND, "No booking with this booking_ref exists here.");
    booking.record.stay.as_ref().ok_or_else(missing)
}

/// The facts of a stay.
pub(super) const STAY: &[Fact] = &[
    text("listing_id"),
    text("name"),
    text("city"),
    text("room_id"),
    text("room_name"),
    text("check_in"),
    text("check_out"),
    text("check_in_time"),
    whole("nights"),
    whole("rooms"),
    whole("adults"),
    whole("children"),
    list("cancellation_policy", &[POLICY]),
];

/// Everything that an answer about a stay may say. Nothing of the person.
fn stay_facts(booking: &Entity<Booking>) -> Value {
    let mut facts = super::booking_facts(booking);
    let (Some(stay), Some(members)) = (&booking.record.stay, facts.as_object_mut()) else { return facts };
    let dates = StayDates { check_in: stay.check_in, check_out: stay.check_out };
    let own = json!({
        "listing_id": &*booking.record.item_id,
        "name": &*stay.listing_name,
        "city": &*stay.city,
        "room_id": &*stay.room_id,
        "room_name": &*stay.room_name,
        "check_in": stay.check_in.to_string(),
        "check_out": stay.check_out.to_string(),
        "check_in_time": &*stay.check_in_time,
        "nights": dates.count(),
        "rooms": stay.rooms.get(),
        "adults": stay.adults.get(),
        "children": stay.children.get(),
        "cancellation_policy": policy_facts(&stay.cancellation_policy),
    });
    if let Value::Object(own) = own {
        members.extend(own);
    }
    facts
}
