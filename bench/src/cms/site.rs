//! The site on each of the databases, made anew for each run, and the folders of the two servers that read it.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frontdesk::app::DataBackend;
use frontdesk::data_dir::{self, DataDir};
use frontdesk::net;
use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::{Scopes, TenantId};
use frontdesk_testkit::databases::{MariadbServer, PostgresServer, ROLE};
use time::OffsetDateTime;

use crate::database::{Storage, serving_micros};
use crate::process::cpu_of;
use crate::seed::{Agent, explain};
use crate::{BenchResult, Options};

pub const DOCUMENTS: usize = 50_000;
pub const SCOPES: &str = "mcp:read mcp:call";

/// The tenant under which a site is kept if nothing else is said.
const TENANT: &str = "site";
/// The reference's copy on PostgreSQL, so that it is known for whom a process of the server has worked.
const BARE: &str = "bare";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Mariadb,
    Postgres,
}

impl Database {
    pub const ALL: &'static [Database] = &[Database::Sqlite, Database::Mariadb, Database::Postgres];

    pub fn name(self) -> &'static str {
        match self {
            Database::Sqlite => "sqlite",
            Database::Mariadb => "mariadb",
            Database::Postgres => "postgres",
        }
    }
}

/// A site beside a server that reads it.
pub(crate) enum SiteSource {
    File(PathBuf),
    Mariadb(Arc<MariadbServer>),
    Postgres(Arc<PostgresServer>, &'static str),
}

impl SiteSource {
    /// The name of the file that tells Frontdesk of it.
    pub const CONFIG: &'static str = "frontdesk.toml";

    pub fn url(&self) -> String {
        match self {
            SiteSource::File(path) => path.display().to_string(),
            SiteSource::Mariadb(server) => server.url(),
            SiteSource::Postgres(server, name) => server.url_of(ROLE, name),
        }
    }

    /// What the database has used so far. MariaDB is one process for both servers, but they are loaded in turns.
    pub fn micros(&self) -> BenchResult<Option<u64>> {
        match self {
            SiteSource::File(_) => Ok(None),
            SiteSource::Mariadb(server) => {
                let process = server.process_id().ok_or("MariaDB does not run")?;
                Ok(Some(cpu_of(&fs::read_to_string(format!("/proc/{process}/stat"))?)?))
            }
            SiteSource::Postgres(server, name) => serving_micros(server, name).map(Some),
        }
    }
}

/// The site, and a folder for each of the two servers.
pub fn create(options: &Options, database: Database) -> BenchResult<(Storage, Storage)> {
    let folder = options.work.join("cms");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let (desk, bare) = match database {
        Database::Sqlite => {
            let file = folder.join("site.sqlite");
            rusqlite::Connection::open(&file)?.execute_batch(&site().script(ScriptDialect::Sqlite))?;
            (SiteSource::File(file.clone()), SiteSource::File(file))
        }
        Database::Mariadb => {
            let server = Arc::new(MariadbServer::start());
            server.sql("SET GLOBAL innodb_buffer_pool_size = 268435456;");
            server.sql(&site().script(ScriptDialect::Mysql));
            server.sql("ANALYZE TABLE evo_site_content, evo_site_content_closure, evo_site_tmplvar_contentvalues;");
            (SiteSource::Mariadb(Arc::clone(&server)), SiteSource::Mariadb(server))
        }
        Database::Postgres => {
            let server =
                Arc::new(PostgresServer::initialise(&["shared_buffers=256MB", "max_wal_size=256MB", "autovacuum=off"]));
            let script = folder.join("site.sql");
            site().write(ScriptDialect::Postgres, &mut BufWriter::new(File::create(&script)?))?;
            server.sql(ROLE, &format!("\\i {}", script.display()));
            server.sql(ROLE, &format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE}"));
            server.sql(ROLE, "VACUUM ANALYZE");
            server.sql("postgres", &format!("CREATE DATABASE {BARE} TEMPLATE {ROLE} OWNER {ROLE}"));
            (SiteSource::Postgres(Arc::clone(&server), ROLE), SiteSource::Postgres(server, BARE))
        }
    };
    Ok((Storage::with_site(folder.join("frontdesk"), desk), Storage::with_site(folder.join("reference"), bare)))
}

fn site() -> CmsSite {
    CmsSite::with_documents(DOCUMENTS)
}

/// Gives both folders what a server needs, and makes somebody who may call.
pub async fn prepare(desk: &Storage, bare: &Storage) -> BenchResult<Agent> {
    let backend = DataBackend::open(DataDir::lock(&desk.folder)?, &desk.config()?).await?;
    let now = backend.clock.now();
    for place in [desk, bare] {
        create_certificates(&place.folder, now.seconds())?;
    }
    let [_, url] = desk.reference();
    let config = format!(
        "[[mount]]\ncontract = \"emcp\"\ntenant = \"{TENANT}\"\ndatabase = {url:?}\n\n[mount.limits]\nper_minute = 1000000\n"
    );
    fs::write(desk.folder.join(SiteSource::CONFIG), config)?;
    let tenant = TenantId::parse(TENANT).ok_or("a tenant's id is not one")?;
    let registered = Tenant::new(tenant.clone(), TENANT);
    backend.store.add_tenant(registered, "{}".to_owned()).await.map_err(explain)?;
    let scopes = Scopes::parse(SCOPES).ok_or("scopes that are none")?;
    let (clock, random) = (backend.clock.as_ref(), backend.random.as_ref());
    let (client, secret) = frontdesk_identity::new_client("Reader".to_owned(), vec![tenant], scopes, clock, random);
    let id = client.id.as_str().to_owned();
    backend.store.add_client(client, "{}".to_owned()).await.map_err(explain)?;
    Ok(Agent { dealership: TENANT.to_owned(), place: 0, client: id, secret: secret.expose().to_owned() })
}

fn create_certificates(folder: &Path, now: i64) -> BenchResult<()> {
    fs::create_dir_all(folder)?;
    net::ensure(&data_dir::tls_dir(folder), &[], OffsetDateTime::from_unix_timestamp(now)?)?;
    Ok(())
}
