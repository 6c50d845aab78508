//! What a build can mount: the name of a contract in a configuration, and what a mount of it is made of. It is said by
//! the contracts, so that whoever reads configurations knows none of them by name.

/// A contract that can be mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// As a configuration names it.
    pub name: &'static str,
    pub needs: Needs,
}

impl Offer {
    /// A contract whose mounts are an address and nothing else.
    pub const fn plain(name: &'static str) -> Offer {
        Offer { name, needs: Needs::Nothing }
    }
}

/// What a mount needs besides an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// Somebody else's database to read.
    SiteDb(Usual),
}

/// How much one call to a mount over an archive may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Of a list.
    pub items: u32,
    /// Of an answer.
    pub bytes: usize,
    /// Of a tree.
    pub depth: u32,
    pub offset: u32,
}

/// What a mount over an archive is like when nobody says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usual {
    /// The path below which its servers answer.
    pub base: &'static str,
    /// The one server there is.
    pub server: &'static str,
    /// What the names of the tables begin with.
    pub prefix: &'static str,
    /// Which methods each scope opens; the last scope opens everything that none is named for.
    pub scopes: &'static [(&'static str, &'static [&'static str])],
    /// The names that writing tools have.
    pub write_tools: &'static str,
}
