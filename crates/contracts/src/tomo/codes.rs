//! The error codes that every intent has, and those that the shapes answer with. An intent lists all it may answer with;
//! a code that it does not list becomes the nearest one that it does.

use frontdesk_engine::Code;

pub const INVALID_REQUEST: Code = Code("INVALID_REQUEST");
pub const METHOD_NOT_FOUND: Code = Code("METHOD_NOT_FOUND");
pub const INTERNAL_ERROR: Code = Code("INTERNAL_ERROR");
pub const INVALID_AUTH: Code = Code("INVALID_AUTH");
pub const RATE_LIMITED: Code = Code("RATE_LIMITED");
pub const PARTNER_MAINTENANCE: Code = Code("PARTNER_MAINTENANCE");
pub const IDEMPOTENCY_CONFLICT: Code = Code("IDEMPOTENCY_CONFLICT");

/// Every intent must list these: calls of any tool can end so.
pub const UNIVERSAL: [Code; 7] = [
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    INTERNAL_ERROR,
    INVALID_AUTH,
    RATE_LIMITED,
    PARTNER_MAINTENANCE,
    IDEMPOTENCY_CONFLICT,
];

/// Nothing with the id that was named exists here.
pub const NOT_FOUND: Code = Code("NOT_FOUND");
/// The token of a search has expired, or belongs to another search.
pub const RESULT_EXPIRED: Code = Code("RESULT_EXPIRED");
/// The last unit or place is gone.
pub const NOT_AVAILABLE: Code = Code("NOT_AVAILABLE");
/// The booking is in a state that does not allow this.
pub const BOOKING_CLOSED: Code = Code("BOOKING_CLOSED");
/// The dishes of an order come to less than the restaurant asks for.
pub const MIN_ORDER_NOT_MET: Code = Code("MIN_ORDER_NOT_MET");
/// The restaurant takes no orders at this time.
pub const RESTAURANT_CLOSED: Code = Code("RESTAURANT_CLOSED");
/// The restaurant does not deliver to this place.
pub const OUT_OF_DELIVERY_AREA: Code = Code("OUT_OF_DELIVERY_AREA");
