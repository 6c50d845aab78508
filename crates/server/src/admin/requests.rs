//! The requests that an operator can make, and how they are handled. The same code runs inside a server that was asked
//! over its socket and in a command that has locked the data folder itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use frontdesk_engine::model::contract_entry::Requires;
use frontdesk_engine::ports::{Clock, Random};
use frontdesk_engine::seal::SealKey;
use frontdesk_engine::{ClientId, Fault, Scope, Scopes, TenantId};
use frontdesk_store::Backend;
use frontdesk_store::transfer::DataLocation;
use serde::{Deserialize, Serialize};

use super::advance::{AdvanceTask, AdvanceView};
use super::audit_record::export_record;
use super::client_view::{ClientList, ClientView, view};
use super::deliveries::{DeliveryAction, DeliveryReply, DeliveryTask};
use super::description::ServerDescription;
use super::exports::{ExportReply, ExportStep, ExportTask};
use super::imports::{ImportReply, ImportStep, ImportTask};
use super::keys::{KeyAction, KeyView};
use super::maintenance::{MaintenanceAction, MaintenanceView};
use super::person::{PersonReply, PersonStep, PersonTask};
use super::service_level::ServiceLevelView;
use super::tenants::{TenantRequest, TenantResponse};
use super::tokens::{TokenRequest, TokenResponse};
use super::users::{UserRequest, UserResponse};
use crate::app::{App, DataBackend};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub enum AdminRequest {
    AddClient {
        name: String,
        tenants: Vec<String>,
        #[serde(default)]
        groups: Vec<String>,
        scopes: Vec<String>,
        unknown_tenants: UnknownTenants,
    },
    ListClients,
    RotateClient {
        id: String,
    },
    RevokeClient {
        id: String,
    },
    /// A client with redirect URIs, which acts for people.
    AddLoginClient {
        name: String,
        redirect_uris: Vec<String>,
        scopes: Vec<String>,
        has_secret: bool,
    },
    /// About tokens of the operator.
    Token {
        request: TokenRequest,
    },
    /// About people who log in.
    User {
        request: UserRequest,
    },
    /// A tenant is about to be exported by another process; the audit log must say so.
    #[serde(rename = "note_export")]
    RecordExport {
        tenant: String,
    },
    /// A part of an import that a command reads from a file.
    Import {
        task: ImportTask,
        step: ImportStep,
    },
    /// A part of an export that a command writes into a file.
    Export {
        task: ExportTask,
        step: ExportStep,
    },
    /// A part of the erasure of a person.
    ErasePerson {
        task: PersonTask,
        step: PersonStep,
    },
    Tenant {
        request: TenantRequest,
    },
    /// About what is delivered to others.
    Deliveries {
        task: DeliveryTask,
        action: DeliveryAction,
    },
    /// The operator says that the clock is right.
    ResumeRetention,
    /// Without a path: every mount.
    Maintenance {
        action: MaintenanceAction,
        mount: Option<String>,
    },
    /// What became of a booking.
    Advance {
        task: AdvanceTask,
    },
    /// About the master key.
    Key {
        action: KeyAction,
    },
    /// What is served where.
    Describe,
    /// How fast tools are; without a path, of every mount of the contract.
    ServiceLevel {
        contract: String,
        mount: Option<String>,
    },
}

impl AdminRequest {
    /// How long it may take. A round of an erasure looks at every stored answer of the tenant; rows of an import wait for
    /// everybody else, and are repeated while the store cannot take them.
    pub fn timeout(&self) -> Duration {
        match self {
            AdminRequest::ErasePerson { .. } | AdminRequest::Import { .. } | AdminRequest::Deliveries { .. } => {
                Duration::from_secs(600)
            }
            AdminRequest::AddClient { .. }
            | AdminRequest::ListClients
            | AdminRequest::RotateClient { .. }
            | AdminRequest::RevokeClient { .. }
            | AdminRequest::AddLoginClient { .. }
            | AdminRequest::Token { .. }
            | AdminRequest::User { .. }
            | AdminRequest::RecordExport { .. }
            | AdminRequest::Export { .. }
            | AdminRequest::Maintenance { .. }
            | AdminRequest::ResumeRetention
            | AdminRequest::Advance { .. }
            | AdminRequest::Describe
            | AdminRequest::ServiceLevel { .. }
            | AdminRequest::Key { .. }
            | AdminRequest::Tenant { .. } => Duration::from_secs(30),
        }
    }
}

