//! The databases that are measured, and what differs between them: where seeded data is kept, how each server is
//! configured for its copy, how many leads that holds and what the database itself has used. Everything else is the same for all.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frontdesk::config;
use frontdesk_store::Address;
use frontdesk_testkit::databases::{PostgresServer, ROLE};

use crate::cms::SiteSource;
use crate::process::cpu_of;
use crate::{BenchResult, Options, statement_log};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// Beyond what tests need: memory for the data, as anybody would give it. Syncing stays on, as it is by default.
const SETTINGS: &[&str] = &["shared_buffers=256MB", "max_wal_size=256MB", statement_log::PREFIX];
/// Where a seeded folder keeps PostgreSQL's files.
const CLUSTER: &str = "cluster";
/// The reference's copy; Frontdesk's has the name that the server was made with.
const BARE: &str = "bare";

impl Database {
    pub const ALL: &'static [Database] = &[Database::Sqlite, Database::Postgres];

    pub fn name(self) -> &'static str {
        match self {
            Database::Sqlite => "sqlite",
            Database::Postgres => "postgres",
        }
    }

    /// An empty one to be filled, for a folder of this path.
    pub fn empty(self, folder: &Path) -> Storage {
        let data = match self {
            Database::Sqlite => Data::File,
            Database::Postgres => Data::Server { server: Arc::new(PostgresServer::initialise(SETTINGS)), name: ROLE },
        };
        Storage { folder: folder.to_owned(), data }
    }

    /// A copy of seeded data for Frontdesk and one for the reference, so that what is kept for the next run stays as it
    /// was made. On PostgreSQL they are two databases of one server.
    pub fn copies(self, seeded: &Path, options: &Options) -> BenchResult<(Storage, Storage)> {
        let (desk, bare) = (options.work.join("frontdesk"), options.work.join("reference"));
        copy_folder(seeded, &desk)?;
        copy_folder(seeded, &bare)?;
        let (ours, other) = match self {
            Database::Sqlite => (Data::File, Data::File),
            Database::Postgres => {
                let server = Arc::new(PostgresServer::start_from(&seeded.join(CLUSTER), SETTINGS));
                let copy = format!("CREATE DATABASE {BARE} TEMPLATE {ROLE} OWNER {ROLE} STRATEGY FILE_COPY");
                server.sql("postgres", &copy);
                (Data::Server { server: Arc::clone(&server), name: ROLE }, Data::Server { server, name: BARE })
            }
        };
        Ok((Storage { folder: desk, data: ours }, Storage { folder: bare, data: other }))
    }
}

/// What one server has for itself: a folder with its keys and certificates, and its data.
pub struct Storage {
    pub folder: PathBuf,
    data: Data,
}

enum Data {
    /// In the folder.
    File,
    /// In the folder, and a site beside it that is only read.
    FileAndSite(SiteSource),
    /// In the folder, with the configuration of a partner's mount beside it.
    FileAndPartner,
    Server {
        server: Arc<PostgresServer>,
        name: &'static str,
    },
}

impl Storage {
    /// As Frontdesk is configured with it; nothing for a file in its folder.
    pub fn url(&self) -> Option<String> {
        match &self.data {
            Data::File | Data::FileAndSite(_) | Data::FileAndPartner => None,
            Data::Server { server, name } => Some(server.url_of(ROLE, name)),
        }
    }

