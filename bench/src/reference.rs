//! The bare server that Frontdesk is measured against: the same TLS, the same hyper, the same statements, the same form
//! of answer. It authenticates nobody, checks nothing, encrypts nothing and keeps no audit, so it must never be reachable from
//! outside.

mod batches;
pub mod embedded;
mod lead;
mod pipelined;
pub mod writer;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use frontdesk::system::SystemClock;
use frontdesk_contracts::automotive::vehicle::Vehicle;
use frontdesk_contracts::record::Stored;
use frontdesk_engine::model::page::{Direction, Filter, Order, Projection, Query, Start, Window};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::ports::Clock as _;
use frontdesk_store::statements;
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
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::BenchResult;
use batches::PostgresWriter;
use embedded::SqliteReader;
use lead::Lead;
use pipelined::PostgresReader;
use writer::{SqliteWriter, WriteLead};

/// How an answer that is a stream of events begins.
const EVENT: &[u8] = b"data: ";

#[derive(Deserialize)]
pub struct Message<A> {
    pub id: i64,
    pub params: Params<A>,
}

#[derive(Deserialize)]
pub struct Params<A> {
    pub name: String,
    pub arguments: A,
    #[serde(rename = "_meta")]
    pub meta: Option<Meta>,
}

#[derive(Deserialize)]
pub struct Meta {
    /// Only modern messages name one.
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<IgnoredAny>,
    #[serde(rename = "progressToken")]
    pub progress_token: Option<i64>,
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

/// The database of the reference.
enum Base {
    Sqlite(SqliteReader, SqliteWriter<Lead>),
    Postgres(PostgresReader, PostgresWriter),
}

impl Base {
    /// The path of a file, or a `postgres://` URL.
    async fn open(database: &str) -> BenchResult<Base> {
        if database.starts_with("postgres://") {
            return Ok(Base::Postgres(PostgresReader::connect(database).await?, PostgresWriter::start(database)?));
        }
        let path = Path::new(database);
        Ok(Base::Sqlite(SqliteReader::new(path), SqliteWriter::start(path, WriteLead::new())?))
    }

    async fn get(&self, arguments: &Arguments) -> BenchResult<String> {
        match self {
            Base::Sqlite(embedded, _) => embedded.get(arguments),
            Base::Postgres(pipelined, _) => pipelined.get(arguments).await,
        }
    }

    async fn search(&self, arguments: &Arguments) -> BenchResult<String> {
        match self {
            Base::Sqlite(embedded, _) => embedded.search(arguments),
            Base::Postgres(pipelined, _) => pipelined.search(arguments).await,
        }
    }

    async fn create(&self, lead: Lead) -> BenchResult<String> {
        match self {
            Base::Sqlite(_, writer) => writer.create(lead).await,
            Base::Postgres(_, batches) => batches.create(lead).await,
        }
    }
}

/// The statements of reads, made by the store.
struct Texts {
    get: String,
    search_make: String,
    search_status: String,
}

impl Texts {
    fn new(dialect: impl Fn(&str) -> String) -> Texts {
        let newest = |column| {
            dialect(&statements::page(&Query {
                projection: Projection::Rows,
                table: Vehicle::table(),
                filters: vec![Filter::Equals(column, Cell::Null)],
                order: Order { column: "created_at", direction: Direction::Descending },
                window: Window { start: Start::First, limit: 25, bytes: usize::MAX },
            }))
        };
        Texts {
            get: dialect(&statements::get(Vehicle::table())),
            search_make: newest("make_key"),
            search_status: newest("status"),
        }
    }

    fn search(&self, arguments: &Arguments) -> (&str, Option<String>) {
        match &arguments.make {
            Some(make) => (&self.search_make, Some(make.to_lowercase())),
            None => (&self.search_status, arguments.status.clone()),
        }
    }
}

/// A list while it is written.
struct Items {
    text: String,
    left: i64,
}

impl Items {
    fn new(limit: i64) -> Items {
        Items { text: String::from("{\"items\":["), left: limit }
    }

    /// Whether it was taken.
    fn add(&mut self, body: &str) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        if !self.text.ends_with('[') {
            self.text.push(',');
        }
        self.text.push_str(body);
        true
    }

    fn end(mut self) -> String {
        self.text.push_str("]}");
        self.text
    }
}

/// Something that answers messages and nothing else.
pub trait Responder: Send + Sync + 'static {
    fn answer(&self, message: &[u8]) -> impl Future<Output = BenchResult<Vec<u8>>> + Send;
}

/// Serves the dealerships of a database.
pub async fn serve(database: &str, certificates: PathBuf) -> BenchResult<()> {
    listen(Base::open(database).await?, certificates).await
}

/// Serves until it is killed; its first line of output is its port.
pub async fn listen(base: impl Responder, certificates: PathBuf) -> BenchResult<()> {
    let base = Arc::new(base);
    let now = time::OffsetDateTime::from_unix_timestamp(SystemClock.now().seconds())?;
    let made = frontdesk::net::ensure(&certificates, &[], now)?;
    let tls = Arc::new(frontdesk::net::load(&made.certificate, &made.key)?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let acceptor = TlsAcceptor::from(Arc::clone(&tls));
        let base = Arc::clone(&base);
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(socket).await else {
                return;
            };
            let service = service_fn(|request| answer(request, base.as_ref()));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(request: Request<Incoming>, base: &impl Responder) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = match request.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let text = match base.answer(&body).await {
        Ok(text) => text,
        // The load generator takes it for a wrong answer, and says it.
        Err(problem) => problem.to_string().into_bytes(),
    };
    let kind = if text.starts_with(EVENT) { "text/event-stream" } else { "application/json" };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

impl Responder for Base {
    async fn answer(&self, message: &[u8]) -> BenchResult<Vec<u8>> {
        let message: Message<Arguments> = serde_json::from_slice(message)?;
        let Params { name, arguments, meta } = message.params;
        let object = match name.as_str() {
            "inventory.get" => self.get(&arguments).await?,
            "inventory.search" => self.search(&arguments).await?,
            "leads.create" => self.create(Lead::new(arguments)?).await?,
            _ => return Err("no such tool".into()),
        };
        Ok(answered(message.id, &object, meta.as_ref()))
    }
}

/// The answer to a call, in the era that it speaks.
pub fn answered(id: i64, object: &str, meta: Option<&Meta>) -> Vec<u8> {
    let era = match meta.and_then(|meta| meta.version.as_ref()) {
        Some(_) => Era::Modern,
        None => Era::Legacy(Version::V2025_11_25),
    };
    tool_success(&Id::Number(id), object, &era)
}
