//! People: who may log in, with what, for which tenants, and what they may allow a client to do. What is stored about
//! them is defined here and nowhere else.

pub(crate) mod password;
pub(crate) mod records;
mod role;
pub(crate) mod stored;
pub(crate) mod users;

pub use role::UserRole;
pub use users::{MembershipScope, NewUser, UserDirectory, UserError, UserView};
