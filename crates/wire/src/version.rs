//! The versions of MCP that the desk speaks, and the two eras they fall into. A version that is not
//! in this list must never be guessed at.

mod decision;

pub use decision::{EraError, McpHeaders, decide, named};

/// A published version of the protocol, in the order of publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// How a request is served: opened by `initialize` under an older version, or carrying all it needs
/// itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    Legacy(Version),
    Modern,
}

impl Version {
    /// Oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    pub fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => Era::Legacy(self),
            Self::V2026_07_28 => Era::Modern,
        }
    }

    /// Batches came with one version and went with the next.
    pub fn allows_batches(self) -> bool {
        match self {
            Self::V2025_03_26 => true,
            Self::V2024_11_05 | Self::V2025_06_18 | Self::V2025_11_25 | Self::V2026_07_28 => false,
        }
    }
}

impl Era {
    pub fn version(self) -> Version {
        match self {
            Self::Legacy(version) => version,
            Self::Modern => Version::V2026_07_28,
        }
    }
}

/// The version that answers an `initialize`: the one asked for where it has a handshake and is
/// known, else the newest that has one. A client that cannot live with it hangs up.
pub fn negotiate(asked: &str) -> Version {
    match Version::parse(asked).map(Version::era) {
        Some(Era::Legacy(version)) => version,
        Some(Era::Modern) | None => Version::NEWEST_LEGACY,
    }
}

/// All versions as the text of a JSON list, newest first. Discovery and the refusal of a version
/// must name the same.
pub fn supported_versions() -> String {
    let quoted: Vec<String> = Version::ALL.iter().rev().map(|version| format!("\"{}\"", version.as_str())).collect();
    format!("[{}]", quoted.join(","))
}
