//! Users as the operator manages them. A password is never part of an answer, a log line or an audit record.

use std::collections::BTreeSet;

use frontdesk_engine::TenantId;
use frontdesk_identity::{MembershipScope, NewUser, PlaintextSecret, UserError, UserRole, UserView};
use serde::{Deserialize, Serialize};

use super::requests::AdminService;
use crate::app::App;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserRequest {
    Add {
        name: String,
        role: String,
        tenants: Vec<String>,
        groups: Vec<String>,
        all: bool,
        /// Without one, the user gets a link.
        password: Option<String>,
    },
    List,
    Disable {
        name: String,
    },
    Enable {
        name: String,
    },
    Reset {
        name: String,
    },
}

/// Without the password.
impl std::fmt::Debug for UserRequest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            UserRequest::Add { .. } => "Add",
            UserRequest::List => "List",
            UserRequest::Disable { .. } => "Disable",
            UserRequest::Enable { .. } => "Enable",
            UserRequest::Reset { .. } => "Reset",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserResponse {
    /// The user, and the link with which they choose a password, if there is one.
    Changed {
        user: UserRow,
        link: Option<String>,
    },
    Listed(Vec<UserRow>),
}

/// A user as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRow {
    pub id: String,
    pub name: String,
    pub role: String,
    pub tenants: Vec<String>,
    pub state: String,
    pub connected_agents: usize,
}

impl AdminService {
    pub(super) async fn handle_user(&self, request: UserRequest) -> Result<UserResponse, String> {
        let app = self.app()?;
        let users = app.identity.users();
        let said = |error: UserError| error.to_string();
        let (user, secret) = match request {
            UserRequest::Add { name, role, tenants, groups, all, password } => {
                let role = UserRole::parse(&role).ok_or("a role is reader, staff or manager")?;
                let memberships = self.memberships(&tenants, &groups, all).await?;
                users.add(NewUser { name, role, memberships, password }).await.map_err(said)?
            }
            UserRequest::List => {
                let users = users.list().await.map_err(said)?;
                return Ok(UserResponse::Listed(users.into_iter().map(row).collect()));
            }
            UserRequest::Disable { name } => (users.disable(&name).await.map_err(said)?, None),
            UserRequest::Enable { name } => (users.enable(&name).await.map_err(said)?, None),
            UserRequest::Reset { name } => {
                let (user, secret) = users.reset(&name).await.map_err(said)?;
                (user, Some(secret))
            }
        };
        tracing::info!(user = user.id, state = user.state, "user changed");
        Ok(UserResponse::Changed { user: row(user), link: secret.map(|secret| setup_link(&app, &secret)) })
    }

    async fn memberships(&self, tenants: &[String], groups: &[String], all: bool) -> Result<MembershipScope, String> {
        if all {
            return Ok(MembershipScope::All);
        }
        let distinct: BTreeSet<&String> = tenants.iter().collect();
        let parsed: Option<Vec<TenantId>> = distinct.into_iter().map(|tenant| TenantId::parse(tenant)).collect();
        let tenants = parsed.ok_or("a tenant id has 1 to 64 letters, digits, `_` or `-`")?;
        self.require_known(&tenants).await?;
        let mut groups = self.checked_groups(groups).await?;
        groups.sort();
        groups.dedup();
        Ok(MembershipScope::Some { tenants, groups })
    }
}

/// The address of a link to choose a password.
pub(crate) fn setup_link(app: &App, secret: &PlaintextSecret) -> String {
    app.config.public_url.at(&format!("/setup/{}", secret.expose()))
}

fn row(user: UserView) -> UserRow {
    let UserView { id, name, role, tenants, state, grants } = user;
    UserRow { id, name, role: role.as_str().to_owned(), tenants, state: state.to_owned(), connected_agents: grants }
}
