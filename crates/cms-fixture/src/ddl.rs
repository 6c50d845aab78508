//! Tables, rows and indexes as each database writes them; types as real sites have them.

use std::io::{self, Write};

use crate::{Cell, Rows};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    /// MariaDB too.
    Mysql,
    Postgres,
}

/// So many rows go into one statement.
const AT_ONCE: usize = 200;

enum Type {
    Id,
    /// Zero if nothing is said.
    Whole,
    One,
    /// Has to be said.
    Told,
    WholeOrNull,
    No,
    Yes,
    Words(u16, &'static str),
    WordsOrNull(u16),
    /// Has to be said.
    ToldWords(u16),
    Text,
    Medium,
    Long,
    Moment,
}

use Type::{Id, Long, Medium, Moment, No, One, Text, Told, ToldWords, Whole, WholeOrNull, Words, WordsOrNull, Yes};

struct Table {
    name: &'static str,
    columns: &'static [(&'static str, Type)],
    /// The primary key, if it is not `id`.
    key: &'static str,
    /// Further keys and indexes, each with the columns it is made of.
    indexes: &'static [(Index, &'static str)],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    Unique,
    Plain,
}

use Index::{Plain, Unique};

#[rustfmt::skip]
const TABLES: &[Table] = &[
    Table { name: "site_content", key: "", columns: &[
        ("id", Id), ("type", Words(20, "document")), ("contentType", Words(50, "text/html")), ("pagetitle", Words(255, "")),
        ("longtitle", Words(255, "")), ("description", Words(255, "")), ("alias", WordsOrNull(245)),
        ("link_attributes", Words(255, "")), ("published", Whole), ("pub_date", Whole), ("unpub_date", Whole),
        ("parent", Whole), ("isfolder", Whole), ("introtext", Text), ("content", Long), ("richtext", Yes),
        ("template", Whole), ("menuindex", Whole), ("searchable", One), ("cacheable", One), ("createdby", Whole),
        ("createdon", Whole), ("editedby", Whole), ("editedon", Whole), ("deleted", Whole), ("deletedon", Whole),
        ("deletedby", Whole), ("publishedon", Whole), ("publishedby", Whole), ("menutitle", Words(255, "")),
        ("hide_from_tree", No), ("privateweb", No), ("privatemgr", No), ("content_dispo", No), ("hidemenu", No),
        ("alias_visible", One),
    ], indexes: &[(Plain, "parent"), (Plain, "template"), (Plain, "alias"), (Plain, "pub_date")] },
    Table { name: "site_content_closure", key: "closure_id", columns: &[
        ("closure_id", Told), ("ancestor", Told), ("descendant", Told), ("depth", Told),
    ], indexes: &[(Unique, "ancestor, descendant"), (Plain, "descendant, ancestor"), (Plain, "depth")] },
    Table { name: "site_templates", key: "", columns: &[
        ("id", Id), ("templatename", Words(255, "")), ("templatealias", Words(255, "")),
        ("description", Words(255, "Template")), ("editor_type", Whole), ("category", Whole), ("icon", Words(255, "")),
        ("template_type", Whole), ("content", Medium), ("locked", No), ("selectable", Yes), ("createdon", Whole),
        ("editedon", Whole),
    ], indexes: &[] },
    Table { name: "site_tmplvars", key: "", columns: &[
        ("id", Id), ("type", Words(50, "")), ("name", Words(50, "")), ("caption", Words(80, "")),
        ("description", Words(255, "")), ("editor_type", Whole), ("category", Whole), ("locked", No), ("elements", Text),
        ("rank", Whole), ("display", WordsOrNull(32)), ("display_params", Text), ("default_text", Text),
        ("createdon", Whole), ("editedon", Whole), ("properties", Text),
    ], indexes: &[(Plain, "rank")] },
    Table { name: "site_tmplvar_templates", key: "tmplvarid, templateid", columns: &[
        ("tmplvarid", Whole), ("templateid", Whole), ("rank", Whole),
    ], indexes: &[] },
    Table { name: "site_tmplvar_contentvalues", key: "", columns: &[
        ("id", Id), ("tmplvarid", Whole), ("contentid", Whole), ("value", Medium),
    ], indexes: &[(Unique, "tmplvarid, contentid"), (Plain, "contentid"), (Plain, "tmplvarid")] },
    Table { name: "categories", key: "", columns: &[("id", Id), ("category", Words(45, "")), ("rank", Whole)], indexes: &[] },
    Table { name: "site_snippets", key: "", columns: &[
        ("id", Id), ("name", Words(50, "")), ("description", Words(255, "Snippet")), ("editor_type", Whole),
        ("category", Whole), ("cache_type", Whole), ("snippet", Medium), ("locked", No), ("properties", Text),
        ("moduleguid", Words(32, "")), ("createdon", Whole), ("editedon", Whole), ("disabled", No),
    ], indexes: &[] },
    Table { name: "site_plugins", key: "", columns: &[
        ("id", Id), ("name", Words(50, "")), ("description", Words(255, "Plugin")), ("editor_type", Whole),
        ("category", Whole), ("cache_type", No), ("plugincode", Medium), ("locked", No), ("properties", Text),
        ("disabled", No), ("moduleguid", WordsOrNull(32)), ("createdon", Whole), ("editedon", Whole),
    ], indexes: &[] },
    Table { name: "site_modules", key: "", columns: &[
        ("id", Id), ("name", Words(50, "")), ("description", Words(255, "0")), ("editor_type", Whole), ("disabled", No),
        ("category", Whole), ("wrap", No), ("locked", No), ("icon", Words(255, "")), ("enable_resource", No),
        ("resourcefile", Words(255, "")), ("createdon", Whole), ("editedon", Whole), ("guid", WordsOrNull(32)),
        ("enable_sharedparams", No), ("properties", Text), ("modulecode", Medium),
    ], indexes: &[] },
    Table { name: "users", key: "", columns: &[
        ("id", Id), ("username", Words(255, "")), ("password", Words(255, "")), ("cachepwd", Words(255, "")),
        ("refresh_token", WordsOrNull(255)), ("access_token", WordsOrNull(255)), ("valid_to", Moment),
        ("verified_key", WordsOrNull(255)),
    ], indexes: &[(Unique, "username")] },
    Table { name: "user_attributes", key: "", columns: &[
        ("id", Id), ("internalKey", Whole), ("fullname", Words(255, "")), ("first_name", WordsOrNull(255)),
        ("last_name", WordsOrNull(255)), ("middle_name", WordsOrNull(255)), ("role", Whole), ("email", Words(255, "")),
        ("phone", Words(255, "")), ("mobilephone", Words(255, "")), ("blocked", Whole), ("blockeduntil", Whole),
        ("blockedafter", Whole), ("logincount", Whole), ("lastlogin", Whole), ("thislogin", Whole),
        ("failedlogincount", Whole), ("sessionid", Words(255, "")), ("dob", WholeOrNull), ("gender", Whole),
        ("country", Words(25, "")), ("street", Words(255, "")), ("city", Words(255, "")), ("state", Words(25, "")),
        ("zip", Words(25, "")), ("fax", Words(255, "")), ("photo", Words(255, "")), ("comment", Text),
        ("createdon", Whole), ("editedon", Whole), ("verified", Whole),
    ], indexes: &[(Plain, "internalKey")] },
    Table { name: "user_roles", key: "", columns: &[
        ("id", Id), ("name", Words(50, "")), ("description", Words(255, "")),
    ], indexes: &[] },
    Table { name: "permissions", key: "", columns: &[
        ("id", Id), ("name", ToldWords(255)), ("key", ToldWords(255)), ("lang_key", Words(255, "")),
        ("group_id", WholeOrNull), ("disabled", WholeOrNull), ("created_at", Moment), ("updated_at", Moment),
    ], indexes: &[] },
    Table { name: "permissions_groups", key: "", columns: &[
        ("id", Id), ("name", ToldWords(255)), ("lang_key", Words(255, "")), ("created_at", Moment), ("updated_at", Moment),
    ], indexes: &[] },
    Table { name: "role_permissions", key: "", columns: &[
        ("id", Id), ("permission", ToldWords(255)), ("role_id", Told), ("created_at", Moment), ("updated_at", Moment),
    ], indexes: &[] },
    Table { name: "document_groups", key: "", columns: &[
        ("id", Id), ("document_group", Whole), ("document", Whole),
    ], indexes: &[(Unique, "document_group, document")] },
    Table { name: "tags", key: "", columns: &[("id", Id), ("name", ToldWords(255))], indexes: &[(Unique, "name")] },
    Table { name: "site_content_tags", key: "tag_id, doc_id, tv_id", columns: &[
        ("doc_id", Told), ("tag_id", Told), ("tv_id", Whole),
    ], indexes: &[] },
];

