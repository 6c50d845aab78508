//! One test's database on a MariaDB server that other tests use too.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::mariadb::{MariadbServer, client, run_sql, url};
use super::{MARIADB_VARIABLE, new_database_name, shared_folder};

/// Dropped with its value. The user `reader` may read and write it.
pub struct MariadbDatabase {
    name: String,
    folder: PathBuf,
    /// Kept until the last database of this process goes, if there is no shared server.
    _server: Option<Arc<MariadbServer>>,
}

impl MariadbDatabase {
    /// An empty database.
    pub fn create() -> MariadbDatabase {
        let (folder, server) = server();
        let database = MariadbDatabase { name: new_database_name(), folder, _server: server };
        run_sql(&database.folder, "mysql", &format!("CREATE DATABASE {}", database.name));
        database
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connects as the user `reader`.
    pub fn url(&self) -> String {
        url(&self.folder, &self.name)
    }

    /// Runs SQL as the superuser.
    pub fn sql(&self, text: &str) {
        run_sql(&self.folder, &self.name, text);
    }
}

impl Drop for MariadbDatabase {
    fn drop(&mut self) {
        let _ = client(&self.folder, "mysql", &format!("DROP DATABASE IF EXISTS {}", self.name));
    }
}

/// The shared server's folder, or that of this process's own server.
fn server() -> (PathBuf, Option<Arc<MariadbServer>>) {
    static PRIVATE: Mutex<Weak<MariadbServer>> = Mutex::new(Weak::new());
    if let Some(folder) = shared_folder(MARIADB_VARIABLE) {
        return (folder, None);
    }
    // A test that failed to start its server leaves the next one to try.
    let mut private = PRIVATE.lock().unwrap_or_else(PoisonError::into_inner);
    let server = private.upgrade().unwrap_or_else(|| {
        let server = Arc::new(MariadbServer::start());
        *private = Arc::downgrade(&server);
        server
    });
    (server.folder().to_owned(), Some(server))
}
