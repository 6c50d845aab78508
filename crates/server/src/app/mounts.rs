//! From the mounts of a configuration to a router: each mount with its policy, its database and its authentication.
//! Databases have been opened before.

use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use frontdesk_contracts as contracts;
use frontdesk_contracts::partner::PartnerSettings;
use frontdesk_contracts::scope_words::scope_words;
use frontdesk_engine::desk::{MaintenanceSwitch, Mount, Streaming};
use frontdesk_engine::dispatch::{DispatchConfig, DispatchMode, OnQueueFull};
use frontdesk_engine::limits::rate::Quota;
use frontdesk_engine::model::contract_entry::QueryLimits;
use frontdesk_engine::model::glob::Glob;
use frontdesk_engine::model::mount_policy::{MethodScopes, MountPolicy, MountStatus};
use frontdesk_engine::model::tool::ScopeRule;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::ports::site_db::SiteDb;
use frontdesk_engine::{Contract, Scope, Scopes, TenantId};
use frontdesk_identity::{ProtectedResource, ScopeAccess, ScopeInfo};
use frontdesk_wire::method::Method;

use super::maintenance::{MaintenanceSwitches, closed};
use super::open_mounts::OpenMounts;
use super::partners::{CurrentSecrets, PartnerAuth, PartnerEndpoint, PartnerSecrets};
use super::router::Router;
use super::sites::{LoopbackAuth, OpenSite, TokenAuth};
use crate::config::{
    Config, Dispatch, Failover, MountConfig, OwnTokens, PartnerConfig, PublicUrl, SiteAuth, SiteConfig, SiteServer,
};

/// A contract that will be mounted at a path.
pub(super) struct MountPlan {
    path: String,
    contract: Contract,
    /// The prefix of its REST routes.
    rest: Option<String>,
    site: Option<SiteMount>,
    partner: Option<PartnerMount>,
    maintenance: MaintenanceSwitch,
    streaming: Streaming,
}

/// What a partner has besides its contract: who may call it, what else is below its path, and whose goods it sells.
struct PartnerMount {
    auth: PartnerAuth,
    endpoint: PartnerEndpoint,
    tenant: TenantId,
}

/// What the server of a site has besides its contract.
struct SiteMount {
    policy: MountPolicy,
    site_db: Arc<dyn SiteDb>,
    auth: AuthMode,
    tenant: TenantId,
    path_match: PathMatch,
    /// How dispatched requests are run; none for the fallback of unknown handles.
    dispatching: Option<DispatchConfig>,
    /// The resources whose tokens are accepted here.
    resources: Vec<String>,
}

