//! The contract of a library that lends books: two kinds, a handful of tools, and addresses.

use frontdesk_engine::model::contract::{Contract, ResourceSource, ResourceTemplate, ServerInfo};
use frontdesk_engine::model::schema::{Field, Schema, optional, required};
use frontdesk_engine::model::table::{ColumnSpec, ColumnType, TableSpec};
use frontdesk_engine::model::tool::{Effect, RateKey, Run, Sensitivity, Tool, ToolSpec};
use frontdesk_engine::{Code, Scope, Scopes};

use super::dialect::Plainly;
use super::tools;

pub(crate) const NONE_LEFT: Code = Code("book.none_left");
pub(crate) const TAKEN: Code = Code("book.taken");

pub(crate) static BOOK: TableSpec = TableSpec {
    name: "book",
    columns: &[
        ColumnSpec { name: "genre", column_type: ColumnType::Text },
        ColumnSpec { name: "shelfmark", column_type: ColumnType::Text },
    ],
    unique: &["shelfmark"],
    sorted: &[],
    filtered: &["genre"],
    searched: &[],
    index: None,
    check: None,
};

pub(crate) static MEMBER: TableSpec = TableSpec {
    name: "member",
    columns: &[],
    unique: &[],
    sorted: &[],
    filtered: &[],
    searched: &[],
    index: None,
    check: None,
};

const GENRES: &[&str] = &["novel", "poetry"];

pub(crate) fn contract() -> Contract {
    Contract {
        id: "library",
        server_info: ServerInfo {
            extra: Vec::new(),
            name: "library",
            title: "The library",
            version: "1.2.3",
            instructions: "Ask for books.",
            capabilities: r#"{"tools":{},"resources":{}}"#.to_owned(),
        },
        tools: tools(),
        resources: resources(),
        tables: vec![&BOOK, &MEMBER],
        scopes: ["books:read", "books:write", "members:read", "members:contact"].map(Scope::new).to_vec(),
        default_scope: Scope::new("books:read"),
        ordinary_scopes: Scopes::new(["books:read", "books:write"].map(Scope::new)),
        imports: Vec::new(),
        operator_tools: Vec::new(),
        latency_targets: Vec::new(),
        documents: Vec::new(),
        dialect: Box::new(Plainly::default()),
    }
}

fn tools() -> Vec<Tool> {
    let list = [
        optional("genre", Schema::one_of(GENRES), "What it is."),
        optional("title", Schema::text(40), "A word of its title."),
        optional("cursor", Schema::text(4000), "Where the last page ended."),
        optional("limit", Schema::integer(1, 50), "How many."),
    ];
    let add = [
        required("title", Schema::text(40), "Its title."),
        required("genre", Schema::one_of(GENRES), "What it is."),
        required("copies", Schema::integer(0, 9), "How many there are."),
        optional("shelfmark", Schema::text(8), "Where it stands."),
    ];
    let change = [
        required("id", Schema::text(64), "Which."),
        required("title", Schema::text(40), "Its new title."),
        optional("expected_version", Schema::integer(1, 1_000_000), "The version it must have."),
    ];
    let join = [
        required("name", Schema::text(40), "Who."),
        required("email", Schema::Text(frontdesk_engine::model::schema::TextFormat::Email), "How to reach them."),
    ];
    let id = || [required("id", Schema::text(64), "Which.")];
    let key = optional("request_key", Schema::text(300), "Repeats nothing.");
    vec![
        tool("book.list", Effect::Reads, "books:read", list, Run::read(tools::list)),
        tool("book.get", Effect::Reads, "books:read", id(), Run::read(tools::get)),
        tool("book.add", Effect::Adds, "books:write", add.into_iter().chain([key.clone()]), Run::write(tools::add)),
        tool(
            "book.change",
            Effect::Changes,
            "books:write",
            change.into_iter().chain([key.clone()]),
            Run::write(tools::change),
        ),
        limited(tool(
            "book.lend",
            Effect::Changes,
            "books:write",
            id().into_iter().chain([key.clone()]),
            Run::write(tools::lend),
        )),
        tool(
            "book.add_anew",
            Effect::Adds,
            "books:write",
            id().into_iter().chain([key.clone()]),
            Run::write(tools::LendAnew),
        ),
        disclosing(tool("member.get", Effect::Reads, "members:read", id(), Run::read(tools::member))),
        disclosing(tool(
            "member.join",
            Effect::Adds,
            "members:read",
            join.into_iter().chain([key]),
            Run::write(tools::join),
        )),
    ]
}

fn tool(name: &'static str, effect: Effect, scope: &str, fields: impl IntoIterator<Item = Field>, run: Run) -> Tool {
    let branch = optional("branch", Schema::text(64), "Which branch.");
    Tool {
        spec: ToolSpec {
            name,
            title: name,
            about: "As its name says.",
            input: Schema::object([branch].into_iter().chain(fields)),
            output: Schema::object([]),
            effect,
            scope: frontdesk_engine::model::tool::ScopeRule::One(Scope::new(scope)),
            unmask_scope: None,
            rate: RateKey::Client,
            sensitivity: Sensitivity::Personal,
            max_login_age: None,
            route: None,
            codes: vec![NONE_LEFT, TAKEN],
        },
        run,
    }
}

fn disclosing(mut tool: Tool) -> Tool {
    tool.spec.unmask_scope = Some(Scope::new("members:contact"));
    tool
}

/// Each book can be lent three times at once, and then every ten seconds.
fn limited(mut tool: Tool) -> Tool {
    tool.spec.rate = RateKey::Argument { name: "id", per_minute: 6, burst: 3 };
    tool
}

fn resources() -> Vec<ResourceTemplate> {
    let resource = |template, name, source| ResourceTemplate {
        template,
        name,
        title: "From the library",
        about: "As its name says.",
        source,
    };
    let of = |name, lists| ResourceSource::Tool { name, lists };
    vec![
        resource("lib://rules", "rules", ResourceSource::Document(r#"{"silence":true}"#.to_owned())),
        resource("lib://{branch}/books{?genre,title,limit}", "books", of("book.list", None)),
        resource("lib://{branch}/book/{id}", "book", of("book.get", Some(&BOOK))),
        resource("lib://{branch}/member/{id}", "member", of("member.get", Some(&MEMBER))),
    ]
}
