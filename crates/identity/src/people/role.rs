//! What a user may allow at most, whatever a client asks for.

use std::fmt;

use frontdesk_engine::model::caller::Scopes;
use serde::{Deserialize, Serialize};

use crate::server::{ProtectedResource, ScopeAccess};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reading, except sensitive data.
    Reader,
    /// Reading and changing, except sensitive data.
    Staff,
    /// Everything.
    Manager,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Reader, Role::Staff, Role::Manager];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Reader => "reader",
            Role::Staff => "staff",
            Role::Manager => "manager",
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// The scopes of a resource that a user with this role may pass on.
    pub(crate) fn scopes(self, resource: &ProtectedResource) -> Scopes {
        let may = |access: ScopeAccess| match (self, access) {
            (Role::Manager, _) => true,
            (Role::Staff, ScopeAccess::Read | ScopeAccess::Change) => true,
            (Role::Reader, ScopeAccess::Read) => true,
            (Role::Staff, ScopeAccess::Sensitive) | (Role::Reader, ScopeAccess::Change | ScopeAccess::Sensitive) => {
                false
            }
        };
        Scopes::new(resource.scopes.iter().filter(|scope| may(resource.access(scope))).cloned())
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
