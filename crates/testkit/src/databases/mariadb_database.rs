//! One test's database on a MariaDB server that other tests use too.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::mariadb::{MariadbServer, client, run_sql, url};
use super::{MARIADB_VARIABLE, new_database_name, shared_folder};

/// Dropped with its value. The user `reader` may read and write it.
pub struct MariadbDatabase {
    name: String,
    folder: PathBuf,
    host: Host,
}

/// Who stops the server that a database is on.
enum Host {
    /// The process `test-databases`.
    TestRun,
    /// The last database of this process.
    Process(#[expect(dead_code, reason = "held so that the server runs")] Arc<MariadbServer>),
    /// The test, which has it for itself.
    Test(Arc<MariadbServer>),
}

impl MariadbDatabase {
    /// An empty database.
    pub fn create() -> MariadbDatabase {
        let (folder, server) = server();
        let host = server.map_or(Host::TestRun, Host::Process);
        let database = MariadbDatabase { name: new_database_name(), folder, host };
        run_sql(&database.folder, "mysql", &format!("CREATE DATABASE {}", database.name));
        database
    }

    /// The database `site` of a server that this test has for itself, and may stop.
    pub fn on(server: MariadbServer) -> MariadbDatabase {
        let folder = server.folder().to_owned();
        MariadbDatabase { name: "site".to_owned(), folder, host: Host::Test(Arc::new(server)) }
    }

    /// The server that this test has for itself.
    pub fn server(&self) -> &MariadbServer {
        match &self.host {
            Host::Test(server) => server,
            Host::TestRun | Host::Process(_) => panic!("other tests use this server, too"),
        }
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
        if matches!(self.host, Host::Test(_)) {
            return;
        }
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
