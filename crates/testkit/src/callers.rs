//! Who calls, and who watches: an `Identity` that believes what a token says, and an `Observer` that remembers calls.

pub mod automotive_names;
pub mod signal_figures;

use std::sync::{Arc, Mutex};

use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::notice::Notice;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::{Identity, Observer};
use frontdesk_engine::{Caller, ClientId, Fault, FaultKind, Scopes, TenantId};

/// A token is `tenant[,tenant][@login]/scope[ scope]`, and the caller is the client `client`. The login is when a person
/// logged in, in seconds since 1970.
pub struct TokenIdentity;

impl Identity for TokenIdentity {
    fn identify<'a>(&'a self, credential: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(async move {
            let refused = || Fault::new(FaultKind::Unauthenticated, "no");
            let Credential::Bearer(token) = credential else {
                return Err(refused());
            };
            let (tenants, scopes) = token.split_once('/').ok_or_else(refused)?;
            let (tenants, login) = tenants.split_once('@').unwrap_or((tenants, ""));
            let tenants: Vec<&str> = tenants.split(',').filter(|tenant| !tenant.is_empty()).collect();
            Ok(Arc::new(Caller { authenticated_at: login.parse().ok(), ..caller("client", &tenants, scopes) }))
        })
    }
}

pub fn caller(name: &str, tenants: &[&str], scopes: &str) -> Caller {
    Caller {
        client: ClientId::new(name),
        subject: name.into(),
        tenants: tenants.iter().filter_map(|tenant| TenantId::parse(tenant)).collect(),
        scopes: Scopes::parse(scopes).unwrap(),
        authenticated_at: None,
    }
}

/// Remembers every finished call, and every notice.
#[derive(Default)]
pub struct ObservedCalls(Mutex<Vec<(Observation, Option<String>)>>, Mutex<Vec<&'static str>>);

impl ObservedCalls {
    /// The line of each call.
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(call, _)| call.to_line()).collect()
    }

    /// The line of each call and its cause, or a dash.
    pub fn lines_with_causes(&self) -> Vec<String> {
        let calls = self.0.lock().unwrap();
        calls.iter().map(|(call, cause)| format!("{} {}", call.to_line(), cause.as_deref().unwrap_or("-"))).collect()
    }

    pub fn last(&self) -> Observation {
        self.0.lock().unwrap().last().unwrap().0.clone()
    }

    pub fn outcomes(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().iter().map(|(call, _)| call.outcome).collect()
    }

    pub fn notices(&self) -> Vec<&'static str> {
        self.1.lock().unwrap().clone()
    }

    pub fn causes(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().filter_map(|(_, cause)| cause.clone()).collect()
    }
}

impl Observer for ObservedCalls {
    fn on_call(&self, observation: &Observation, cause: Option<&str>) {
        self.0.lock().unwrap().push((observation.clone(), cause.map(str::to_owned)));
    }

    fn on_notice(&self, notice: &Notice<'_>) {
        self.1.lock().unwrap().push(notice.as_str());
    }
}
