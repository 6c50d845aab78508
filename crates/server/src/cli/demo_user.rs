//! The person who can log in to the demo.

use frontdesk_identity::{MembershipScope, NewUser, UserRole, new_secret};

use super::CliError;
use super::demo::Secrets;
use super::demo_banner::BannerUser;
use crate::app::App;

/// Who may log in to the demo.
const DEMO_USER: &str = "demo";

/// Somebody who may do everything in the demo. The password is random, and shown only when it is new.
pub(super) async fn demo_user(app: &App, secrets: Secrets) -> Result<BannerUser, CliError> {
    let users = app.identity.users();
    let known = users.list().await?.into_iter().find(|user| user.name == DEMO_USER);
    let (_, random) = new_secret(app.backend.random.as_ref());
    let password: String = random.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    let is_new = match (known, secrets) {
        (Some(_), Secrets::Kept) => false,
        (Some(_), Secrets::New) => {
            users.set_password(DEMO_USER, &password).await?;
            true
        }
        (None, _) => {
            let (role, memberships) = (UserRole::Manager, MembershipScope::All);
            let new = NewUser { name: DEMO_USER.to_owned(), role, memberships, password: Some(password.clone()) };
            users.add(new).await?;
            true
        }
    };
    Ok(BannerUser { name: DEMO_USER, password: is_new.then_some(password) })
}
