//! Which mount answers at which path.

use frontdesk_engine::desk::Mount;

/// The path below a mount that accepts dispatched requests.
const DISPATCH: &str = "/dispatch";

/// The mounts by their paths.
#[derive(Default)]
pub struct Router {
    exact: Vec<(String, Mount)>,
    fallbacks: Vec<(String, Mount)>,
}

impl Router {
    /// Mounts at exact paths, in the order in which they are listed.
    pub fn new(exact: Vec<(String, Mount)>) -> Router {
        Router { exact, fallbacks: Vec::new() }
    }

    /// Routes every path one segment below the base that has no exact match to this mount, which is not listed.
    pub fn with_fallback(mut self, base: String, mount: Mount) -> Router {
        self.fallbacks.push((base, mount));
        self
    }

    pub fn find(&self, path: &str) -> Option<&Mount> {
        let exact = self.exact.iter().find(|(mounted, _)| mounted == path);
        let fallback = || self.fallbacks.iter().find(|(base, _)| is_one_below(base, path));
        exact.or_else(fallback).map(|(_, mount)| mount)
    }

    /// The mount whose dispatch endpoint has this path. Only mounts with a policy have one, and a mount at exactly this path
    /// takes precedence.
    pub fn find_dispatch(&self, path: &str) -> Option<&Mount> {
        if self.exact.iter().any(|(mounted, _)| mounted == path) {
            return None;
        }
        self.find(path.strip_suffix(DISPATCH)?).filter(|mount| mount.policy.is_some())
    }

    /// The mounts with exact paths.
    pub fn iter(&self) -> impl Iterator<Item = &(String, Mount)> {
        self.exact.iter()
    }

    pub fn get(&self, index: usize) -> Option<&(String, Mount)> {
        self.exact.get(index)
    }
}

fn is_one_below(base: &str, path: &str) -> bool {
    let rest = path.strip_prefix(base).and_then(|rest| rest.strip_prefix('/'));
    rest.is_some_and(|segment| !segment.is_empty() && !segment.contains('/'))
}
