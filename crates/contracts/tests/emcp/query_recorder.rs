//! Records the shape of every query to the database, and fails if a query reads a table or a column that is not readable.
//! Values are not part of a shape: a `Select` has no field in which a value could become a name.

use std::collections::BTreeSet;
use std::sync::Mutex;

use frontdesk_contracts::emcp::model;
use frontdesk_engine::ports::site_db::{Expr, Name, Operand, Predicate, Select, TableAlias};

#[derive(Default)]
pub(crate) struct QueryRecorder(Mutex<BTreeSet<String>>);

impl QueryRecorder {
    pub(crate) fn record(&self, select: &Select) {
        self.0.lock().unwrap().insert(shape(select));
    }

    pub(crate) fn shapes(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().clone()
    }
}

/// What the content tools may read, besides the models.
const CONTENT: &[(&str, &[&str])] = &[
    (
        "site_content",
        &[
            "id",
            "parent",
            "pagetitle",
            "longtitle",
            "description",
            "alias",
            "published",
            "deleted",
            "hidemenu",
            "menuindex",
            "template",
            "createdon",
            "editedon",
            "pub_date",
            "unpub_date",
            "isfolder",
            "type",
        ],
    ),
    ("site_content_closure", &["ancestor", "descendant", "depth"]),
    ("site_content_tags", &["doc_id", "tag_id", "tv_id"]),
    ("tags", &["id", "name"]),
];

/// Must never be read, even if a list of fields contained one.
const SECRETS: &[&str] =
    &["password", "cachepwd", "verified_key", "refresh_token", "access_token", "sessionid", "content", "introtext"];

fn is_readable(table: &str, column: &str) -> bool {
    let of_content = CONTENT.iter().any(|(known, columns)| *known == table && columns.contains(&column));
    let of_model =
        || model::ALL.iter().any(|model| model.table == table && model.fields.iter().any(|(name, _)| *name == column));
    of_content || of_model()
}

fn shape(select: &Select) -> String {
    // The values of 50 variables on 100 pages are the longest.
    assert!(select.limit <= 5_000 && select.offset <= 5_000, "{select:?}");
    // With every value come its page and its variable.
    assert!(select.bytes <= (1 << 20) + 16 * 5_000, "{select:?}");
    part(select, &[])
}

/// `outer` are the tables of the query that contains this one.
fn part(select: &Select, outer: &[(TableAlias, Name)]) -> String {
    let mut tables = outer.to_vec();
    tables.push(select.from);
    tables.extend(select.joins.iter().map(|join| join.table));
    let term = |one: &Expr| column(one, &tables);
    let test = |one: &Predicate| condition(one, &tables);
    let joins = select.joins.iter().map(|join| {
        let on: Vec<String> = join.on.iter().map(test).collect();
        format!("{} {:?} on {}", join.table.1, join.kind, on.join(" and "))
    });
    let parts = [
        select.columns.iter().map(term).collect::<Vec<String>>().join(", "),
        joins.collect::<Vec<String>>().join("; "),
        select.filter.iter().map(test).collect::<Vec<String>>().join(" and "),
        select.order.iter().map(|(by, dir)| format!("{} {dir:?}", term(by))).collect::<Vec<String>>().join(", "),
    ];
    format!("{} | {}", select.from.1, parts.join(" | "))
}

fn column(term: &Expr, tables: &[(TableAlias, Name)]) -> String {
    match term {
        Expr::Column(source, name) => {
            let (_, table) =
                tables.iter().rev().find(|(known, _)| known == source).unwrap_or_else(|| panic!("{term:?}"));
            assert!(is_readable(table, name) && !SECRETS.contains(name), "{table}.{name}");
            format!("{table}.{name}")
        }
        Expr::Coalesce(term, _) => format!("{} or value", column(term, tables)),
        Expr::Number(number, term) => format!("{} as {}", column(term, tables), kind(&format!("{number:?}"))),
        Expr::NonZero(one, other) => format!("{} unless 0, {}", column(one, tables), column(other, tables)),
    }
}

/// The name of a numeric type without precision and scale.
fn kind(number: &str) -> &str {
    number.split(' ').next().unwrap_or_default()
}

fn condition(test: &Predicate, tables: &[(TableAlias, Name)]) -> String {
    match test {
        Predicate::Compare(term, how, Operand::Literal(_)) => format!("{} {how:?} value", column(term, tables)),
        Predicate::Compare(one, how, Operand::Expr(other)) => {
            format!("{} {how:?} {}", column(one, tables), column(other, tables))
        }
        Predicate::AnyOf(term, _) => format!("{} any of values", column(term, tables)),
        Predicate::NoneOf(term, _) => format!("{} none of values", column(term, tables)),
        Predicate::Like(term, how, _) => format!("{} {how:?} value", column(term, tables)),
        Predicate::IsNull(term) => format!("{} missing", column(term, tables)),
        Predicate::IsNotNull(term) => format!("{} present", column(term, tables)),
        Predicate::Exists(select) => format!("exists ({})", part(select, tables)),
    }
}

#[test]
#[should_panic(expected = "users.password")]
fn the_recorder_rejects_an_unreadable_column() {
    shape(&select_column("users", "password"));
}

#[test]
#[should_panic(expected = "system_settings.setting_value")]
fn the_recorder_rejects_an_unreadable_table() {
    shape(&select_column("system_settings", "setting_value"));
}

fn select_column(table: Name, name: Name) -> Select {
    Select {
        from: (TableAlias(0), table),
        joins: Vec::new(),
        columns: vec![Expr::Column(TableAlias(0), name)],
        filter: Vec::new(),
        order: Vec::new(),
        offset: 0,
        limit: 1,
        bytes: 1,
    }
}
