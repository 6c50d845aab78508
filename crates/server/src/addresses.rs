//! Which mount answers at which path. Looking up is all it does: nothing here knows what is mounted.

use frontdesk_engine::desk::Mount;

/// Where a mount takes work that is asked for again under its key, below its own path.
const DISPATCH: &str = "/dispatch";

/// The mounts of a house by their paths.
#[derive(Default)]
pub struct Addresses {
    own: Vec<(String, Mount)>,
    below: Vec<(String, Mount)>,
}

impl Addresses {
    /// Mounts at paths of their own, in the order in which they are shown.
    pub fn new(own: Vec<(String, Mount)>) -> Addresses {
        Addresses { own, below: Vec::new() }
    }

    /// Lets this mount answer at every path one segment below the base that is no other's own. It is no place of its
    /// own and is not shown.
    pub fn otherwise(mut self, base: String, mount: Mount) -> Addresses {
        self.below.push((base, mount));
        self
    }

    pub fn find(&self, path: &str) -> Option<&Mount> {
        let own = self.own.iter().find(|(mounted, _)| mounted == path);
        let below = || self.below.iter().find(|(base, _)| is_one_below(base, path));
        own.or_else(below).map(|(_, mount)| mount)
    }

    /// The mount whose dispatch has this path. Only those behind a door have one, and a mount at the very path goes
    /// before it.
    pub fn find_dispatch(&self, path: &str) -> Option<&Mount> {
        if self.own.iter().any(|(mounted, _)| mounted == path) {
            return None;
        }
        self.find(path.strip_suffix(DISPATCH)?).filter(|mount| mount.policy.is_some())
    }

    /// The mounts with paths of their own.
    pub fn iter(&self) -> impl Iterator<Item = &(String, Mount)> {
        self.own.iter()
    }

    pub fn get(&self, at: usize) -> Option<&(String, Mount)> {
        self.own.get(at)
    }
}

fn is_one_below(base: &str, path: &str) -> bool {
    let rest = path.strip_prefix(base).and_then(|rest| rest.strip_prefix('/'));
    rest.is_some_and(|segment| !segment.is_empty() && !segment.contains('/'))
}