/// What happens to a tenant that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnknownTenants {
    #[serde(rename = "refused")]
    Reject,
    #[serde(rename = "made")]
    Create,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdminResponse {
    /// The only place where the secret appears.
    Secret {
        client: ClientView,
        secret: String,
        new_tenants: Vec<String>,
    },
    Clients(ClientList),
    /// With the secret, if there is one; the only place where it appears.
    LoginClient {
        client: ClientView,
        secret: Option<String>,
    },
    Token(TokenResponse),
    User(UserResponse),
    Revoked {
        id: String,
    },
    #[serde(rename = "noted")]
    Recorded,
    Import(ImportReply),
    Export(ExportReply),
    ErasePerson(PersonReply),
    Tenant(TenantResponse),
    Deliveries(DeliveryReply),
    Maintenance(Vec<MaintenanceView>),
    Advanced(AdvanceView),
    Key(KeyView),
    ServiceLevels(Vec<ServiceLevelView>),
    Description(ServerDescription),
}

/// Handles admin requests.
pub struct AdminService {
    pub(super) store: Arc<dyn Backend>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) random: Arc<dyn Random>,
    pub(super) key_file: PathBuf,
    pub(super) location: DataLocation,
    pub(super) root: SealKey,
    pub(super) rotating: tokio::sync::Mutex<()>,
    /// Runs calls, where there is one.
    app: Option<Arc<ArcSwap<App>>>,
    /// Every scope that a client can have.
    scopes: Vec<Scope>,
}

impl AdminService {
    /// For requests that run no calls.
    pub fn new(backend: &DataBackend) -> AdminService {
        // The caller of a partner has credentials of its own: no client could use those scopes.
        let is_partner = |id: &str| {
            frontdesk_contracts::ENTRIES
                .iter()
                .any(|entry| entry.name == id && matches!(entry.requires, Requires::Partner))
        };
        let known = frontdesk_contracts::all().into_iter().filter(|contract| !is_partner(contract.id));
        AdminService {
            store: Arc::clone(&backend.store),
            clock: Arc::clone(&backend.clock),
            random: Arc::clone(&backend.random),
            key_file: backend.data_dir.key_file().to_owned(),
            location: backend.location.clone(),
            root: backend.root.clone(),
            rotating: tokio::sync::Mutex::default(),
            app: None,
            scopes: known.flat_map(|contract| contract.scopes).collect(),
        }
    }

    /// Requests run calls on the app that is current when they come.
    pub fn with_app(app: Arc<ArcSwap<App>>) -> AdminService {
        let service = AdminService::new(&app.load().backend);
        AdminService { app: Some(app), ..service }
    }

    /// The app that runs calls now.
    pub(super) fn app(&self) -> Result<Arc<App>, String> {
        let app = self.app.as_ref().map(|app| app.load_full());
        app.ok_or_else(|| "this process cannot run calls for an operator; stop it and repeat the command".to_owned())
    }

    /// Rows of a table that were changed without the master key.
    pub(super) async fn refused_rows(&self, table: &str) -> Result<usize, String> {
        let refused = self.store.refused_rows().await.map_err(explain)?;
        Ok(refused.iter().filter(|refused| refused.table == table).map(|refused| refused.rows).sum())
    }

