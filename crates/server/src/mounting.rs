//! What answers where: the mounts of a configuration, with the door, the database and the judge that each has. It
//! opens nothing; that has been done.

use std::net::IpAddr;
use std::sync::Arc;

use frontdesk_contracts as contracts;
use frontdesk_engine::desk::Mount;
use frontdesk_engine::dispatch::{DispatchConfig, DispatchMode, OnQueueFull};
use frontdesk_engine::limits::rate::Quota;
use frontdesk_engine::model::glob::Glob;
use frontdesk_engine::model::mount_policy::{MethodScopes, MountPolicy, MountStatus};
use frontdesk_engine::offer::Bounds;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::ports::site_db::SiteDb;
use frontdesk_engine::{Contract, Scope, Scopes, TenantId};
use frontdesk_identity::ProtectedResource;

use crate::addresses::Addresses;
use crate::config::{Auth, Config, Dispatch, Failover, OwnTokens, PublicUrl, Server, Site};
use crate::sites::{Everyone, Members, Opened, Sites};

/// The method by which tools are called.
const CALL: &str = "tools/call";

/// A contract on its way to a path.
pub(crate) struct Planned {
    path: String,
    contract: Contract,
    behind: Option<Behind>,
}

/// What a server of a site has besides its contract.
struct Behind {
    door: MountPolicy,
    archive: Arc<dyn SiteDb>,
    judged: Judged,
    tenant: TenantId,
    reach: Reach,
    /// How dispatched messages are taken, where there is a server to take them.
    dispatching: Option<DispatchConfig>,
    /// The addresses for which a token is good here.
    resources: Vec<String>,
}

#[derive(Clone)]
enum Judged {
    Nobody,
    Tokens { own: OwnTokens, jwt: Option<Arc<dyn Identity>> },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Exactly its path.
    Own,
    /// Whatever is one segment below its path and nobody else's.
    Below,
}

impl Planned {
    /// A contract that needs nothing but its path.
    pub(crate) fn plain(path: String, contract: Contract) -> Planned {
        Planned { path, contract, behind: None }
    }

    /// Whether tokens of this server are good there.
    fn takes_own_tokens(&self) -> bool {
        match &self.behind {
            None => true,
            Some(Behind { reach: Reach::Below, .. }) => false,
            Some(Behind { judged, .. }) => matches!(judged, Judged::Tokens { own: OwnTokens::Taken, .. }),
        }
    }
}

/// Everything that a configuration mounts. A site that nobody has opened cannot be mounted; `missed` hears of it.
pub(crate) fn planned(config: &Config, sites: &Sites, missed: &mut dyn FnMut(&str)) -> Vec<Planned> {
    let mut planned = Vec::new();
    for (index, mount) in config.mounts.iter().enumerate() {
        match (&mount.site, sites.get(index)) {
            (Some(site), Some(opened)) => planned.extend(of_site(config, mount, site, opened)),
            (Some(_), None) => missed(&format!("mount[{index}] at {} was not opened and is not served", mount.path)),
            (None, _) => {
                let contract = contracts::by_id(&mount.contract);
                planned.extend(contract.map(|contract| Planned::plain(mount.path.clone(), contract)));
            }
        }
    }
    planned
}

/// What tokens can be asked for.
pub(crate) fn resources(planned: &[Planned], url: &PublicUrl) -> Vec<ProtectedResource> {
    let open = planned.iter().filter(|planned| planned.takes_own_tokens());
    let resources = open.map(|Planned { path, contract, .. }| ProtectedResource {
        path: path.clone(),
        url: url.at(path),
        scopes: contract.scopes.clone(),
        default_scope: contract.default_scope.clone(),
        name: contract.server_info.title.to_owned(),
    });
    resources.collect()
}

/// The resources that nobody but this machine's own may reach.
pub(crate) fn local(planned: &[Planned], url: &PublicUrl) -> Vec<String> {
    let is_open = |planned: &&Planned| matches!(&planned.behind, Some(Behind { judged: Judged::Nobody, .. }));
    planned.iter().filter(is_open).map(|planned| url.at(&planned.path)).collect()
}

/// How a request came to this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    Directly,
    /// By a proxy, which may stand on this machine and speak for anybody.
    Forwarded,
}

/// Whether a peer may reach a resource, some of which are for this machine alone.
pub(crate) fn may_reach(local: &[String], resource: &str, peer: IpAddr, came: Came) -> bool {
    (peer.to_canonical().is_loopback() && came == Came::Directly) || !local.iter().any(|local| local == resource)
}

