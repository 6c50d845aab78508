//! The users of this server, as its operator sees them.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::caller::TenantId;
use frontdesk_engine::model::fault::Fault;
use frontdesk_engine::model::tenant::GroupId;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, LoginRecordKind, LoginRecords, RecordChange};
use frontdesk_engine::ports::registry::{Changed, Registry, Tenant};
use frontdesk_engine::ports::{Clock, Random};
use frontdesk_engine::seal::sha256;

use super::password::{PasswordHasher, password_problem};
use super::records::{Grant, Membership, OneTimeLink, Session, StoredCredential, User, UserName};
use super::role::UserRole;
use super::stored::{StoredRecord, find, find_all, find_owned, new_record, remove_owned};
use crate::secret::PlaintextSecret;

/// How long a link to choose a password is valid.
const LINK_SECONDS: i64 = 24 * 60 * 60;
/// More than any installation has; a list must end somewhere.
const MAX_USERS: u32 = 10_000;
const MAX_NAME: usize = 100;

/// Clones share the limit on passwords.
#[derive(Clone)]
pub struct UserDirectory {
    pub(crate) records: Arc<dyn LoginRecords>,
    pub(crate) registry: Arc<dyn Registry>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) passwords: PasswordHasher,
}

/// Which tenants a user may act for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MembershipScope {
    /// Every tenant of this server, also later ones.
    All,
    Some {
        tenants: Vec<TenantId>,
        groups: Vec<GroupId>,
    },
}

/// A user to add.
pub struct NewUser {
    pub name: String,
    pub role: UserRole,
    pub memberships: MembershipScope,
    /// Without one, the user chooses it through a link.
    pub password: Option<String>,
}

/// A user as the operator sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserView {
    pub id: String,
    pub name: String,
    pub role: UserRole,
    /// Tenant ids, `group:ID`, or `all`.
    pub tenants: Vec<String>,
    /// `active`, `invited` or `disabled`.
    pub state: &'static str,
    /// How many clients act for them.
    pub grants: usize,
}

/// Why nothing was changed. Displays as a sentence for the operator.
#[derive(Debug)]
pub enum UserError {
    Name,
    Password(&'static str),
    Taken,
    Unknown,
    NoTenant,
    Store(Fault),
}

impl fmt::Display for UserError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UserError::Name => out.write_str(
                "a user's name, such as an e-mail address, has 1 to 100 characters and no space or control character",
            ),
            UserError::Password(problem) => out.write_str(problem),
            UserError::Taken => out.write_str("there is a user with this name; `frontdesk user list` shows them"),
            UserError::Unknown => out.write_str("there is no user with this name; `frontdesk user list` shows them"),
            UserError::NoTenant => out.write_str("name what the user may act for, with --tenant, --group or --all"),
            UserError::Store(fault) => out.write_str(fault.cause.as_deref().unwrap_or(&fault.message)),
        }
    }
}

impl std::error::Error for UserError {}

impl From<Fault> for UserError {
    fn from(fault: Fault) -> UserError {
        UserError::Store(fault)
    }
}

