//! The eight domains of the published specification. Tools and scopes are named after them (A6-07).

/// A domain and its two scopes.
#[derive(Debug, PartialEq, Eq)]
pub struct Domain {
    pub name: &'static str,
    pub read: &'static str,
    pub write: &'static str,
}

pub static INVENTORY: Domain = Domain { name: "inventory", read: "amcp:inventory:read", write: "amcp:inventory:write" };
pub static LEADS: Domain = Domain { name: "leads", read: "amcp:leads:read", write: "amcp:leads:write" };
pub static DEALS: Domain = Domain { name: "deals", read: "amcp:deals:read", write: "amcp:deals:write" };
pub static SERVICE: Domain = Domain { name: "service", read: "amcp:service:read", write: "amcp:service:write" };
pub static PARTS: Domain = Domain { name: "parts", read: "amcp:parts:read", write: "amcp:parts:write" };
pub static FNI: Domain = Domain { name: "fni", read: "amcp:fni:read", write: "amcp:fni:write" };
pub static SIGNALS: Domain = Domain { name: "signals", read: "amcp:signals:read", write: "amcp:signals:write" };
pub static CONSENT: Domain = Domain { name: "consent", read: "amcp:consent:read", write: "amcp:consent:write" };

/// Seconds since a person's login within which credit applications and lender decisions may be used (A6-18).
pub const MAX_LOGIN_AGE: u32 = 300;

/// In the order of the specification.
pub static ALL: [&Domain; 8] = [&INVENTORY, &LEADS, &DEALS, &SERVICE, &PARTS, &FNI, &SIGNALS, &CONSENT];