pub(crate) fn open(database: Database, out: &mut dyn Write) -> io::Result<()> {
    match database {
        Database::Sqlite | Database::Postgres => writeln!(out, "BEGIN;"),
        // Texts are written with backslashes that mean themselves.
        Database::Mysql => {
            writeln!(out, "SET NAMES utf8mb4;\nSET sql_mode = 'NO_BACKSLASH_ESCAPES';\nSET autocommit = 0;")
        }
    }
}

pub(crate) fn close(database: Database, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "COMMIT;")?;
    match database {
        Database::Sqlite | Database::Postgres => writeln!(out, "ANALYZE;"),
        Database::Mysql => Ok(()),
    }
}

pub(crate) fn tables(database: Database, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
    for table in TABLES {
        let columns =
            table.columns.iter().map(|(name, kind)| format!("{} {}", quoted(database, name), sql(database, kind)));
        let mut lines: Vec<String> = columns.collect();
        if !table.key.is_empty() {
            lines.push(format!("PRIMARY KEY ({})", table.key));
        }
        let name = quoted(database, &format!("{prefix}{}", table.name));
        let behind = match database {
            Database::Sqlite | Database::Postgres => "",
            Database::Mysql => " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci",
        };
        writeln!(out, "CREATE TABLE {name} ({}){behind};", lines.join(", "))?;
    }
    Ok(())
}

