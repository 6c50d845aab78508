//! TLS to the server: an invalid certificate is refused, and the error says what to do.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use frontdesk_engine::ports::registry::{Registry as _, Tenant};
use frontdesk_engine::ports::{Disclosure, Store as _};
use frontdesk_store::{Address, PostgresStore, StoreError};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

use crate::test_store::open_at;
use frontdesk_testkit::TestClock;
use frontdesk_testkit::databases::PostgresServer;
use frontdesk_testkit::store_suite::boats::{BOAT, add, boat};
use frontdesk_testkit::store_suite::north;

/// An authority, its certificate in a file.
pub(crate) struct Authority {
    pub(crate) file: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Authority {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Test Authority");
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = std::env::temp_dir().join(format!("fd-ca-{}-{number}.pem", std::process::id()));
        std::fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        Authority { file, issuer: Issuer::new(params, key) }
    }

    /// A certificate for this name that ends in this year, and its key.
    fn issue(&self, name: &str, last_year: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(last_year, 1, 1);
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    pub(crate) fn server(&self, name: &str, last_year: i32) -> PostgresServer {
        let (certificate, key) = self.issue(name, last_year);
        PostgresServer::start_on_port(Some((&certificate, &key)))
    }

    /// A port of this machine under a name of another one.
    pub(crate) fn address(&self, port: u16, more: &str) -> Address {
        let url = format!("postgres://desk:hunter2@db.example:{port}/desk?hostaddr=127.0.0.1{more}");
        Address::parse(&url).unwrap().trusting(&self.file)
    }

    async fn opens(&self, server: &PostgresServer, more: &str) -> Result<PostgresStore, StoreError> {
        let address = self.address(server.port(), more);
        open_at(address, &[&BOAT], [7; 32], &Arc::new(TestClock::at(5_000))).await
    }

    async fn refuses(&self, server: &PostgresServer) -> String {
        match self.opens(server, "").await {
            Ok(_) => panic!("it was let in"),
            Err(error) => error.to_string().replace(&self.file.display().to_string(), "CA"),
        }
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

#[tokio::test]
async fn a_server_that_proves_itself_is_spoken_to_by_tls_alone() {
    let authority = Authority::new();
    let server = authority.server("db.example", 2099);
    // The login is bound to the certificate: without the right one it would fail.
    let store = authority.opens(&server, "&channel_binding=require").await.unwrap();
    store.add_tenant(Tenant::new(north(), "North"), "{}".to_owned()).await.unwrap();
    add(&store, &north(), vec![boat("b1", 7)]).await;
    assert!(store.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().is_some());
    let text = "SELECT ssl, count(*) > 1 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                WHERE application_name = 'frontdesk' GROUP BY ssl";
    assert_eq!(server.sql("desk", text), ["t|t"]);
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = other.server("db.example", 2099);
    assert_eq!(
        authority.refuses(&server).await,
        "cannot connect to PostgreSQL by TLS: the certificate of db.example is not from the authority in CA. \
         Set `database_ca` to the certificate of the authority that issued it."
    );
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let authority = Authority::new();
    let server = authority.server("other.example", 2099);
    assert_eq!(
        authority.refuses(&server).await,
        "cannot connect to PostgreSQL by TLS: the certificate is not for db.example. Name the server in `database` as \
         its certificate does, or have one issued for db.example."
    );
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let authority = Authority::new();
    let server = authority.server("db.example", 2021);
    assert_eq!(
        authority.refuses(&server).await,
        "cannot connect to PostgreSQL by TLS: the certificate of db.example has expired. \
         Have a new one issued and reload PostgreSQL."
    );
}

#[tokio::test]
async fn a_server_without_tls_is_refused_before_anything_is_said() {
    let authority = Authority::new();
    let server = PostgresServer::start_on_port(None);
    assert_eq!(
        authority.refuses(&server).await,
        "cannot connect to PostgreSQL by TLS: the server does not offer it. \
         Set `ssl = on` with a certificate in its postgresql.conf."
    );
}

#[tokio::test]
async fn without_a_usable_authority_nobody_is_trusted() {
    let authority = Authority::new();
    let server = authority.server("localhost", 2099);
    let url = format!("postgres://desk:hunter2@localhost:{}/desk?sslmode=require", server.port());
    let address = Address::parse(&url).unwrap();
    let said = async |address: Address| {
        let clock = Arc::new(TestClock::at(5_000));
        match open_at(address, &[&BOAT], [7; 32], &clock).await {
            Ok(_) => "let in".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(
        said(address.clone()).await,
        "cannot connect to PostgreSQL by TLS: no authority is named. Set `database_ca` to the PEM file of the authority \
         that issued the server's certificate; the system's own list of authorities is not used."
    );
    let advice = "Set `database_ca` to the PEM file of the authority that issued the server's certificate.";
    std::fs::write(&authority.file, "no certificate").unwrap();
    assert_eq!(
        said(address.clone().trusting(&authority.file)).await,
        format!(
            "cannot connect to PostgreSQL by TLS: there is no certificate in {}. {advice}",
            authority.file.display()
        )
    );
    let nowhere = authority.file.with_extension("gone");
    assert_eq!(
        said(address.trusting(&nowhere)).await,
        format!(
            "cannot connect to PostgreSQL by TLS: {} cannot be read: No such file or directory (os error 2). {advice}",
            nowhere.display()
        )
    );
}
