//! The names of the automotive contract that callers rely on, in the order in which they are listed. Tests compare with
//! them: none may be renamed or taken away.

/// The tools of the specification's domains.
pub const TOOLS: [&str; 55] = [
    "inventory.list",
    "inventory.search",
    "inventory.get",
    "inventory.create",
    "inventory.update",
    "leads.list",
    "leads.search",
    "leads.get",
    "leads.create",
    "leads.update",
    "customers.list",
    "customers.search",
    "customers.get",
    "customers.create",
    "customers.update",
    "consent.list",
    "consent.get",
    "consent.create",
    "consent.update",
    "consent.check",
    "deals.list",
    "deals.get",
    "deals.create",
    "deals.update",
    "deals.cancel_deal",
    "deals.request_quote",
    "deals.list_fees",
    "deals.get_fee",
    "deals.list_trade_values",
    "deals.get_trade_value",
    "deals.request_trade_value",
    "service.list_appointments",
    "service.get_appointment",
    "service.check_availability",
    "service.book_appointment",
    "service.update_appointment",
    "service.cancel_appointment",
    "service.list_repair_orders",
    "service.get_repair_order",
    "service.create_repair_order",
    "service.update_repair_order",
    "service.list_service_codes",
    "service.get_service_code",
    "service.list_advisors",
    "service.get_advisor",
    "service.list_workshops",
    "service.get_workshop",
    "fni.list_products",
    "fni.get_product",
    "fni.list_credit_applications",
    "fni.get_credit_application",
    "fni.create_credit_application",
    "fni.update_credit_application",
    "fni.list_lender_decisions",
    "fni.get_lender_decision",
];

/// Those that a client without the scopes of credit data sees.
pub fn ordinary_tools() -> Vec<&'static str> {
    TOOLS.into_iter().filter(|name| !name.starts_with("fni.")).collect()
}

/// The tools that the specification does not name.
pub const EXTENSIONS: [&str; 4] =
    ["x_frontdesk.import_items", "x_frontdesk.get_import", "x_frontdesk.list_imports", "x_frontdesk.import_adf"];

pub const SCOPES: [&str; 12] = [
    "amcp:inventory:read",
    "amcp:inventory:write",
    "amcp:leads:read",
    "amcp:leads:write",
    "amcp:deals:read",
    "amcp:deals:write",
    "amcp:service:read",
    "amcp:service:write",
    "amcp:fni:read",
    "amcp:fni:write",
    "amcp:consent:read",
    "amcp:consent:write",
];
