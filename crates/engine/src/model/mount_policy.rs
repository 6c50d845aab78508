//! The policy of a mount: what is checked of a request before anybody looks at what it means. A mount without one
//! leaves all of that to the stages behind.

use frontdesk_wire::method::METHODS;

use crate::limits::rate::Quota;
use crate::model::caller::{Scope, Scopes};
use crate::model::contract::Contract;
use crate::model::glob::Glob;

/// The scope that stands for every other one, for callers of a mount behind a policy.
const EVERY_SCOPE: &str = "*";

#[derive(Debug, Clone)]
pub struct MountPolicy {
    pub scopes: MethodScopes,
    /// Each caller's calls of each method.
    pub calls: Quota,
    /// The largest message that is taken.
    pub payload_bytes: usize,
    /// The largest answer that is given, whatever was asked.
    pub result_bytes: usize,
    /// Tools nobody may use here, whether or not they exist.
    pub denied_tools: Vec<Glob>,
    pub status: MountStatus,
}

/// Whether there is anything behind the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountStatus {
    Served,
    /// There is, and the operator keeps it shut.
    Denied,
    /// There is not: the address names no server.
    Unknown,
}

/// Which scope a JSON-RPC method needs.
#[derive(Debug, Clone)]
pub struct MethodScopes {
    rules: Vec<(Glob, Scope)>,
    otherwise: Scope,
    /// What the methods of the protocol need, found once: nearly every call is one of them.
    known: Vec<(&'static str, Scope)>,
}

impl MethodScopes {
    /// `otherwise` is what a method needs that no rule is about.
    pub fn new(rules: impl IntoIterator<Item = (Glob, Scope)>, otherwise: Scope) -> MethodScopes {
        let plain = MethodScopes { rules: rules.into_iter().collect(), otherwise, known: Vec::new() };
        let known = METHODS.into_iter().map(|method| (method, plain.found(method).clone())).collect();
        MethodScopes { known, ..plain }
    }

    /// A rule that names the method goes before one that only covers it, and the first of equals wins.
    pub fn required_scope(&self, method: &str) -> &Scope {
        let known = self.known.iter().find(|(known, _)| *known == method);
        known.map_or_else(|| self.found(method), |(_, scope)| scope)
    }

    fn found(&self, method: &str) -> &Scope {
        let named = self.rules.iter().find(|(pattern, _)| pattern.is_exact() && pattern.matches(method));
        let covered = || self.rules.iter().find(|(pattern, _)| pattern.matches(method));
        named.or_else(covered).map_or(&self.otherwise, |(_, scope)| scope)
    }
}

impl MountPolicy {
    pub fn denies_tool(&self, tool: &str) -> bool {
        self.denied_tools.iter().any(|pattern| pattern.matches(tool))
    }

    /// What the scopes of a credential come to here, if it is not what they say: `*` is written out, so that everybody
    /// behind the policy can go on comparing scopes byte for byte.
    pub(crate) fn granted(&self, contract: &Contract, scopes: &Scopes) -> Option<Scopes> {
        if !scopes.iter().any(|scope| scope.as_str() == EVERY_SCOPE) {
            return None;
        }
        let methods = self.scopes.rules.iter().map(|(_, scope)| scope).chain([&self.scopes.otherwise]);
        Some(Scopes::new(scopes.iter().chain(&contract.scopes).chain(methods).cloned()))
    }
}
