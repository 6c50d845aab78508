//! The site on each of the databases, made anew for each run, and the folders of the two servers that read it.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frontdesk::folder::{self, Folder};
use frontdesk::house::Vaults;
use frontdesk::net;
use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_engine::ports::registry::Tenant;
use frontdesk_engine::{Scopes, TenantId};
use time::OffsetDateTime;

use crate::database::{Place, serving_micros};
use crate::mariadb::MariaDb;
use crate::postgres::{ROLE, Server};
use crate::process::cpu_of;
use crate::seed::{Agent, explain};
use crate::{Outcome, Wish};

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
pub(crate) enum Beside {
    File(PathBuf),
    Mariadb(Arc<MariaDb>),
    Postgres(Arc<Server>, &'static str),
}

impl Beside {
    /// The name of the file that tells Frontdesk of it.
    pub const CONFIG: &'static str = "frontdesk.toml";

    pub fn url(&self) -> String {
        match self {
            Beside::File(path) => path.display().to_string(),
            Beside::Mariadb(server) => server.url(),
            Beside::Postgres(server, name) => server.url_of(ROLE, name),
        }
    }

    /// What the database has used so far. MariaDB is one process for both servers, but they are loaded in turns.
    pub fn micros(&self) -> Outcome<Option<u64>> {
        match self {
            Beside::File(_) => Ok(None),
            Beside::Mariadb(server) => {
                let process = server.process_id().ok_or("MariaDB does not run")?;
                Ok(Some(cpu_of(&fs::read_to_string(format!("/proc/{process}/stat"))?)?))
            }
            Beside::Postgres(server, name) => serving_micros(server, name).map(Some),
        }
    }
}

/// The site, and a folder for each of the two servers.
pub fn made(wish: &Wish, database: Database) -> Outcome<(Place, Place)> {
    let folder = wish.work.join("cms");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let (desk, bare) = match database {
        Database::Sqlite => {
            let file = folder.join("site.sqlite");
            rusqlite::Connection::open(&file)?.execute_batch(&site().script(ScriptDialect::Sqlite))?;
            (Beside::File(file.clone()), Beside::File(file))
        }
        Database::Mariadb => {
            let server = Arc::new(MariaDb::start());
            server.sql("SET GLOBAL innodb_buffer_pool_size = 268435456;");
            server.sql(&site().script(ScriptDialect::Mysql));
            server.sql("ANALYZE TABLE evo_site_content, evo_site_content_closure, evo_site_tmplvar_contentvalues;");
            (Beside::Mariadb(Arc::clone(&server)), Beside::Mariadb(server))
        }
        Database::Postgres => {
            let server = Arc::new(Server::made(&["shared_buffers=256MB", "max_wal_size=256MB", "autovacuum=off"]));
            let script = folder.join("site.sql");
            site().write(ScriptDialect::Postgres, &mut BufWriter::new(File::create(&script)?))?;
            server.sql(ROLE, &format!("\\i {}", script.display()));
            server.sql(ROLE, &format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE}"));
            server.sql(ROLE, "VACUUM ANALYZE");
            server.sql("postgres", &format!("CREATE DATABASE {BARE} TEMPLATE {ROLE} OWNER {ROLE}"));
            (Beside::Postgres(Arc::clone(&server), ROLE), Beside::Postgres(server, BARE))
        }
    };
    Ok((Place::beside(folder.join("frontdesk"), desk), Place::beside(folder.join("reference"), bare)))
}

fn site() -> CmsSite {
    CmsSite::with_documents(DOCUMENTS)
}

/// Gives both folders what a server needs, and makes somebody who may call.
pub async fn settle(desk: &Place, bare: &Place) -> Outcome<Agent> {
    let vaults = Vaults::open(Folder::take(&desk.folder)?, &desk.config()?).await?;
    let now = vaults.clock.now();
    for place in [desk, bare] {
        certify(&place.folder, now.seconds())?;
    }
    let [_, url] = desk.reference();
    let config = format!(
        "[[mount]]\ncontract = \"emcp\"\ntenant = \"{TENANT}\"\ndatabase = {url:?}\n\n[mount.limits]\nper_minute = 1000000\n"
    );
    fs::write(desk.folder.join(Beside::CONFIG), config)?;
    let tenant = TenantId::parse(TENANT).ok_or("a tenant's id is not one")?;
    let registered = Tenant { id: tenant.clone(), name: TENANT.to_owned() };
    vaults.store.add_tenant(registered, "{}".to_owned()).await.map_err(explain)?;
    let scopes = Scopes::parse(SCOPES).ok_or("scopes that are none")?;
    let (clock, random) = (vaults.clock.as_ref(), vaults.random.as_ref());
    let (client, secret) = frontdesk_identity::new_client("Reader".to_owned(), vec![tenant], scopes, clock, random);
    let id = client.id.as_str().to_owned();
    vaults.store.add_client(client, "{}".to_owned()).await.map_err(explain)?;
    Ok(Agent { dealership: TENANT.to_owned(), place: 0, client: id, secret: secret.expose().to_owned() })
}

fn certify(folder: &Path, now: i64) -> Outcome<()> {
    fs::create_dir_all(folder)?;
    net::ensure(&folder::certificates(folder), &[], OffsetDateTime::from_unix_timestamp(now)?)?;
    Ok(())
}