/// Every mount at its address. `own` judges the tokens of this server.
pub(crate) fn addresses(planned: Vec<Planned>, url: &PublicUrl, own: &Arc<dyn Identity>) -> Addresses {
    let (mut at, mut below) = (Vec::new(), Vec::new());
    for Planned { path, contract, behind } in planned {
        let metadata = |path: &str| url.at(&format!("/.well-known/oauth-protected-resource{path}"));
        let Some(behind) = behind else {
            let mount = Mount::new(contract, url.at(&path), metadata(&path));
            at.push((path, mount));
            continue;
        };
        let scopes = Scopes::new(contract.scopes.iter().cloned());
        let gives_tokens = matches!(&behind.judged, Judged::Tokens { own: OwnTokens::Taken, .. });
        let about = behind.resources.first().and_then(|first| first.strip_prefix(&url.to_string())).unwrap_or(&path);
        let judge: Arc<dyn Identity> = match behind.judged {
            Judged::Nobody => Arc::new(Everyone { tenant: behind.tenant, scopes }),
            Judged::Tokens { own: taken, jwt } => Arc::new(Members {
                own: match taken {
                    OwnTokens::Taken => Some(Arc::clone(own)),
                    OwnTokens::Refused => None,
                },
                jwt,
                tenant: behind.tenant,
                resources: behind.resources.clone(),
            }),
        };
        // Metadata say where to ask for tokens, and of tokens that somebody else signs they could not.
        let metadata = if gives_tokens { metadata(about) } else { String::new() };
        let mount = Mount::new(contract, url.at(&path), metadata)
            .with_site_db(behind.archive)
            .with_policy(behind.door)
            .with_identity(judge);
        let mount = match behind.dispatching {
            Some(dispatching) => mount.with_dispatch(dispatching),
            None => mount,
        };
        match behind.reach {
            Reach::Own => at.push((path, mount)),
            Reach::Below => below.push((path, mount)),
        }
    }
    below.into_iter().fold(Addresses::new(at), |addresses, (base, mount)| addresses.otherwise(base, mount))
}

/// One mount for each address of each server, and one for every server that is not there.
fn of_site(config: &Config, mount: &crate::config::Mount, site: &Site, opened: &Opened) -> Vec<Planned> {
    let own = |server: &Server| format!("{}/{}", mount.path, server.handle);
    let judged = match &site.auth {
        Auth::None => Judged::Nobody,
        Auth::Tokens { own, .. } => Judged::Tokens { own: *own, jwt: opened.jwt.clone() },
    };
    let make = |path: String, server: &Server, standing: MountStatus, reach: Reach, resources: Vec<String>| {
        let mut contract = contracts::site_contract(&mount.contract, &site.tenant, bounds(server))?;
        let door = door(server, standing);
        // A tool asks for its scope itself; here the operator says which one that is (E-67).
        for tool in &mut contract.tools {
            tool.spec.scope = door.scopes.required_scope(CALL).clone();
        }
        let behind = Behind {
            door,
            archive: Arc::clone(&opened.archive),
            judged: judged.clone(),
            tenant: site.tenant.clone(),
            dispatching: match reach {
                Reach::Own => Some(dispatching(site, server, own(server))),
                Reach::Below => None,
            },
            reach,
            resources,
        };
        Some(Planned { path, contract, behind: Some(behind) })
    };
    let mut planned = Vec::new();
    for server in &site.servers {
        let allowed = site.allow_servers.iter().any(|pattern| Glob::new(pattern).matches(&server.handle));
        let standing = if allowed { MountStatus::Served } else { MountStatus::Denied };
        for path in [own(server)].into_iter().chain(server.path.clone()) {
            let resource = vec![config.public_url.at(&path)];
            planned.extend(make(path, server, standing, Reach::Own, resource));
        }
    }
    if let Some(first) = site.servers.first() {
        let all = site.servers.iter().map(|server| config.public_url.at(&own(server))).collect();
        planned.extend(make(mount.path.clone(), first, MountStatus::Unknown, Reach::Below, all));
    }
    planned
}

fn dispatching(site: &Site, server: &Server, address: String) -> DispatchConfig {
    DispatchConfig {
        tenant: site.tenant.clone(),
        // Handles are alike from site to site.
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

fn bounds(server: &Server) -> Bounds {
    let limits = &server.limits;
    Bounds { items: limits.result_items, bytes: limits.result_bytes, depth: limits.depth, offset: limits.offset }
}

fn door(server: &Server, standing: MountStatus) -> MountPolicy {
    let patterns = |patterns: &[String]| patterns.iter().map(Glob::new).collect::<Vec<Glob>>();
    let rules = server
        .scopes
        .iter()
        .flat_map(|(scope, methods)| methods.iter().map(|method| (Glob::new(method), Scope::new(scope.as_str()))));
    MountPolicy {
        scopes: MethodScopes::new(rules, Scope::new(server.otherwise.as_str())),
        calls: Quota { per_minute: server.limits.per_minute },
        payload_bytes: server.limits.payload_bytes,
        result_bytes: server.limits.result_bytes,
        denied_tools: patterns(&server.deny_tools),
        status: standing,
    }
}

#[cfg(test)]
mod tests {
    use super::{Came, may_reach};

    #[test]
    fn what_is_for_this_machine_alone_is_reached_from_loopback_only() {
        let local = ["https://localhost/open".to_owned()];
        for (peer, came, resource, reached) in [
            ("127.0.0.1", Came::Directly, "https://localhost/open", true),
            ("::1", Came::Directly, "https://localhost/open", true),
            ("::ffff:127.0.0.1", Came::Directly, "https://localhost/open", true),
            ("127.0.0.1", Came::Forwarded, "https://localhost/open", false),
            ("192.0.2.7", Came::Directly, "https://localhost/open", false),
            ("::ffff:192.0.2.7", Came::Directly, "https://localhost/open", false),
            ("192.0.2.7", Came::Directly, "https://localhost/shut", true),
            ("127.0.0.1", Came::Forwarded, "https://localhost/shut", true),
        ] {
            assert_eq!(may_reach(&local, resource, peer.parse().unwrap(), came), reached, "{peer} {came:?} {resource}");
        }
    }
}
