//! The controlled vocabularies of the contract. A `VocabularyTerm` can only hold a term of its vocabulary, so no answer
//! can contain a value that was not published (A5-11).

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The term for a value outside the vocabulary (A5-12).
pub const UNKNOWN: &str = "unknown";

/// The published term, or `unknown`.
pub fn term_or_unknown(words: &'static [&'static str], value: &str) -> &'static str {
    words.iter().find(|word| **word == value).copied().unwrap_or(UNKNOWN)
}

/// A named list of terms.
pub trait Vocabulary {
    const WORDS: &'static [&'static str];
}

/// One term of one vocabulary.
pub struct VocabularyTerm<V>(&'static str, PhantomData<fn() -> V>);

impl<V: Vocabulary> VocabularyTerm<V> {
    pub fn of(value: &str) -> VocabularyTerm<V> {
        VocabularyTerm(term_or_unknown(V::WORDS, value), PhantomData)
    }
}

impl<V> VocabularyTerm<V> {
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// Vocabularies that answers use end with `unknown`, which this macro adds.
macro_rules! states {
    ($($name:ident: $($word:literal)+;)+) => {
        $(
            #[derive(Debug)]
            pub struct $name;

            impl Vocabulary for $name {
                const WORDS: &'static [&'static str] = &[$($word,)+ UNKNOWN];
            }
        )+

        /// All of these vocabularies, by name.
        pub const STATES: &[(&str, &[&str])] = &[$((stringify!($name), $name::WORDS),)+];
    };
}

states! {
    VehicleCondition: "new" "used" "certified_pre_owned" "demo";
    VehicleStatus: "available" "in_transit" "on_order" "pending" "reserved" "on_hold" "sold" "wholesale" "unavailable";
    BodyStyle: "sedan" "coupe" "hatchback" "wagon" "convertible" "suv" "crossover" "pickup" "van" "minivan";
    FuelType: "gasoline" "diesel" "electric" "hybrid" "plug_in_hybrid" "flex_fuel" "hydrogen" "natural_gas" "propane";
    Transmission: "automatic" "manual" "cvt" "dual_clutch" "automated_manual" "direct_drive";
    Drivetrain: "fwd" "rwd" "awd" "four_wd";
    MediaType: "image" "video" "document";
    LeadStatus: "new" "contacted" "working" "appointment_set" "negotiating" "sold" "lost" "duplicate" "invalid";
    Interest: "buy" "lease" "sell" "trade_in" "test_drive" "service";
    Channel: "website" "phone" "walk_in" "chat" "ai_agent" "email" "social" "referral" "third_party" "oem" "event";
    Timeframe: "within_week" "within_two_weeks" "within_month" "within_quarter" "later" "just_looking";
    LostReason: "bought_elsewhere" "price" "financing" "vehicle_unavailable" "kept_current_vehicle" "no_response" "other";
    ConsentStatus: "granted" "denied" "withdrawn" "expired" "pending";
    ConsentChannel: "email" "sms" "voice_call" "autodialed_call" "mail" "push";
    CustomerKind: "individual" "business";
}

/// What a caller may set: without `unknown`.
pub const SETTABLE_LEAD_STATUS: &[&str] =
    &["new", "contacted", "working", "appointment_set", "negotiating", "sold", "lost", "duplicate", "invalid"];

/// The channels a person can agree to: consent to an unknown channel is no consent.
pub const GRANTABLE_CHANNEL: &[&str] = &["email", "sms", "voice_call", "autodialed_call", "mail", "push"];

/// The lost reasons that a caller may set: without `unknown`.
pub const SETTABLE_LOST_REASON: &[&str] =
    &["bought_elsewhere", "price", "financing", "vehicle_unavailable", "kept_current_vehicle", "no_response", "other"];

/// Without `unknown`: a distance needs a known unit.
pub const DISTANCE_UNIT: &[&str] = &["mi", "km"];

pub const SORT: &[&str] =
    &["newest", "price_asc", "price_desc", "year_desc", "year_asc", "mileage_asc", "mileage_desc"];

/// The eight domains of the published specification. Tools and scopes are named after them.
pub const DOMAINS: &[&str] = &["inventory", "leads", "deals", "service", "parts", "fni", "signals", "consent"];

/// The verbs of the published specification (A5-03).
pub const VERBS: &[&str] = &["list", "get", "create", "update", "search", "cancel", "check", "request"];

impl<V> Clone for VocabularyTerm<V> {
    fn clone(&self) -> VocabularyTerm<V> {
        *self
    }
}

impl<V> Copy for VocabularyTerm<V> {}

impl<V> PartialEq for VocabularyTerm<V> {
    fn eq(&self, other: &VocabularyTerm<V>) -> bool {
        self.0 == other.0
    }
}

impl<V> Eq for VocabularyTerm<V> {}

impl<V> fmt::Debug for VocabularyTerm<V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

impl<V> Serialize for VocabularyTerm<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de, V: Vocabulary> Deserialize<'de> for VocabularyTerm<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<VocabularyTerm<V>, D::Error> {
        String::deserialize(deserializer).map(|value| VocabularyTerm::of(&value))
    }
}
