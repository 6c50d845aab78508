//! Arguments after they have been understood: checked against the tool's schema, and with the
//! tenant, the window and the idempotency key taken out by the contract's dialect.

use serde_json::{Map, Value};

use crate::model::idempotency_key::IdempotencyKey;

/// What was asked of a list; the cursor is still sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    pub cursor: Option<String>,
    /// As asked for; without it the limit of the cursor applies, and then `default_limit`.
    pub limit: Option<usize>,
    pub default_limit: usize,
    /// Whether the answer says how many there are on all pages. A cursor does not remember it.
    pub with_total: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolInput {
    /// The tool's own arguments, without tenant, window and key.
    pub arguments: Map<String, Value>,
    pub tenant: Option<String>,
    pub window: Option<PageRequest>,
    pub idempotency_key: Option<IdempotencyKey>,
}

impl ToolInput {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.arguments.get(name).and_then(Value::as_i64)
    }

    pub fn object(&self, name: &str) -> Option<&Map<String, Value>> {
        self.arguments.get(name).and_then(Value::as_object)
    }
}
