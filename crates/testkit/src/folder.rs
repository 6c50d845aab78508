//! A folder for one test, removed with its value.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct TestFolder(PathBuf);

impl TestFolder {
    /// An empty folder under the build folder.
    #[expect(clippy::new_without_default, reason = "making a folder is no default value")]
    pub fn new() -> TestFolder {
        TestFolder::under(&build_folder())
    }

    /// An empty folder whose path is short enough for a socket.
    pub fn short() -> TestFolder {
        TestFolder::under(&std::env::temp_dir())
    }

    fn under(parent: &Path) -> TestFolder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let path = parent.join(format!("fd-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        // A test that was killed may have left one, and its number has come round again.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        TestFolder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// `tmp` in the build folder this program is in, as cargo gives it to integration tests.
pub(crate) fn build_folder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let build_folder = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    build_folder.map_or_else(std::env::temp_dir, |folder| folder.join("tmp"))
}
