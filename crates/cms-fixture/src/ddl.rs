//! Tables, rows and indexes in each SQL dialect, with the column types of real sites.

use std::io::{self, Write};

use crate::{SqlValue, TableRows};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptDialect {
    Sqlite,
    /// Also MariaDB.
    Mysql,
    Postgres,
}

const ROWS_PER_INSERT: usize = 200;

enum ColumnType {
    Id,
    IntDefault0,
    IntDefault1,
    /// Without a default.
    IntRequired,
    IntNullable,
    BoolFalse,
    BoolTrue,
    Varchar(u16, &'static str),
    VarcharNullable(u16),
    /// Without a default.
    VarcharRequired(u16),
    Text,
    MediumText,
    LongText,
    Timestamp,
}

use ColumnType::{
    BoolFalse, BoolTrue, Id, IntDefault0, IntDefault1, IntNullable, IntRequired, LongText, MediumText, Text, Timestamp,
    Varchar, VarcharNullable, VarcharRequired,
};

struct Table {
    name: &'static str,
    columns: &'static [(&'static str, ColumnType)],
    /// The columns of the primary key; empty if it is `id`.
    key: &'static str,
    /// Further indexes with their columns.
    indexes: &'static [(Index, &'static str)],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    Unique,
    NonUnique,
}

use Index::{NonUnique, Unique};