/// After the rows, which go in faster without.
pub(crate) fn indexes(database: Database, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
    for table in TABLES {
        for (number, (index, columns)) in table.indexes.iter().enumerate() {
            let unique = if *index == Unique { "UNIQUE " } else { "" };
            let columns: Vec<String> = columns.split(", ").map(|column| quoted(database, column)).collect();
            let name = quoted(database, &format!("{prefix}{}_{number}", table.name));
            let table = quoted(database, &format!("{prefix}{}", table.name));
            writeln!(out, "CREATE {unique}INDEX {name} ON {table} ({});", columns.join(", "))?;
        }
    }
    Ok(())
}

pub(crate) fn insert(database: Database, prefix: &str, rows: &Rows, out: &mut dyn Write) -> io::Result<()> {
    let table = quoted(database, &format!("{prefix}{}", rows.table));
    let columns: Vec<String> = rows.columns.iter().map(|column| quoted(database, column)).collect();
    for some in rows.rows.chunks(AT_ONCE) {
        writeln!(out, "INSERT INTO {table} ({}) VALUES", columns.join(", "))?;
        for (number, row) in some.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| written(database, cell)).collect();
            let end = if number + 1 == some.len() { ";" } else { "," };
            writeln!(out, "({}){end}", cells.join(", "))?;
        }
    }
    Ok(())
}

fn written(database: Database, cell: &Cell) -> String {
    match (cell, database) {
        (Cell::Null, _) => "NULL".to_owned(),
        (Cell::Whole(number), _) => number.to_string(),
        (Cell::Truth(truth), Database::Postgres) => truth.to_string(),
        (Cell::Truth(truth), Database::Sqlite | Database::Mysql) => u8::from(*truth).to_string(),
        (Cell::Text(text), _) => format!("'{}'", text.replace('\'', "''")),
    }
}

fn quoted(database: Database, name: &str) -> String {
    match database {
        Database::Sqlite | Database::Postgres => format!("\"{name}\""),
        Database::Mysql => format!("`{name}`"),
    }
}

fn sql(database: Database, kind: &Type) -> String {
    let whole = match database {
        Database::Sqlite | Database::Postgres => "integer",
        Database::Mysql => "int(10) unsigned",
    };
    let truth = |default: bool| match database {
        Database::Sqlite | Database::Mysql => format!("tinyint(1) NOT NULL DEFAULT {}", u8::from(default)),
        Database::Postgres => format!("boolean NOT NULL DEFAULT {default}"),
    };
    let long = |mysql: &str| match database {
        Database::Sqlite | Database::Postgres => "text".to_owned(),
        Database::Mysql => mysql.to_owned(),
    };
    match kind {
        Id => match database {
            Database::Sqlite => "integer PRIMARY KEY AUTOINCREMENT NOT NULL".to_owned(),
            Database::Mysql => format!("{whole} NOT NULL AUTO_INCREMENT PRIMARY KEY"),
            Database::Postgres => "serial PRIMARY KEY".to_owned(),
        },
        Whole => format!("{whole} NOT NULL DEFAULT 0"),
        One => format!("{whole} NOT NULL DEFAULT 1"),
        Told => format!("{whole} NOT NULL"),
        WholeOrNull => whole.to_owned(),
        No => truth(false),
        Yes => truth(true),
        Words(most, default) => format!("varchar({most}) NOT NULL DEFAULT '{default}'"),
        WordsOrNull(most) => format!("varchar({most})"),
        ToldWords(most) => format!("varchar({most}) NOT NULL"),
        Text => long("text"),
        Medium => long("mediumtext"),
        Long => long("longtext"),
        Moment => match database {
            Database::Sqlite => "datetime".to_owned(),
            Database::Mysql => "timestamp NULL".to_owned(),
            Database::Postgres => "timestamp(0) without time zone".to_owned(),
        },
    }
}
