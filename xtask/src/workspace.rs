//! Where things are: the sources, the build folder and what is built there. It only names paths and creates none.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct Workspace {
    pub root: PathBuf,
    /// The folder that cargo builds into, found from this very executable, so that every way of moving it is honoured.
    pub target: PathBuf,
}

impl Workspace {
    pub fn locate() -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask has no parent folder")?.to_path_buf();
        let program = std::env::current_exe().map_err(|cause| format!("cannot find the running xtask: {cause}"))?;
        let target = program
            .parent()
            .and_then(Path::parent)
            .ok_or_else(|| format!("{} is not inside a cargo target folder", program.display()))?
            .to_path_buf();
        Ok(Self { root, target })
    }

    pub fn release_binary(&self) -> PathBuf {
        self.target.join("release").join("frontdesk")
    }

    /// A program that was built with the profile of the tests.
    pub fn debug_binary(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// Where nextest writes the times of the tests of a profile, as `.config/nextest.toml` says. It is under `target` also
    /// when cargo builds elsewhere.
    pub fn junit_file(&self, profile: &str) -> PathBuf {
        self.root.join("target").join("nextest").join(profile).join("junit.xml")
    }
}