#[rustfmt::skip]
const TABLES: &[Table] = &[
    Table { name: "site_content", key: "", columns: &[
        ("id", Id), ("type", Varchar(20, "document")), ("contentType", Varchar(50, "text/html")), ("pagetitle", Varchar(255, "")),
        ("longtitle", Varchar(255, "")), ("description", Varchar(255, "")), ("alias", VarcharNullable(245)),
        ("link_attributes", Varchar(255, "")), ("published", IntDefault0), ("pub_date", IntDefault0), ("unpub_date", IntDefault0),
        ("parent", IntDefault0), ("isfolder", IntDefault0), ("introtext", Text), ("content", LongText), ("richtext", BoolTrue),
        ("template", IntDefault0), ("menuindex", IntDefault0), ("searchable", IntDefault1), ("cacheable", IntDefault1), ("createdby", IntDefault0),
        ("createdon", IntDefault0), ("editedby", IntDefault0), ("editedon", IntDefault0), ("deleted", IntDefault0), ("deletedon", IntDefault0),
        ("deletedby", IntDefault0), ("publishedon", IntDefault0), ("publishedby", IntDefault0), ("menutitle", Varchar(255, "")),
        ("hide_from_tree", BoolFalse), ("privateweb", BoolFalse), ("privatemgr", BoolFalse), ("content_dispo", BoolFalse), ("hidemenu", BoolFalse),
        ("alias_visible", IntDefault1),
    ], indexes: &[(NonUnique, "parent"), (NonUnique, "template"), (NonUnique, "alias"), (NonUnique, "pub_date")] },
    Table { name: "site_content_closure", key: "closure_id", columns: &[
        ("closure_id", IntRequired), ("ancestor", IntRequired), ("descendant", IntRequired), ("depth", IntRequired),
    ], indexes: &[(Unique, "ancestor, descendant"), (NonUnique, "descendant, ancestor"), (NonUnique, "depth")] },
    Table { name: "site_templates", key: "", columns: &[
        ("id", Id), ("templatename", Varchar(255, "")), ("templatealias", Varchar(255, "")),
        ("description", Varchar(255, "Template")), ("editor_type", IntDefault0), ("category", IntDefault0), ("icon", Varchar(255, "")),
        ("template_type", IntDefault0), ("content", MediumText), ("locked", BoolFalse), ("selectable", BoolTrue), ("createdon", IntDefault0),
        ("editedon", IntDefault0),
    ], indexes: &[] },
    Table { name: "site_tmplvars", key: "", columns: &[
        ("id", Id), ("type", Varchar(50, "")), ("name", Varchar(50, "")), ("caption", Varchar(80, "")),
        ("description", Varchar(255, "")), ("editor_type", IntDefault0), ("category", IntDefault0), ("locked", BoolFalse), ("elements", Text),
        ("rank", IntDefault0), ("display", VarcharNullable(32)), ("display_params", Text), ("default_text", Text),
        ("createdon", IntDefault0), ("editedon", IntDefault0), ("properties", Text),
    ], indexes: &[(NonUnique, "rank")] },
    Table { name: "site_tmplvar_templates", key: "tmplvarid, templateid", columns: &[
        ("tmplvarid", IntDefault0), ("templateid", IntDefault0), ("rank", IntDefault0),
    ], indexes: &[] },
    Table { name: "site_tmplvar_contentvalues", key: "", columns: &[
        ("id", Id), ("tmplvarid", IntDefault0), ("contentid", IntDefault0), ("value", MediumText),
    ], indexes: &[(Unique, "tmplvarid, contentid"), (NonUnique, "contentid"), (NonUnique, "tmplvarid")] },
    Table { name: "categories", key: "", columns: &[("id", Id), ("category", Varchar(45, "")), ("rank", IntDefault0)], indexes: &[] },
    Table { name: "site_snippets", key: "", columns: &[
        ("id", Id), ("name", Varchar(50, "")), ("description", Varchar(255, "Snippet")), ("editor_type", IntDefault0),
        ("category", IntDefault0), ("cache_type", IntDefault0), ("snippet", MediumText), ("locked", BoolFalse), ("properties", Text),
        ("moduleguid", Varchar(32, "")), ("createdon", IntDefault0), ("editedon", IntDefault0), ("disabled", BoolFalse),
    ], indexes: &[] },
    Table { name: "site_plugins", key: "", columns: &[
        ("id", Id), ("name", Varchar(50, "")), ("description", Varchar(255, "Plugin")), ("editor_type", IntDefault0),
        ("category", IntDefault0), ("cache_type", BoolFalse), ("plugincode", MediumText), ("locked", BoolFalse), ("properties", Text),
        ("disabled", BoolFalse), ("moduleguid", VarcharNullable(32)), ("createdon", IntDefault0), ("editedon", IntDefault0),
    ], indexes: &[] },
    Table { name: "site_modules", key: "", columns: &[
        ("id", Id), ("name", Varchar(50, "")), ("description", Varchar(255, "0")), ("editor_type", IntDefault0), ("disabled", BoolFalse),
        ("category", IntDefault0), ("wrap", BoolFalse), ("locked", BoolFalse), ("icon", Varchar(255, "")), ("enable_resource", BoolFalse),
        ("resourcefile", Varchar(255, "")), ("createdon", IntDefault0), ("editedon", IntDefault0), ("guid", VarcharNullable(32)),
        ("enable_sharedparams", BoolFalse), ("properties", Text), ("modulecode", MediumText),
    ], indexes: &[] },
    Table { name: "users", key: "", columns: &[
        ("id", Id), ("username", Varchar(255, "")), ("password", Varchar(255, "")), ("cachepwd", Varchar(255, "")),
        ("refresh_token", VarcharNullable(255)), ("access_token", VarcharNullable(255)), ("valid_to", Timestamp),
        ("verified_key", VarcharNullable(255)),
    ], indexes: &[(Unique, "username")] },
    Table { name: "user_attributes", key: "", columns: &[
        ("id", Id), ("internalKey", IntDefault0), ("fullname", Varchar(255, "")), ("first_name", VarcharNullable(255)),
        ("last_name", VarcharNullable(255)), ("middle_name", VarcharNullable(255)), ("role", IntDefault0), ("email", Varchar(255, "")),
        ("phone", Varchar(255, "")), ("mobilephone", Varchar(255, "")), ("blocked", IntDefault0), ("blockeduntil", IntDefault0),
        ("blockedafter", IntDefault0), ("logincount", IntDefault0), ("lastlogin", IntDefault0), ("thislogin", IntDefault0),
        ("failedlogincount", IntDefault0), ("sessionid", Varchar(255, "")), ("dob", IntNullable), ("gender", IntDefault0),
        ("country", Varchar(25, "")), ("street", Varchar(255, "")), ("city", Varchar(255, "")), ("state", Varchar(25, "")),
        ("zip", Varchar(25, "")), ("fax", Varchar(255, "")), ("photo", Varchar(255, "")), ("comment", Text),
        ("createdon", IntDefault0), ("editedon", IntDefault0), ("verified", IntDefault0),
    ], indexes: &[(NonUnique, "internalKey")] },
    Table { name: "user_roles", key: "", columns: &[
        ("id", Id), ("name", Varchar(50, "")), ("description", Varchar(255, "")),
    ], indexes: &[] },
    Table { name: "permissions", key: "", columns: &[
        ("id", Id), ("name", VarcharRequired(255)), ("key", VarcharRequired(255)), ("lang_key", Varchar(255, "")),
        ("group_id", IntNullable), ("disabled", IntNullable), ("created_at", Timestamp), ("updated_at", Timestamp),
    ], indexes: &[] },
    Table { name: "permissions_groups", key: "", columns: &[
        ("id", Id), ("name", VarcharRequired(255)), ("lang_key", Varchar(255, "")), ("created_at", Timestamp), ("updated_at", Timestamp),
    ], indexes: &[] },
    Table { name: "role_permissions", key: "", columns: &[
        ("id", Id), ("permission", VarcharRequired(255)), ("role_id", IntRequired), ("created_at", Timestamp), ("updated_at", Timestamp),
    ], indexes: &[] },
    Table { name: "document_groups", key: "", columns: &[
        ("id", Id), ("document_group", IntDefault0), ("document", IntDefault0),
    ], indexes: &[(Unique, "document_group, document")] },
    Table { name: "tags", key: "", columns: &[("id", Id), ("name", VarcharRequired(255))], indexes: &[(Unique, "name")] },
    Table { name: "site_content_tags", key: "tag_id, doc_id, tv_id", columns: &[
        ("doc_id", IntRequired), ("tag_id", IntRequired), ("tv_id", IntDefault0),
    ], indexes: &[] },
];