#[derive(Clone)]
enum AuthMode {
    /// No token: only callers on this machine.
    Loopback,
    Tokens {
        own: OwnTokens,
        jwt: Option<Arc<dyn Identity>>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PathMatch {
    Exact,
    /// Every path one segment below that has no exact match.
    OneBelow,
}

impl MountPlan {
    /// A contract that needs nothing but its path.
    pub(super) fn new(path: String, contract: Contract) -> MountPlan {
        MountPlan {
            path,
            contract,
            rest: None,
            site: None,
            partner: None,
            maintenance: MaintenanceSwitch::default(),
            streaming: Streaming::default(),
        }
    }

    /// Whether tokens of this server are accepted there.
    fn accepts_own_tokens(&self) -> bool {
        match &self.site {
            None => self.partner.is_none(),
            Some(SiteMount { path_match: PathMatch::OneBelow, .. }) => false,
            Some(SiteMount { auth, .. }) => matches!(auth, AuthMode::Tokens { own: OwnTokens::Accepted, .. }),
        }
    }
}

/// Everything that a configuration mounts. A site that was not opened cannot be mounted; a partner whose credentials were
/// not read refuses everybody.
pub(super) fn plan_mounts(
    config: &Config,
    opened: &OpenMounts,
    switches: &MaintenanceSwitches,
    current: &CurrentSecrets,
) -> Vec<MountPlan> {
    let secrets = |index| opened.partners.get(index).cloned().unwrap_or_default();
    let partners = config.mounts.iter().enumerate().filter(|(_, mount)| mount.partner.is_some());
    current.replace(partners.map(|(index, mount)| (mount.path.as_str(), secrets(index))));
    let mut plans = Vec::new();
    for (index, mount) in config.mounts.iter().enumerate() {
        let first = plans.len();
        match (&mount.site, opened.sites.get(index)) {
            (Some(site), Some(opened)) => plans.extend(plan_site(config, mount, site, opened)),
            (Some(_), None) => {
                tracing::error!(mount = index, path = mount.path, "mount not served: its site is not open")
            }
            (None, _) if let Some(partner) = &mount.partner => {
                plans.extend(plan_partner(config, mount, partner, current.of(&mount.path)));
            }
            (None, _) => {
                let contract = contracts::mounted(&mount.contract, config.signals);
                let rest = || mount.rest.clone();
                plans.extend(
                    contract.map(|contract| MountPlan { rest: rest(), ..MountPlan::new(mount.path.clone(), contract) }),
                );
            }
        }
        let is_closed = mount.partner.as_ref().is_some_and(|partner| partner.maintenance);
        for plan in plans.iter_mut().skip(first) {
            plan.maintenance = if is_closed { closed() } else { switches.of(&plan.path) };
        }
    }
    plans
}

/// The configuration was checked with the same settings, so there is a contract.
fn plan_partner(
    config: &Config,
    mount: &MountConfig,
    partner: &PartnerConfig,
    secrets: Arc<ArcSwap<PartnerSecrets>>,
) -> Option<MountPlan> {
    let mut settings = PartnerSettings { public_url: config.public_url.at(&mount.path), ..partner.settings.clone() };
    settings.keys.completion.clone_from(&secrets.load().completion);
    settings.keys.backend.clone_from(&secrets.load().backend);
    let contract = contracts::partner::partner_contract(&mount.contract, &settings)?.ok()?;
    let endpoint = PartnerEndpoint::new(&mount.path, partner, &secrets.load());
    let streaming = Streaming { time: partner.stream_time, ..Streaming::default() };
    let tenant = partner.tenant.clone();
    let partner = PartnerMount { auth: PartnerAuth::new(partner, secrets), endpoint, tenant };
    Some(MountPlan { partner: Some(partner), streaming, ..MountPlan::new(mount.path.clone(), contract) })
}

/// The resources that this server issues tokens for.
pub(super) fn protected_resources(plans: &[MountPlan], url: &PublicUrl) -> Vec<ProtectedResource> {
    let accepting = plans.iter().filter(|plan| plan.accepts_own_tokens());
    let resources = accepting.map(|MountPlan { path, contract, .. }| ProtectedResource {
        path: path.clone(),
        url: url.at(path),
        scopes: contract.scopes.clone(),
        default_scope: contract.default_scope.clone(),
        name: contract.server_info.title.to_owned(),
        scope_infos: contract.scopes.iter().map(|scope| scope_info(contract, scope)).collect(),
    });
    resources.collect()
}

/// What people are told about a scope. Those that an ordinary client is not told to ask for are sensitive.
fn scope_info(contract: &Contract, scope: &Scope) -> ScopeInfo {
    let words = scope_words(scope.as_str());
    let is_reading = words.is_some_and(|words| words.is_reading);
    let access = if !contract.ordinary_scopes.has(scope) {
        ScopeAccess::Sensitive
    } else if is_reading {
        ScopeAccess::Read
    } else {
        ScopeAccess::Change
    };
    let words = words.map_or(scope.as_str(), |words| words.words).to_owned();
    ScopeInfo { scope: scope.clone(), words, access, is_reading }
}

/// The resources that only callers on this machine may reach.
pub(super) fn loopback_resources(plans: &[MountPlan], url: &PublicUrl) -> Vec<String> {
    let is_open = |plan: &&MountPlan| matches!(&plan.site, Some(SiteMount { auth: AuthMode::Loopback, .. }));
    plans.iter().filter(is_open).map(|plan| url.at(&plan.path)).collect()
}

/// How a request reached this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    Direct,
    /// Through a proxy, which may run on this machine and forward for anybody.
    Proxy,
}

/// Whether a peer may reach a resource, some of which are restricted to this machine.
pub(super) fn is_reachable(loopback_only: &[String], resource: &str, peer: IpAddr, via: Via) -> bool {
    (peer.to_canonical().is_loopback() && via == Via::Direct) || !loopback_only.iter().any(|local| local == resource)
}

/// Every mount at its path. `own` verifies the tokens of this server.
pub(super) fn build_router(plans: Vec<MountPlan>, url: &PublicUrl, own: &Arc<dyn Identity>) -> Router {
    let (mut exact, mut fallbacks, mut partners) = (Vec::new(), Vec::new(), Vec::new());
    for MountPlan { path, contract, rest, site, partner, maintenance, streaming } in plans {
        let metadata = |path: &str| url.at(&format!("/.well-known/oauth-protected-resource{path}"));
        if let Some(PartnerMount { auth, endpoint, tenant }) = partner {
            // There is no metadata: nobody issues tokens for it.
            let mount = Mount::new(contract, url.at(&path), String::new()).with_tenant(tenant);
            let mount = mount.with_identity(Arc::new(auth)).with_maintenance(maintenance).with_streaming(streaming);
            exact.push((path, mount));
            partners.push(endpoint);
            continue;
        }
        let Some(site) = site else {
            let mount = Mount::new(contract, url.at(&path), metadata(&path)).with_maintenance(maintenance);
            exact.push((
                path,
                match rest {
                    Some(prefix) => mount.with_prefix(prefix),
                    None => mount,
                },
            ));
            continue;
        };
        let scopes = Scopes::new(contract.scopes.iter().cloned());
        let issues_tokens = matches!(&site.auth, AuthMode::Tokens { own: OwnTokens::Accepted, .. });
        let about = site.resources.first().and_then(|first| first.strip_prefix(&url.to_string())).unwrap_or(&path);
        let identity: Arc<dyn Identity> = match site.auth {
            AuthMode::Loopback => Arc::new(LoopbackAuth { tenant: site.tenant, scopes }),
            AuthMode::Tokens { own: own_tokens, jwt } => Arc::new(TokenAuth {
                own: match own_tokens {
                    OwnTokens::Accepted => Some(Arc::clone(own)),
                    OwnTokens::Rejected => None,
                },
                jwt,
                tenant: site.tenant,
                resources: site.resources.clone(),
            }),
        };
        // The metadata say where to ask for tokens; for tokens that the site signs there is no such place.
        let metadata = if issues_tokens { metadata(about) } else { String::new() };
        let mount = Mount::new(contract, url.at(&path), metadata)
            .with_site_db(site.site_db)
            .with_policy(site.policy)
            .with_maintenance(maintenance)
            .with_identity(identity);
        let mount = match site.dispatching {
            Some(dispatching) => mount.with_dispatch(dispatching),
            None => mount,
        };
        match site.path_match {
            PathMatch::Exact => exact.push((path, mount)),
            PathMatch::OneBelow => fallbacks.push((path, mount)),
        }
    }
    let router = Router::new(exact).with_documents(&url.at("/token")).with_partners(partners);
    fallbacks.into_iter().fold(router, |router, (base, mount)| router.with_fallback(base, mount))
}

/// One mount for each path of each server, and one fallback for unknown handles.
fn plan_site(config: &Config, mount: &MountConfig, site: &SiteConfig, opened: &OpenSite) -> Vec<MountPlan> {
    let server_path = |server: &SiteServer| format!("{}/{}", mount.path, server.handle);
    let auth = match &site.auth {
        SiteAuth::None => AuthMode::Loopback,
        SiteAuth::Tokens { own, .. } => AuthMode::Tokens { own: *own, jwt: opened.jwt.clone() },
    };
    let make =
        |path: String, server: &SiteServer, status: MountStatus, path_match: PathMatch, resources: Vec<String>| {
            let mut contract = contracts::site_contract(&mount.contract, &site.tenant, query_limits(server))?;
            let policy = policy(server, status);
            // The configuration decides which scope calls need, also for each tool (E-67).
            for tool in &mut contract.tools {
                tool.spec.scope = ScopeRule::One(policy.scopes.required_scope(&Method::ToolsCall.into()).clone());
            }
            let site_mount = SiteMount {
                policy,
                site_db: Arc::clone(&opened.site_db),
                auth: auth.clone(),
                tenant: site.tenant.clone(),
                dispatching: match path_match {
                    PathMatch::Exact => Some(dispatching(site, server, server_path(server))),
                    PathMatch::OneBelow => None,
                },
                path_match,
                resources,
            };
            Some(MountPlan { site: Some(site_mount), ..MountPlan::new(path, contract) })
        };
    let mut plans = Vec::new();
    for server in &site.servers {
        let allowed = site.allow_servers.iter().any(|pattern| Glob::new(pattern).matches(&server.handle));
        let status = if allowed { MountStatus::Served } else { MountStatus::Denied };
        for path in [server_path(server)].into_iter().chain(server.path.clone()) {
            let resource = vec![config.public_url.at(&path)];
            plans.extend(make(path, server, status, PathMatch::Exact, resource));
        }
    }
    if let Some(first) = site.servers.first() {
        let all = site.servers.iter().map(|server| config.public_url.at(&server_path(server))).collect();
        plans.extend(make(mount.path.clone(), first, MountStatus::Unknown, PathMatch::OneBelow, all));
    }
    plans
}

fn dispatching(site: &SiteConfig, server: &SiteServer, address: String) -> DispatchConfig {
    DispatchConfig {
        tenant: site.tenant.clone(),
        // By its path, because several sites can have the same handle.
        server: address,
        when: match site.dispatch {
            Dispatch::Sync => DispatchMode::Now,
            Dispatch::Async => DispatchMode::Later,
        },
        full: match site.failover {
            Failover::Sync => OnQueueFull::RunNow,
            Failover::Fail => OnQueueFull::Refuse,
        },
        retain: server.limits.retain,
    }
}

fn query_limits(server: &SiteServer) -> QueryLimits {
    let limits = &server.limits;
    QueryLimits { items: limits.result_items, bytes: limits.result_bytes, depth: limits.depth, offset: limits.offset }
}

fn policy(server: &SiteServer, status: MountStatus) -> MountPolicy {
    let patterns = |patterns: &[String]| patterns.iter().map(Glob::new).collect::<Vec<Glob>>();
    let rules = server
        .scopes
        .iter()
        .flat_map(|(scope, methods)| methods.iter().map(|method| (Glob::new(method), Scope::new(scope.as_str()))));
    MountPolicy {
        scopes: MethodScopes::new(rules, Scope::new(server.default_scope.as_str())),
        calls: Quota { per_minute: server.limits.per_minute },
        payload_bytes: server.limits.payload_bytes,
        result_bytes: server.limits.result_bytes,
        denied_tools: patterns(&server.deny_tools),
        status,
    }
}

#[cfg(test)]
mod tests {
    use super::{Via, is_reachable};

    #[test]
    fn loopback_resources_are_reached_from_loopback_only() {
        let local = ["https://localhost/open".to_owned()];
        for (peer, via, resource, reached) in [
            ("127.0.0.1", Via::Direct, "https://localhost/open", true),
            ("::1", Via::Direct, "https://localhost/open", true),
            ("::ffff:127.0.0.1", Via::Direct, "https://localhost/open", true),
            ("127.0.0.1", Via::Proxy, "https://localhost/open", false),
            ("192.0.2.7", Via::Direct, "https://localhost/open", false),
            ("::ffff:192.0.2.7", Via::Direct, "https://localhost/open", false),
            ("192.0.2.7", Via::Direct, "https://localhost/shut", true),
            ("127.0.0.1", Via::Proxy, "https://localhost/shut", true),
        ] {
            assert_eq!(
                is_reachable(&local, resource, peer.parse().unwrap(), via),
                reached,
                "{peer} {via:?} {resource}"
            );
        }
    }
}
