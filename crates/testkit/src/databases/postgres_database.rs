//! One test's database on a PostgreSQL server that other tests use too.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::postgres::{HeldLocks, PostgresServer, ROLE, psql, run_sql, sql_error, url};
use super::{POSTGRES_VARIABLE, new_database_name, shared_folder};

/// Dropped with its value. Its owner is the role `desk`, whose settings and whose server it shares with other tests.
pub struct PostgresDatabase {
    name: String,
    folder: PathBuf,
    port: u16,
    host: Host,
}

/// Who stops the server that a database is on.
enum Host {
    /// The process `test-databases`.
    TestRun,
    /// The last database of this process.
    Process(#[expect(dead_code, reason = "held so that the server runs")] Arc<PostgresServer>),
    /// The test, which has it for itself.
    Test(Arc<PostgresServer>),
}

impl PostgresDatabase {
    /// An empty database.
    pub fn create() -> PostgresDatabase {
        PostgresDatabase::copy_of("template0")
    }

    /// A copy of what `make` has written into an empty database, which it does once a server.
    pub async fn from_template(template: &str, make: impl AsyncFnOnce(&PostgresDatabase)) -> PostgresDatabase {
        let template = format!("template_{template}");
        // Holds the server until the copy has it.
        let admin = Admin::connect();
        let lock = std::fs::File::create(admin.folder.join("template.lock")).unwrap();
        lock.lock().unwrap();
        let found = format!("SELECT 1 FROM pg_database WHERE datname = '{template}'");
        if admin.sql(&found).is_empty() {
            let first = PostgresDatabase::create();
            make(&first).await;
            disconnect(&admin, &first.name);
            admin.sql(&format!("ALTER DATABASE {} RENAME TO {template}", first.name));
        }
        let database = PostgresDatabase::copy_of(&template);
        drop(lock);
        database
    }

    fn copy_of(template: &str) -> PostgresDatabase {
        let admin = Admin::connect();
        let name = new_database_name();
        admin.sql(&format!("CREATE DATABASE {name} OWNER {ROLE} TEMPLATE {template}"));
        let Admin { folder, server } = admin;
        PostgresDatabase { name, folder, port: 5432, host: server.map_or(Host::TestRun, Host::Process) }
    }

    /// The database `desk` of a server that this test has for itself, and may stop or configure.
    pub fn on(server: PostgresServer) -> PostgresDatabase {
        let (folder, port) = (server.folder().to_owned(), server.port());
        PostgresDatabase { name: ROLE.to_owned(), folder, port, host: Host::Test(Arc::new(server)) }
    }

    /// The server that this test has for itself.
    pub fn server(&self) -> &PostgresServer {
        match &self.host {
            Host::Test(server) => server,
            Host::TestRun | Host::Process(_) => panic!("other tests use this server, too"),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connects as the role `desk`.
    pub fn url(&self) -> String {
        self.url_as(ROLE)
    }

    pub fn url_as(&self, role: &str) -> String {
        self.url_of(role, &self.name)
    }

    /// Another database of the same server.
    pub fn url_of(&self, role: &str, database: &str) -> String {
        url(&self.folder, role, database)
    }

    /// Runs SQL as the superuser and gives back what it prints, a row a line.
    pub fn sql(&self, text: &str) -> Vec<String> {
        run_sql(self.psql(), text)
    }

    /// Runs a script, which may be larger than an argument, and lets the role `desk` read all tables.
    pub fn load(&self, script: &str) {
        let file = std::env::temp_dir().join(format!("fdsql-{}", self.name));
        std::fs::write(&file, format!("{script} GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE};")).unwrap();
        self.sql(&format!("\\i {}", file.display()));
        std::fs::remove_file(&file).unwrap();
    }

    fn psql(&self) -> Command {
        psql(&self.folder, self.port, &self.name)
    }

    /// The error that the server answers this SQL with.
    pub fn sql_error(&self, text: &str) -> String {
        sql_error(self.psql(), text)
    }

    /// Takes the locks of these statements and holds them until the value is dropped.
    pub fn hold(&self, text: &str) -> HeldLocks {
        HeldLocks::take(self.psql(), text)
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        if matches!(self.host, Host::Test(_)) {
            return;
        }
        let text = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let _ = psql(&self.folder, 5432, "postgres").args(["-c", &text]).output();
    }
}

/// A template can only be copied or renamed while nobody is connected to it.
fn disconnect(admin: &Admin, name: &str) {
    let others = format!("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'");
    admin.sql(&others);
}

/// The server that databases of this process are on.
struct Admin {
    folder: PathBuf,
    server: Option<Arc<PostgresServer>>,
}

impl Admin {
    fn connect() -> Admin {
        static PRIVATE: Mutex<Weak<PostgresServer>> = Mutex::new(Weak::new());
        if let Some(folder) = shared_folder(POSTGRES_VARIABLE) {
            return Admin { folder, server: None };
        }
        // A test that failed to start its server leaves the next one to try.
        let mut private = PRIVATE.lock().unwrap_or_else(PoisonError::into_inner);
        let server = private.upgrade().unwrap_or_else(|| {
            let server = Arc::new(PostgresServer::start_with(super::WalSync::Off, &["max_connections=300"]));
            *private = Arc::downgrade(&server);
            server
        });
        Admin { folder: server.folder().to_owned(), server: Some(server) }
    }

    fn sql(&self, text: &str) -> Vec<String> {
        run_sql(psql(&self.folder, 5432, "postgres"), text)
    }
}