pub(crate) fn open(dialect: ScriptDialect, out: &mut dyn Write) -> io::Result<()> {
    match dialect {
        ScriptDialect::Sqlite | ScriptDialect::Postgres => writeln!(out, "BEGIN;"),
        // Without this mode a backslash in a literal would be an escape.
        ScriptDialect::Mysql => {
            writeln!(out, "SET NAMES utf8mb4;\nSET sql_mode = 'NO_BACKSLASH_ESCAPES';\nSET autocommit = 0;")
        }
    }
}

pub(crate) fn close(dialect: ScriptDialect, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "COMMIT;")?;
    match dialect {
        ScriptDialect::Sqlite | ScriptDialect::Postgres => writeln!(out, "ANALYZE;"),
        ScriptDialect::Mysql => Ok(()),
    }
}

pub(crate) fn tables(dialect: ScriptDialect, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
    for table in TABLES {
        let columns = table
            .columns
            .iter()
            .map(|(name, kind)| format!("{} {}", quote_identifier(dialect, name), column_sql(dialect, kind)));
        let mut lines: Vec<String> = columns.collect();
        if !table.key.is_empty() {
            lines.push(format!("PRIMARY KEY ({})", table.key));
        }
        let name = quote_identifier(dialect, &format!("{prefix}{}", table.name));
        let options = match dialect {
            ScriptDialect::Sqlite | ScriptDialect::Postgres => "",
            ScriptDialect::Mysql => " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci",
        };
        writeln!(out, "CREATE TABLE {name} ({}){options};", lines.join(", "))?;
    }
    Ok(())
}

/// Created after the rows, because inserting without indexes is faster.
pub(crate) fn indexes(dialect: ScriptDialect, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
    for table in TABLES {
        for (number, (index, columns)) in table.indexes.iter().enumerate() {
            let unique = if *index == Unique { "UNIQUE " } else { "" };
            let columns: Vec<String> = columns.split(", ").map(|column| quote_identifier(dialect, column)).collect();
            let name = quote_identifier(dialect, &format!("{prefix}{}_{number}", table.name));
            let table = quote_identifier(dialect, &format!("{prefix}{}", table.name));
            writeln!(out, "CREATE {unique}INDEX {name} ON {table} ({});", columns.join(", "))?;
        }
    }
    Ok(())
}

