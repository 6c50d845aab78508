//! What is known of a hotel and of its rooms, in the words of this contract.

use serde_json::{Value, json};

use super::RefundTier;
use super::hotel::{HotelListing, RoomKind};
use crate::record::{Entity, Text, Vocabulary as _};
use crate::tomo::known_facts::{Fact, boolean, decimal, list, text, texts, whole};

/// The facts of a hotel.
pub(super) const HOTEL: &[Fact] = &[
    text("listing_id"),
    text("listing_code"),
    text("name"),
    text("city"),
    text("area"),
    text("address"),
    text("pincode"),
    text("country_code"),
    text("currency"),
    decimal("lat"),
    decimal("lng"),
    whole("star_rating"),
    decimal("guest_rating"),
    texts("amenities"),
    text("image_url"),
    texts("images"),
    text("description"),
    text("check_in_time"),
    text("check_out_time"),
    list("cancellation_policy", &[POLICY]),
    boolean("is_refundable"),
];

/// The facts of a tier of a cancellation policy.
pub(super) const POLICY: &[Fact] = &[whole("hours_before"), whole("refund_percent")];

/// The facts of a kind of room.
pub(super) const ROOM: &[Fact] = &[
    text("room_id"),
    text("room_code"),
    text("name"),
    whole("max_guests"),
    whole("units"),
    text("bed_type"),
    text("meal_plan"),
    whole("base_price_inr"),
    whole("tax_percent"),
];

/// What is known of a hotel whatever is searched.
pub(super) fn hotel_facts(listing: &Entity<HotelListing>) -> Value {
    let hotel = &listing.record;
    let texts = |texts: &[Text<2000>]| texts.iter().map(|text| json!(&**text)).collect::<Value>();
    let tiers = policy_facts(&hotel.cancellation_policy);
    json!({
        "listing_id": listing.id,
        "listing_code": &*hotel.listing_code,
        "name": &*hotel.name,
        "city": &*hotel.city,
        "area": &*hotel.area,
        "address": &*hotel.address,
        "pincode": &*hotel.pincode,
        "country_code": "IN",
        "currency": "INR",
        "lat": hotel.latitude.to_f64(),
        "lng": hotel.longitude.to_f64(),
        "star_rating": hotel.star_rating.get(),
        "guest_rating": hotel.guest_rating.map(|rating| rating.to_f64()),
        "amenities": hotel.amenities.iter().map(|amenity| amenity.as_str()).collect::<Vec<_>>(),
        "image_url": hotel.images.first().map(|image| &**image),
        "images": texts(&hotel.images),
        "description": hotel.description.as_deref(),
        "check_in_time": &*hotel.check_in_time,
        "check_out_time": &*hotel.check_out_time,
        "cancellation_policy": tiers,
        "is_refundable": hotel.cancellation_policy.iter().any(|tier| tier.refund_percent.get() > 0),
    })
}

pub(super) fn policy_facts(tiers: &[RefundTier]) -> Value {
    let fact = |tier: &RefundTier| json!({"hours_before": tier.hours_before.get(), "refund_percent": tier.refund_percent.get()});
    tiers.iter().map(fact).collect()
}

pub(super) fn room_facts(room: &Entity<RoomKind>) -> Value {
    let kind = &room.record;
    json!({
        "room_id": room.id,
        "room_code": &*kind.room_code,
        "name": &*kind.name,
        "max_guests": kind.max_guests.get(),
        "units": kind.units.get(),
        "bed_type": kind.bed_type.as_str(),
        "meal_plan": kind.meal_plan.as_str(),
        "base_price_inr": kind.base_price_inr.get(),
        "tax_percent": kind.tax_percent.get(),
    })
}