    /// An error is a sentence for the operator.
    pub async fn handle(&self, request: AdminRequest) -> Result<AdminResponse, String> {
        match request {
            AdminRequest::AddClient { name, tenants, groups, scopes, unknown_tenants } => {
                self.add_client(name, &tenants, &groups, &scopes, unknown_tenants).await
            }
            AdminRequest::ListClients => {
                let clients = self.store.clients().await.map_err(explain)?;
                let mut clients: Vec<ClientView> = clients.iter().map(view).collect();
                clients.extend(self.login_clients().await?);
                Ok(AdminResponse::Clients(ClientList { clients, refused: self.refused_rows("fd_client").await? }))
            }
            AdminRequest::RotateClient { id } => self.rotate_client(ClientId::new(id)).await,
            AdminRequest::RevokeClient { id } => self.revoke_client(ClientId::new(id)).await,
            AdminRequest::AddLoginClient { name, redirect_uris, scopes, has_secret } => {
                self.add_login_client(name, redirect_uris, &scopes, has_secret).await
            }
            AdminRequest::Token { request } => self.handle_token(request).await.map(AdminResponse::Token),
            AdminRequest::User { request } => self.handle_user(request).await.map(AdminResponse::User),
            AdminRequest::RecordExport { tenant } => self.record_export(&tenant).await,
            AdminRequest::Import { task, step } => self.import(task, step).await.map(AdminResponse::Import),
            AdminRequest::Export { task, step } => self.export(task, step).await.map(AdminResponse::Export),
            AdminRequest::ErasePerson { task, step } => {
                self.erase_person(task, step).await.map(AdminResponse::ErasePerson)
            }
            AdminRequest::Maintenance { action, mount } => {
                self.maintenance(action, mount.as_deref()).await.map(AdminResponse::Maintenance)
            }
            AdminRequest::Key { action } => self.change_key(action).await.map(AdminResponse::Key),
            AdminRequest::ResumeRetention => self.resume_retention().await.map(|()| AdminResponse::Recorded),
            AdminRequest::Advance { task } => self.advance(task).await.map(AdminResponse::Advanced),
            AdminRequest::Deliveries { task, action } => {
                self.deliveries(task, action).await.map(AdminResponse::Deliveries)
            }
            AdminRequest::Describe => Ok(AdminResponse::Description(ServerDescription::new(&self.app()?.config))),
            AdminRequest::ServiceLevel { contract, mount } => {
                self.service_levels(&contract, mount.as_deref()).map(AdminResponse::ServiceLevels)
            }
            AdminRequest::Tenant { request } => self.handle_tenant(request).await.map(AdminResponse::Tenant),
        }
    }

    /// A typing error must not create a tenant.
    pub(super) async fn require_known(&self, tenants: &[TenantId]) -> Result<(), String> {
        let known: Vec<TenantId> =
            self.store.tenants().await.map_err(explain)?.into_iter().map(|tenant| tenant.id).collect();
        match tenants.iter().find(|tenant| !known.contains(tenant)) {
            None => Ok(()),
            Some(unknown) if known.is_empty() => {
                Err(format!("there is no tenant yet; create it with: frontdesk tenant add {unknown} --name NAME"))
            }
            Some(unknown) => {
                let ids: Vec<&str> = known.iter().map(TenantId::as_str).collect();
                Err(format!(
                    "there is no tenant `{unknown}`; there are: {}. `frontdesk tenant add` creates one",
                    ids.join(", ")
                ))
            }
        }
    }

    async fn record_export(&self, tenant: &str) -> Result<AdminResponse, String> {
        let tenant = self.known_tenant(tenant).await?;
        let record = export_record(self.clock.now(), &tenant);
        self.store.record_administration(record).await.map_err(explain)?;
        tracing::info!(tenant = tenant.as_str(), "tenant export started");
        Ok(AdminResponse::Recorded)
    }

    pub(super) fn checked_scopes(&self, scopes: &[String]) -> Result<Scopes, String> {
        let known = |scope: &&String| self.scopes.iter().any(|known| known.as_str() == scope.as_str());
        match scopes.iter().find(|scope| !known(scope)) {
            Some(unknown) => {
                let all: Vec<&str> = self.scopes.iter().map(Scope::as_str).collect();
                Err(format!("there is no scope `{unknown}`; there are: {}", all.join(", ")))
            }
            None if scopes.is_empty() => {
                Err("a client without scopes could do nothing; name some with --scope".to_owned())
            }
            None => Ok(Scopes::new(scopes.iter().map(|scope| Scope::new(scope.as_str())))),
        }
    }
}

pub(super) fn checked_name(of: &str, name: String) -> Result<String, String> {
    let fits = (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits {
        Ok(name)
    } else {
        Err(format!("a {of}'s name has 1 to 100 characters, none of them a control character"))
    }
}

pub(super) fn explain(fault: Fault) -> String {
    fault.cause.unwrap_or_else(|| fault.message.into_owned())
}