    /// What its server calls this copy.
    pub fn name(&self) -> &'static str {
        match &self.data {
            Data::File | Data::FileAndSite(_) | Data::FileAndPartner => "",
            Data::Server { name, .. } => name,
        }
    }

    pub(crate) fn server(&self) -> Option<&PostgresServer> {
        match &self.data {
            Data::File | Data::FileAndSite(_) | Data::FileAndPartner => None,
            Data::Server { server, .. } => Some(server),
        }
    }

    pub fn config(&self) -> BenchResult<config::DatabaseConfig> {
        Ok(match self.url() {
            None => config::DatabaseConfig::Embedded,
            Some(url) => config::DatabaseConfig::Postgres(Address::parse(&url).map_err(|_| "not an address")?),
        })
    }

    /// Environment variables that tell Frontdesk where its data is.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        match &self.data {
            Data::File => Vec::new(),
            Data::FileAndSite(_) | Data::FileAndPartner => {
                vec![("FRONTDESK_CONFIG", self.folder.join(SiteSource::CONFIG).display().to_string())]
            }
            Data::Server { server, name } => vec![("FRONTDESK_DATABASE", server.url_of(ROLE, name))],
        }
    }

    /// The arguments that tell the reference where its data is.
    pub fn reference(&self) -> [String; 2] {
        match &self.data {
            Data::File => {
                ["--database".to_owned(), frontdesk::data_dir::database_file(&self.folder).display().to_string()]
            }
            Data::FileAndSite(site) => ["--site".to_owned(), site.url()],
            Data::FileAndPartner => {
                ["--partner".to_owned(), frontdesk::data_dir::database_file(&self.folder).display().to_string()]
            }
            Data::Server { server, name } => ["--database".to_owned(), server.url_of(ROLE, name)],
        }
    }

    /// A folder whose desk reads this site.
    pub(crate) fn with_site(folder: PathBuf, site: SiteSource) -> Storage {
        Storage { folder, data: Data::FileAndSite(site) }
    }

    /// A folder whose desk serves a partner's mount.
    pub(crate) fn with_partner(folder: PathBuf) -> Storage {
        Storage { folder, data: Data::FileAndPartner }
    }

    /// Removes all data.
    pub fn clear(&self) -> BenchResult<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        match &self.data {
            Data::File | Data::FileAndSite(_) | Data::FileAndPartner => {}
            Data::Server { server, name } => {
                server.sql("postgres", &format!("DROP DATABASE {name} WITH (FORCE)"));
                server.sql("postgres", &format!("CREATE DATABASE {name} OWNER {ROLE}"));
            }
        }
        Ok(())
    }

    /// Vacuums seeded data, as autovacuum would in use, and keeps it for copies.
    pub fn keep(&self) {
        match &self.data {
            Data::File | Data::FileAndSite(_) | Data::FileAndPartner => {}
            Data::Server { server, name } => {
                // Only what was filled: a table that was vacuumed while it was empty is planned for as if it stayed so.
                for table in ["vehicle", "vehicle_word"] {
                    server.sql(name, &format!("VACUUM ANALYZE {table}"));
                }
                server.save(&self.folder.join(CLUSTER));
            }
        }
    }

    /// How many leads there are, counted in the database itself.
    pub fn leads(&self) -> BenchResult<u64> {
        self.count("lead")
    }

    pub fn count(&self, table: &str) -> BenchResult<u64> {
        let text = format!("SELECT count(*) FROM {table}");
        match &self.data {
            Data::File | Data::FileAndSite(_) | Data::FileAndPartner => {
                let connection = rusqlite::Connection::open(frontdesk::data_dir::database_file(&self.folder))?;
                let count: i64 = connection.query_row(&text, [], |row| row.get(0))?;
                Ok(count.try_into()?)
            }
            Data::Server { server, name } => {
                let count = server.sql(name, &text);
                Ok(count.first().ok_or("no count")?.parse()?)
            }
        }
    }

    /// User and system time of the database's processes that serve this copy, in microseconds. What they share with
    /// the other copy (writing the log, checkpoints) is nobody's. SQLite works inside the server.
    pub fn backend_micros(&self) -> BenchResult<Option<u64>> {
        match &self.data {
            Data::File | Data::FileAndPartner => Ok(None),
            Data::FileAndSite(site) => site.micros(),
            Data::Server { server, name } => serving_micros(server, name).map(Some),
        }
    }
}

/// User and system time of the processes of PostgreSQL that serve this database.
pub(crate) fn serving_micros(server: &PostgresServer, name: &str) -> BenchResult<u64> {
    let mut micros = 0;
    for pid in server.sql("postgres", &format!("SELECT pid FROM pg_stat_activity WHERE datname = '{name}'")) {
        // One may have ended meanwhile.
        if let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) {
            micros += cpu_of(&stat)?;
        }
    }
    Ok(micros)
}

/// Modes are copied too: keys that others could read would be refused. PostgreSQL's files are copied elsewhere.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> BenchResult<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() != CLUSTER {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
