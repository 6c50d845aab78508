//! The bare server that Frontdesk is measured against: the same TLS, the same hyper, the same statements, the same form
//! of answer. It knows no callers, checks nothing, seals nothing and keeps no audit, so it must never face anybody.

use std::cell::RefCell;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use frontdesk::ports::SystemClock;
use frontdesk_engine::ports::Clock as _;
use frontdesk_wire::answer::tool_success;
use frontdesk_wire::frame::Id;
use frontdesk_wire::version::{Era, Version};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rusqlite::{Connection, OpenFlags, params};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::Outcome;
use crate::writer::{Lead, Writer};

/// As `store::sql` makes them.
const GET: &str = "SELECT id, version, created_at, body, masked, sealed FROM vehicle WHERE tenant = ?1 AND id = ?2";
const SEARCH: &str = "SELECT id, created_at, body, masked FROM vehicle WHERE tenant = ?1 AND make_key = ?2 \
                      ORDER BY created_at DESC, id DESC LIMIT ?3";
const SEARCH_STATUS: &str = "SELECT id, created_at, body, masked FROM vehicle WHERE tenant = ?1 AND status = ?2 \
                             ORDER BY created_at DESC, id DESC LIMIT ?3";

#[derive(Deserialize)]
struct Message {
    id: i64,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    name: String,
    arguments: Arguments,
    #[serde(rename = "_meta")]
    meta: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub struct Arguments {
    pub dealership_id: String,
    id: Option<String>,
    make: Option<String>,
    status: Option<String>,
    limit: Option<i64>,
    pub contact: Option<Contact>,
    pub interest: Option<String>,
    pub idempotency_key: Option<String>,
}

#[derive(Deserialize)]
pub struct Contact {
    pub name: String,
    pub email: String,
}

/// Serves until it is killed; its first line of output is its port.
pub async fn serve(database: PathBuf, certificates: PathBuf) -> Outcome<()> {
    let now = time::OffsetDateTime::from_unix_timestamp(SystemClock.now().seconds())?;
    let made = frontdesk::net::ensure(&certificates, &[], now)?;
    let tls = Arc::new(frontdesk::net::load(&made.certificate, &made.key)?);
    let writer = Arc::new(Writer::start(&database)?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    let database: Arc<Path> = database.into();
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let acceptor = TlsAcceptor::from(Arc::clone(&tls));
        let (writer, database) = (Arc::clone(&writer), Arc::clone(&database));
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(socket).await else {
                return;
            };
            let service = service_fn(|request| answer(request, &writer, &database));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    writer: &Writer,
    database: &Path,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let text = match call(request, writer, database).await {
        Ok(text) => text,
        // The load generator takes it for a wrong answer, and says it.
        Err(problem) => problem.to_string().into_bytes(),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn call(request: Request<Incoming>, writer: &Writer, database: &Path) -> Outcome<Vec<u8>> {
    let body = request.into_body().collect().await?.to_bytes();
    let message: Message = serde_json::from_slice(&body)?;
    let Params { name, arguments, meta } = message.params;
    let object = match name.as_str() {
        "inventory.get" => reading(database, |connection| get(connection, &arguments))?,
        "inventory.search" => reading(database, |connection| search(connection, &arguments))?,
        "leads.create" => writer.create(Lead::new(arguments)?).await?,
        _ => return Err("no such tool".into()),
    };
    let era = match meta {
        Some(_) => Era::Modern,
        None => Era::Legacy(Version::V2025_11_25),
    };
    Ok(tool_success(&Id::Number(message.id), &object, &era))
}

thread_local! {
    /// One connection for each thread, and no way from one thread to another: nothing could cost less.
    static READER: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

fn reading<T>(database: &Path, work: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
    READER.with_borrow_mut(|reader| {
        if reader.is_none() {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            *reader = Some(Connection::open_with_flags(database, flags)?);
        }
        work(reader.as_ref().ok_or("no connection")?)
    })
}

fn get(connection: &Connection, arguments: &Arguments) -> Outcome<String> {
    let mut statement = connection.prepare_cached(GET)?;
    let body = statement.query_row(params![arguments.dealership_id, arguments.id], |row| row.get(3))?;
    Ok(body)
}

fn search(connection: &Connection, arguments: &Arguments) -> Outcome<String> {
    let limit = arguments.limit.unwrap_or(25);
    let (text, value) = match &arguments.make {
        Some(make) => (SEARCH, Some(make.to_lowercase())),
        None => (SEARCH_STATUS, arguments.status.clone()),
    };
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(params![arguments.dealership_id, value, limit + 1])?;
    let mut object = String::from("{\"items\":[");
    let mut taken = 0;
    while let Some(row) = rows.next()?
        && taken < limit
    {
        if taken > 0 {
            object.push(',');
        }
        object.push_str(row.get_ref(2)?.as_str()?);
        taken += 1;
    }
    object.push_str("]}");
    Ok(object)
}
