//! What a user may allow at most, whatever a client asks for.

use std::fmt;

use frontdesk_engine::model::caller::Scopes;
use serde::{Deserialize, Serialize};

use crate::server::{ProtectedResource, ScopeAccess};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserRole {
    /// Reading, except sensitive data.
    Reader,
    /// Reading and changing, except sensitive data.
    Staff,
    /// Everything.
    Manager,
}

impl UserRole {
    pub const ALL: [UserRole; 3] = [UserRole::Reader, UserRole::Staff, UserRole::Manager];

    pub fn as_str(self) -> &'static str {
        match self {
            UserRole::Reader => "reader",
            UserRole::Staff => "staff",
            UserRole::Manager => "manager",
        }
    }

    pub fn parse(text: &str) -> Option<UserRole> {
        UserRole::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// The scopes of a resource that a user with this role may pass on.
    pub(crate) fn scopes(self, resource: &ProtectedResource) -> Scopes {
        let may = |access: ScopeAccess| match (self, access) {
            (UserRole::Manager, _) => true,
            (UserRole::Staff, ScopeAccess::Read | ScopeAccess::Change) => true,
            (UserRole::Reader, ScopeAccess::Read) => true,
            (UserRole::Staff, ScopeAccess::Sensitive)
            | (UserRole::Reader, ScopeAccess::Change | ScopeAccess::Sensitive) => false,
        };
        Scopes::new(resource.scopes.iter().filter(|scope| may(resource.access(scope))).cloned())
    }
}

impl fmt::Display for UserRole {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