pub(crate) fn insert(dialect: ScriptDialect, prefix: &str, rows: &TableRows, out: &mut dyn Write) -> io::Result<()> {
    let table = quote_identifier(dialect, &format!("{prefix}{}", rows.table));
    let columns: Vec<String> = rows.columns.iter().map(|column| quote_identifier(dialect, column)).collect();
    for chunk in rows.rows.chunks(ROWS_PER_INSERT) {
        writeln!(out, "INSERT INTO {table} ({}) VALUES", columns.join(", "))?;
        for (number, row) in chunk.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| literal(dialect, cell)).collect();
            let end = if number + 1 == chunk.len() { ";" } else { "," };
            writeln!(out, "({}){end}", cells.join(", "))?;
        }
    }
    Ok(())
}

fn literal(dialect: ScriptDialect, cell: &SqlValue) -> String {
    match (cell, dialect) {
        (SqlValue::Null, _) => "NULL".to_owned(),
        (SqlValue::Integer(number), _) => number.to_string(),
        (SqlValue::Boolean(boolean), ScriptDialect::Postgres) => boolean.to_string(),
        (SqlValue::Boolean(boolean), ScriptDialect::Sqlite | ScriptDialect::Mysql) => u8::from(*boolean).to_string(),
        (SqlValue::Text(text), _) => format!("'{}'", text.replace('\'', "''")),
    }
}

fn quote_identifier(dialect: ScriptDialect, name: &str) -> String {
    match dialect {
        ScriptDialect::Sqlite | ScriptDialect::Postgres => format!("\"{name}\""),
        ScriptDialect::Mysql => format!("`{name}`"),
    }
}

fn column_sql(dialect: ScriptDialect, kind: &ColumnType) -> String {
    let integer = match dialect {
        ScriptDialect::Sqlite | ScriptDialect::Postgres => "integer",
        ScriptDialect::Mysql => "int(10) unsigned",
    };
    let boolean = |default: bool| match dialect {
        ScriptDialect::Sqlite | ScriptDialect::Mysql => format!("tinyint(1) NOT NULL DEFAULT {}", u8::from(default)),
        ScriptDialect::Postgres => format!("boolean NOT NULL DEFAULT {default}"),
    };
    let text = |mysql: &str| match dialect {
        ScriptDialect::Sqlite | ScriptDialect::Postgres => "text".to_owned(),
        ScriptDialect::Mysql => mysql.to_owned(),
    };
    match kind {
        Id => match dialect {
            ScriptDialect::Sqlite => "integer PRIMARY KEY AUTOINCREMENT NOT NULL".to_owned(),
            ScriptDialect::Mysql => format!("{integer} NOT NULL AUTO_INCREMENT PRIMARY KEY"),
            ScriptDialect::Postgres => "serial PRIMARY KEY".to_owned(),
        },
        IntDefault0 => format!("{integer} NOT NULL DEFAULT 0"),
        IntDefault1 => format!("{integer} NOT NULL DEFAULT 1"),
        IntRequired => format!("{integer} NOT NULL"),
        IntNullable => integer.to_owned(),
        BoolFalse => boolean(false),
        BoolTrue => boolean(true),
        Varchar(length, default) => format!("varchar({length}) NOT NULL DEFAULT '{default}'"),
        VarcharNullable(length) => format!("varchar({length})"),
        VarcharRequired(length) => format!("varchar({length}) NOT NULL"),
        Text => text("text"),
        MediumText => text("mediumtext"),
        LongText => text("longtext"),
        Timestamp => match dialect {
            ScriptDialect::Sqlite => "datetime".to_owned(),
            ScriptDialect::Mysql => "timestamp NULL".to_owned(),
            ScriptDialect::Postgres => "timestamp(0) without time zone".to_owned(),
        },
    }
}
