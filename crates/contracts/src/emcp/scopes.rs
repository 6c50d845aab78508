//! The scopes of the contract (E-67): handshake and listings, tool calls, and everything else.

use frontdesk_engine::{Scope, Scopes};

pub const READ: &str = "mcp:read";
pub const CALL: &str = "mcp:call";
pub const ADMIN: &str = "mcp:admin";

pub const ALL: &[&str] = &[READ, CALL, ADMIN];

/// The scope of a token that requests none: it can list the tools, but not call them.
pub fn default_scope() -> Scope {
    Scope::new(READ)
}

/// What a client needs to list and call tools; administration is given to chosen clients only.
pub fn ordinary() -> Scopes {
    Scopes::new([READ, CALL].map(Scope::new))
}

pub fn all() -> Vec<Scope> {
    ALL.iter().copied().map(Scope::new).collect()
}
