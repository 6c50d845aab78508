//! The tables whose rows are authenticated. One that decides access is added here; a test compares the list with the
//! schema.

use super::RegistryTable;

pub(crate) static TENANTS: RegistryTable = RegistryTable {
    name: "fd_tenant",
    columns: &["tenant", "name", "sealed_key", "profile", "tenant_group", "erasing_at"],
    key: 1,
};

pub(crate) static CLIENTS: RegistryTable = RegistryTable {
    name: "fd_client",
    columns: &["client", "name", "secret_hash", "tenants", "tenant_groups", "scopes", "created_at", "revoked_at"],
    key: 1,
};

pub(crate) static TOKENS: RegistryTable = RegistryTable {
    name: "fd_token",
    columns: &["token_hash", "client", "tenants", "scopes", "resource", "expires_at", "authenticated_at"],
    key: 1,
};

pub(crate) static AUTHENTICATED: [&RegistryTable; 3] = [&TENANTS, &CLIENTS, &TOKENS];
