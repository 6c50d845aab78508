//! The scopes of the contract (E-67): getting to know the server, calling its tools, and what is left.

use frontdesk_engine::Scope;

pub const READ: &str = "mcp:read";
pub const CALL: &str = "mcp:call";
pub const ADMIN: &str = "mcp:admin";

pub const ALL: &[&str] = &[READ, CALL, ADMIN];

/// What a token gets that asks for nothing: it sees what there is, and reads none of it.
pub fn least() -> Scope {
    Scope::new(READ)
}

pub fn all() -> Vec<Scope> {
    ALL.iter().copied().map(Scope::new).collect()
}
