//! The policy of a mount: scopes per method, rates, size limits, denied tools. It is checked before a message is
//! understood (`pipeline::precheck`). A mount without one leaves all of that to the later stages.

use frontdesk_wire::method::{Method, MethodName};

use crate::limits::rate::Quota;
use crate::model::caller::{Scope, Scopes};
use crate::model::contract::Contract;
use crate::model::glob::Glob;

/// Stands for every scope, for callers of a mount with a policy.
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
    /// Patterns of tools that are denied here, whether or not they exist.
    pub denied_tools: Vec<Glob>,
    pub status: MountStatus,
}

/// Whether the mount serves anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountStatus {
    Served,
    /// The operator denies it.
    Denied,
    /// No server has the name in the address.
    Unknown,
}

/// Which scope a JSON-RPC method needs.
#[derive(Debug, Clone)]
pub struct MethodScopes {
    rules: Vec<(Glob, Scope)>,
    default: Scope,
    /// The scopes of the protocol's own methods, looked up once: nearly every call is one of them.
    known: Vec<(Method, Scope)>,
}

impl MethodScopes {
    /// `default` is what a method needs that no rule covers.
    pub fn new(rules: impl IntoIterator<Item = (Glob, Scope)>, default: Scope) -> MethodScopes {
        let plain = MethodScopes { rules: rules.into_iter().collect(), default, known: Vec::new() };
        let known = Method::KNOWN.into_iter().map(|method| (method, plain.lookup(method.as_str()).clone())).collect();
        MethodScopes { known, ..plain }
    }

    /// A rule that names the method goes before one that only covers it, and the first of equals wins.
    pub fn required_scope(&self, name: &MethodName) -> &Scope {
        let known = self.known.iter().find(|(known, _)| *known == name.method());
        known.map_or_else(|| self.lookup(name.as_str()), |(_, scope)| scope)
    }

    fn lookup(&self, method: &str) -> &Scope {
        let named = self.rules.iter().find(|(pattern, _)| pattern.is_exact() && pattern.matches(method));
        let covered = || self.rules.iter().find(|(pattern, _)| pattern.matches(method));
        named.or_else(covered).map_or(&self.default, |(_, scope)| scope)
    }
}

impl MountPolicy {
    pub fn denies_tool(&self, tool: &str) -> bool {
        self.denied_tools.iter().any(|pattern| pattern.matches(tool))
    }

    /// A credential with the scope `*` gets every scope of the contract written out, so that all later checks can compare
    /// scopes byte for byte.
    pub(crate) fn expand_scopes(&self, contract: &Contract, scopes: &Scopes) -> Option<Scopes> {
        if !scopes.iter().any(|scope| scope.as_str() == EVERY_SCOPE) {
            return None;
        }
        let methods = self.scopes.rules.iter().map(|(_, scope)| scope).chain([&self.scopes.default]);
        Some(Scopes::new(scopes.iter().chain(&contract.scopes).chain(methods).cloned()))
    }
}