impl UserDirectory {
    pub fn new(
        records: Arc<dyn LoginRecords>,
        registry: Arc<dyn Registry>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> UserDirectory {
        let passwords = PasswordHasher::new(Arc::clone(&random));
        UserDirectory { records, registry, clock, random, passwords }
    }

    /// Adds a user; with no password, also the secret of a link with which they choose one.
    pub async fn add(&self, new: NewUser) -> Result<(UserView, Option<PlaintextSecret>), UserError> {
        let has_password = new.password.is_some();
        let (id, mut steps) = self.additions(new).await?;
        let link = (!has_password).then(|| self.link(&OneTimeLink::ChoosePassword { user: id.clone() }, &id));
        let (record, secret) = link.map_or((None, None), |(record, secret)| (Some(record), Some(secret)));
        steps.extend(record.map(RecordChange::Add));
        let action = if has_password { "user.add" } else { "user.invite" };
        if self.change(steps, action, &id).await? == Changed::Nothing {
            return Err(UserError::Taken);
        }
        let view = self.view_of(&id).await?;
        Ok((view, secret))
    }

    /// The steps that add a user, and its id.
    pub(crate) async fn additions(&self, new: NewUser) -> Result<(String, Vec<RecordChange>), UserError> {
        let NewUser { name, role, memberships, password } = new;
        let name = name.trim().to_owned();
        let plain = |letter: char| !letter.is_control() && !letter.is_whitespace();
        if !(1..=MAX_NAME).contains(&name.chars().count()) || !name.chars().all(plain) {
            return Err(UserError::Name);
        }
        let id = self.new_id("usr_");
        let memberships = memberships_of(&id, memberships)?;
        let credentials = match password {
            Some(password) => vec![self.credential(&password, &name).await?],
            None => Vec::new(),
        };
        let user = User { name: name.clone(), role, credentials, created_at: self.clock.now().0, disabled_at: None };
        let mut steps = vec![
            RecordChange::Add(new_record(name_id(&name), id.as_str(), &UserName { user: id.clone() })),
            RecordChange::Add(new_record(id.as_str(), "", &user)),
        ];
        steps.extend(memberships.into_iter().map(RecordChange::Add));
        Ok((id, steps))
    }

    pub(crate) async fn credential(&self, password: &str, name: &str) -> Result<StoredCredential, UserError> {
        if let Some(problem) = password_problem(password, name) {
            return Err(UserError::Password(problem));
        }
        Ok(StoredCredential::Password(self.passwords.hash(password).await?))
    }

    pub async fn list(&self) -> Result<Vec<UserView>, UserError> {
        let mut views = Vec::new();
        for user in find_all::<User>(&self.records, MAX_USERS).await? {
            views.push(self.view(&user).await?);
        }
        views.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(views)
    }

    pub async fn has_users(&self) -> Result<bool, Fault> {
        Ok(self.records.count_login_records(LoginRecordKind::User).await? > 0)
    }

    /// Ends everything that the user has and keeps them out until they are enabled again.
    pub async fn disable(&self, name: &str) -> Result<UserView, UserError> {
        let user = self.named(name).await?.ok_or(UserError::Unknown)?;
        let disabled = User { disabled_at: Some(self.clock.now().0), ..user.content.clone() };
        let steps = vec![user.replace(&disabled), remove_owned::<Session>(user.id()), remove_owned::<Grant>(user.id())];
        self.done(steps, "user.disable", user.id()).await?;
        self.view_of(user.id()).await
    }

    pub async fn enable(&self, name: &str) -> Result<UserView, UserError> {
        let user = self.named(name).await?.ok_or(UserError::Unknown)?;
        let enabled = User { disabled_at: None, ..user.content.clone() };
        self.done(vec![user.replace(&enabled)], "user.enable", user.id()).await?;
        self.view_of(user.id()).await
    }

    /// Ends the sessions and the password of the user; the secret of a link with which they choose a new one. Clients that
    /// they have connected stay connected.
    pub async fn reset(&self, name: &str) -> Result<(UserView, PlaintextSecret), UserError> {
        let user = self.named(name).await?.ok_or(UserError::Unknown)?;
        let without = User { credentials: Vec::new(), ..user.content.clone() };
        let (link, secret) = self.link(&OneTimeLink::ChoosePassword { user: user.id().to_owned() }, user.id());
        let steps = vec![
            user.replace(&without),
            remove_owned::<Session>(user.id()),
            remove_owned::<OneTimeLink>(user.id()),
            RecordChange::Add(link),
        ];
        self.done(steps, "user.reset", user.id()).await?;
        Ok((self.view_of(user.id()).await?, secret))
    }

    /// Gives the user another password; their sessions end.
    pub async fn set_password(&self, name: &str, password: &str) -> Result<(), UserError> {
        let user = self.named(name).await?.ok_or(UserError::Unknown)?;
        let credentials = vec![self.credential(password, &user.content.name).await?];
        let changed = User { credentials, ..user.content.clone() };
        let steps = vec![user.replace(&changed), remove_owned::<Session>(user.id())];
        self.done(steps, "user.password", user.id()).await
    }

    /// The secret of a link that makes the first user. Earlier ones end.
    pub async fn first_user_link(&self) -> Result<PlaintextSecret, UserError> {
        let (link, secret) = self.link(&OneTimeLink::FirstUser, FIRST_USER);
        let steps = vec![remove_owned::<OneTimeLink>(FIRST_USER), RecordChange::Add(link)];
        self.done(steps, "user.first_link", FIRST_USER).await?;
        Ok(secret)
    }

    pub(crate) async fn named(&self, name: &str) -> Result<Option<StoredRecord<User>>, Fault> {
        match find::<UserName>(&self.records, &name_id(name.trim())).await? {
            Some(found) => find::<User>(&self.records, &found.content.user).await,
            None => Ok(None),
        }
    }

    /// One that may do something.
    pub(crate) async fn active(&self, id: &str) -> Result<Option<StoredRecord<User>>, Fault> {
        Ok(find::<User>(&self.records, id).await?.filter(|user| user.content.disabled_at.is_none()))
    }

    /// The tenants that the user may act for now.
    pub(crate) async fn tenants_of(&self, user: &str) -> Result<Vec<Tenant>, Fault> {
        let memberships = find_owned::<Membership>(&self.records, user).await?;
        let is_member = |tenant: &Tenant| {
            memberships.iter().any(|membership| match &membership.content {
                Membership::All => true,
                Membership::Tenant(id) => tenant.id.as_str() == id,
                Membership::Group(id) => tenant.group.as_ref().is_some_and(|group| group.as_str() == id),
            })
        };
        let tenants = self.registry.tenants().await?;
        Ok(tenants.into_iter().filter(|tenant| tenant.erasing_since.is_none() && is_member(tenant)).collect())
    }

    pub(crate) async fn may_act_for(&self, user: &str, tenant: &TenantId) -> Result<bool, Fault> {
        let Some(found) = self.registry.tenant(tenant).await?.filter(|found| found.erasing_since.is_none()) else {
            return Ok(false);
        };
        let memberships = find_owned::<Membership>(&self.records, user).await?;
        Ok(memberships.iter().any(|membership| match &membership.content {
            Membership::All => true,
            Membership::Tenant(id) => found.id.as_str() == id,
            Membership::Group(id) => found.group.as_ref().is_some_and(|group| group.as_str() == id),
        }))
    }

    pub(crate) fn new_id(&self, prefix: &str) -> String {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    fn link(&self, link: &OneTimeLink, owner: &str) -> (LoginRecord, PlaintextSecret) {
        let secret = PlaintextSecret::random("", self.random.as_ref());
        let expires_at = Some(self.clock.now().plus_seconds(LINK_SECONDS));
        (LoginRecord { expires_at, ..new_record(hex(&secret.hash()), owner, link) }, secret)
    }

    async fn change(&self, steps: Vec<RecordChange>, action: &str, user: &str) -> Result<Changed, Fault> {
        let now = self.clock.now();
        let record = serde_json::json!({"at": now.to_rfc3339(), "operator": action, "user": user, "outcome": "ok"});
        self.records.change_login_records(steps, now, LoginAudit::Administration(record.to_string())).await
    }

    async fn done(&self, steps: Vec<RecordChange>, action: &str, user: &str) -> Result<(), UserError> {
        match self.change(steps, action, user).await? {
            Changed::Done => Ok(()),
            Changed::Nothing => {
                Err(UserError::Store(Fault::unavailable("the user was changed meanwhile; repeat the command")))
            }
        }
    }

    async fn view_of(&self, id: &str) -> Result<UserView, UserError> {
        let user = find::<User>(&self.records, id).await?.ok_or(UserError::Unknown)?;
        self.view(&user).await
    }

    async fn view(&self, user: &StoredRecord<User>) -> Result<UserView, UserError> {
        let memberships = find_owned::<Membership>(&self.records, user.id()).await?;
        let now = self.clock.now();
        let grants = find_owned::<Grant>(&self.records, user.id()).await?;
        let User { name, role, credentials, disabled_at, .. } = &user.content;
        Ok(UserView {
            id: user.id().to_owned(),
            name: name.clone(),
            role: *role,
            tenants: memberships
                .iter()
                .map(|membership| match &membership.content {
                    Membership::Tenant(id) => id.clone(),
                    Membership::Group(id) => format!("group:{id}"),
                    Membership::All => "all".to_owned(),
                })
                .collect(),
            state: match (disabled_at, credentials.is_empty()) {
                (Some(_), _) => "disabled",
                (None, true) => "invited",
                (None, false) => "active",
            },
            grants: grants.iter().filter(|grant| !grant.is_expired(now)).count(),
        })
    }
}

/// The owner of links that make the first user.
const FIRST_USER: &str = "first user";

fn memberships_of(user: &str, memberships: MembershipScope) -> Result<Vec<LoginRecord>, UserError> {
    let made = match memberships {
        MembershipScope::All => vec![new_record(format!("{user} all"), user, &Membership::All)],
        MembershipScope::Some { tenants, groups } => {
            let of_tenants = tenants.into_iter().map(|tenant| LoginRecord {
                tenant: Some(tenant.clone()),
                ..new_record(format!("{user} {tenant}"), user, &Membership::Tenant(tenant.as_str().to_owned()))
            });
            let of_groups = groups.iter().map(|group| {
                new_record(
                    format!("{user} group:{}", group.as_str()),
                    user,
                    &Membership::Group(group.as_str().to_owned()),
                )
            });
            of_tenants.chain(of_groups).collect()
        }
    };
    if made.is_empty() { Err(UserError::NoTenant) } else { Ok(made) }
}

/// Names are the same whatever their case is.
pub(crate) fn name_id(name: &str) -> String {
    hex(&sha256(format!("user name {}", name.to_lowercase()).as_bytes()))
}

/// As ids are written.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
