//! Opening a site's database: the errors, and that none of them shows a password.

use frontdesk_cms_fixture::{CmsSite, ScriptDialect};
use frontdesk_store::site_db::{SiteDbError, SiteDbSettings, open};
use frontdesk_testkit::databases::{MariadbDatabase, MariadbServer, PostgresDatabase};
use frontdesk_testkit::sites::query::all;
use frontdesk_testkit::sites::{SiteFile, settings};

async fn refusal(settings: &SiteDbSettings) -> String {
    match open(settings).await {
        Ok(_) => panic!("{settings:?} was opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_wrong_prefix_is_answered_with_those_found() {
    let (file, mariadb) = (SiteFile::new(), MariadbDatabase::create());
    let postgres = PostgresDatabase::create();
    for prefix in ["modx_", "shop_"] {
        let site = CmsSite::with_documents(1).with_prefix(prefix);
        file.sql(&site.script(ScriptDialect::Sqlite));
        mariadb.sql(&site.script(ScriptDialect::Mysql));
        postgres.load(&site.script(ScriptDialect::Postgres));
    }
    for url in [file.url(), mariadb.url(), postgres.url()] {
        assert_eq!(
            refusal(&settings(&url)).await,
            "the database has no table evo_site_content. Tables of a site were found with these prefixes: \
             \"modx_\", \"shop_\". Set `prefix` to one of them"
        );
        let other = SiteDbSettings { prefix: "shop_".to_owned(), ..settings(&url) };
        assert_eq!(open(&other).await.unwrap().select(&all("site_content", &["id"])).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn an_invalid_address_is_explained_with_advice() {
    let empty = SiteFile::new();
    empty.sql("CREATE TABLE other (id integer)");
    assert_eq!(
        refusal(&settings(&empty.url())).await,
        "the database has no table evo_site_content, nor one with another prefix. Check that it is the site's database \
         and that this user may read its tables"
    );
    for (url, begins) in [
        (
            "/nowhere/site.sqlite",
            "cannot read the site's database: /nowhere/site.sqlite cannot be opened. The file must exist",
        ),
        (
            "sqlite://site.sqlite",
            "the address of the site's database is invalid: write `sqlite://` and the absolute path",
        ),
        ("oracle://x", "the address of the site's database is invalid: it begins with none of sqlite://"),
        ("mysql://reader@localhost", "the address of the site's database is invalid: it names no database."),
        (
            "mysql://reader:hunter2@db.example/site",
            "the address of the site's database is invalid: a server on another machine is read over TLS only.",
        ),
        (
            "mysql://reader:hunter2@localhost/site?require_ssl=true",
            "the address of the site's database is invalid: a server on another machine is read over TLS only.",
        ),
        (
            "postgres://reader:hunter2@db.example/site",
            "the address of the site's database is invalid: name the PEM file",
        ),
        (
            "postgres://reader:hunter2@db.example/site?sslmode=disable",
            "the address of the site's database is invalid: a server on another machine needs sslmode=verify-full",
        ),
        ("mysql://reader:hunter2@127.0.0.1:1/site", "cannot read the site's database: "),
        ("postgres://reader:hunter2@127.0.0.1:1/site", "cannot read the site's database: "),
    ] {
        let said = refusal(&settings(url)).await;
        assert!(said.starts_with(begins), "{url}: {said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
    let hostile = SiteDbSettings { prefix: "evo`; --".to_owned(), ..settings(&empty.url()) };
    assert_eq!(open(&hostile).await.err(), Some(SiteDbError::Prefix("evo`; --".to_owned())));
}

#[test]
fn a_password_is_never_shown_in_debug_output() {
    for (url, shown) in [
        ("mysql://reader:hun@ter2@db.example:3306/site", "mysql://reader:***@db.example:3306/site"),
        ("postgres://reader:hunter2@/site?host=/run&password=hunter2", "postgres://reader:***@/site?…"),
        ("/srv/site.sqlite", "/srv/site.sqlite"),
        ("site.sqlite", "site.sqlite"),
        ("mysql://[::1]:3306/site", "mysql://[::1]:3306/site"),
        ("postgres://reader:hun?ter2@db.example/site", "postgres://***"),
        ("postgres://reader@db.example/site?password=hun@ter2", "postgres://***"),
        ("mysql://reader:hunter2/site", "mysql://***"),
        ("oracle://reader/hunter2", "***"),
        ("sqlite://reader:hunter2@db.example", "***"),
        ("reader:hunter2@db.example/site", "***"),
        ("host=db.example password=hunter2", "***"),
        ("mysql:host=db.example;password=hunter2", "***"),
        ("mysql:/reader:hunter2@db.example/site", "***"),
    ] {
        let text = format!("{:?}", SiteDbSettings::new(url, "evo_"));
        assert!(text.contains(&format!("url: {shown},")) && !text.contains("ter2"), "{text}");
    }
}

#[tokio::test]
async fn an_unrecognized_address_is_rejected_without_being_shown() {
    for url in
        ["reader:hunter2@db.example/site", "host=db.example password=hunter2", "mysql:/reader:hunter2@x/site", ""]
    {
        assert_eq!(
            refusal(&settings(url)).await,
            "the address of the site's database is invalid: it is neither the path of a file, which begins with / or \
             ./, nor does it begin with sqlite://, mysql://, mariadb:// or postgres://"
        );
    }
}

#[tokio::test]
async fn the_advice_for_a_server_that_is_down_is_given_once() {
    for url in ["postgres://reader@127.0.0.1:1/site", "mysql://reader@127.0.0.1:1/site"] {
        let said = refusal(&settings(url)).await;
        assert_eq!(said.matches("Check").count(), 1, "{said}");
    }
}

#[tokio::test]
async fn mariadb_over_tls_needs_a_certificate_of_the_authority() {
    let (authority, certificate, key) = certificates("localhost");
    let (stranger, ..) = certificates("localhost");
    let (mariadb, port) = MariadbServer::start_on_port(&certificate, &key);
    mariadb.sql(&CmsSite::with_documents(1).script(ScriptDialect::Mysql));
    // From here on the server rejects connections without TLS.
    mariadb.sql("ALTER USER reader@127.0.0.1 REQUIRE SSL; ALTER USER reader@localhost REQUIRE SSL;");
    let folder = SiteFile::new();
    let trusting = |pem: &str, host: &str| {
        let path = folder.folder().join("ca.pem");
        std::fs::write(&path, pem).unwrap();
        let url = format!("mysql://reader:hunter2@{host}:{port}/site");
        SiteDbSettings { ca_file: Some(path), ..settings(&url) }
    };
    let site_db = open(&trusting(&authority, "localhost")).await.unwrap();
    assert_eq!(site_db.select(&all("site_content", &["id"])).await.unwrap().len(), 1);
    let said = refusal(&trusting(&stranger, "localhost")).await;
    assert!(said.contains("UnknownIssuer") || said.contains("certificate"), "{said}");
    let said = refusal(&trusting(&authority, "127.0.0.1")).await;
    assert!(said.contains("certificate"), "{said}");
    let clear = settings(&format!("mysql://reader:hunter2@localhost:{port}/site"));
    assert!(refusal(&clear).await.contains("Access denied"));
}

/// The certificate of an authority, and a certificate and a key issued by it.
fn certificates(name: &str) -> (String, String, String) {
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let issued = authority.self_signed(&authority_key).unwrap();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let leaf = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    (issued.pem(), leaf.pem(), key.serialize_pem())
}
