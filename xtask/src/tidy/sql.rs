//! Every line of SQL is in `crates/store`, where values are bound and row-level security is set up; a statement elsewhere
//! would bypass both.

use super::Finding;
use super::tree::Tree;

/// In capitals these are SQL wherever they stand.
const STATEMENTS: &[&str] =
    &["SELECT", "INSERT INTO", "DELETE FROM", "CREATE TABLE", "CREATE INDEX", "ALTER TABLE", "DROP TABLE"];

/// Beside the store there is the made-up CMS site, whose statements make a database that is then read as somebody else's,
/// and the testkit, which manages the databases of tests.
const HOMES: &[&str] = &["crates/store/", "crates/cms-fixture/", "crates/testkit/"];

pub fn only_in_the_store(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let may_hold_sql = |path: &str| HOMES.iter().any(|home| path.starts_with(home));
    for file in tree.files.iter().filter(|file| file.is_crate_source() && !may_hold_sql(&file.path)) {
        for (number, line) in file.lines() {
            if let Some(statement) = statement(line) {
                let message = format!("`{statement}` reads like SQL, which is written in crates/store only");
                findings.push(Finding::at(&file.path, number, message));
            }
        }
    }
    findings
}

/// Where the statements about authenticated tables are made.
const REGISTRY_ROWS: &str = "crates/store/src/sql/registry_rows";

/// A statement about a table whose rows carry a MAC would read rows without verifying them, or write rows that are then
/// refused.
pub fn authenticated_tables_in_one_module(tree: &Tree) -> Vec<Finding> {
    let lists = tree.files.iter().filter(|file| file.path == format!("{REGISTRY_ROWS}/tables.rs"));
    let tables: Vec<&str> = lists.flat_map(|file| file.lines()).filter_map(|(_, line)| table_name(line)).collect();
    if tables.is_empty() {
        let message = "lists no authenticated table; say here where the list is now";
        return vec![Finding::at(&format!("{REGISTRY_ROWS}/tables.rs"), 1, message.to_owned())];
    }
    let mut findings = Vec::new();
    let elsewhere = |path: &str| {
        !path.starts_with(REGISTRY_ROWS) && !path.starts_with("crates/testkit/") && !path.ends_with("tests.rs")
    };
    for file in tree.files.iter().filter(|file| file.is_crate_source() && elsewhere(&file.path)) {
        for (number, line) in file.lines() {
            for table in tables.iter().filter(|table| names_table(line, table)) {
                let message =
                    format!("a statement about {table}, whose rows carry a MAC, is made in {REGISTRY_ROWS} only");
                findings.push(Finding::at(&file.path, number, message));
            }
        }
    }
    findings
}

/// Of a line such as `name: "fd_client",`.
fn table_name(line: &str) -> Option<&str> {
    line.trim().strip_prefix("name: \"")?.strip_suffix("\",")
}

fn names_table(line: &str, table: &str) -> bool {
    let upper = line.to_uppercase();
    ["FROM", "INTO", "UPDATE", "JOIN", "TABLE", "ONLY"].iter().any(|word| {
        let statement = format!("{word} {}", table.to_uppercase());
        holds_word(&upper, &statement)
    })
}

/// In small letters the same words are English (`select the first`), so they count only where a statement can begin:
/// at the start of a line or right after a quote.
fn statement(line: &str) -> Option<&'static str> {
    // `Select {` is a value of the engine's, not a statement.
    let begins = line.trim_start().replace("Select {", "").to_uppercase();
    let quoted: Vec<String> = line.split('"').skip(1).map(|piece| piece.trim_start().to_uppercase()).collect();
    let found = STATEMENTS.iter().copied().find(|statement| {
        let opening = format!("{statement} ");
        holds_word(line, statement)
            || begins.starts_with(&opening)
            || quoted.iter().any(|piece| piece.starts_with(&opening))
    });
    found.or_else(|| {
        let update = |text: &str| text.split_once("UPDATE ").is_some_and(|(_, rest)| rest.contains(" SET "));
        (update(line) || quoted.iter().any(|piece| piece.starts_with("UPDATE ") && update(piece)))
            .then_some("UPDATE .. SET")
    })
}

fn holds_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        [before, after].iter().flatten().all(|near| !near.is_alphanumeric() && *near != '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, line: &str) -> usize {
        only_in_the_store(&Tree::of(&[(path, line)])).len()
    }

    #[test]
    fn a_statement_outside_the_store_is_found() {
        for line in [
            "let sql = \"SELECT id FROM rows\";",
            "let sql = \"select id from rows\";",
            "    insert into rows values ($1)",
            "\"UPDATE rows SET a = $1\"",
            "\"update rows set a = $1\"",
            "\"DELETE FROM rows\"",
            "// CREATE TABLE rows",
        ] {
            assert_eq!(found("crates/engine/src/a.rs", line), 1, "{line}");
            assert_eq!(found("crates/contracts/src/a.rs", line), 1, "{line}");
            assert_eq!(found("crates/store/src/a.rs", line), 0, "{line}");
            assert_eq!(found("crates/cms-fixture/src/a.rs", line), 0, "{line}");
            assert_eq!(found("crates/cms-fixtures/src/a.rs", line), 1, "{line}");
        }
    }

    #[test]
    fn a_statement_about_an_authenticated_table_has_one_home() {
        let list = ("crates/store/src/sql/registry_rows/tables.rs", "    name: \"fd_client\",");
        let found = |path: &str, line: &str| authenticated_tables_in_one_module(&Tree::of(&[list, (path, line)])).len();
        for line in [
            "\"SELECT name FROM fd_client\"",
            "\"update fd_client set name = $1\"",
            "\"INSERT INTO fd_client (client)\"",
            "\"DELETE FROM fd_client\"",
            "\"LOCK TABLE fd_client\"",
        ] {
            assert_eq!(found("crates/store/src/backend/registry.rs", line), 1, "{line}");
            assert_eq!(found("crates/store/src/sql/registry_rows/names.rs", line), 0, "{line}");
            assert_eq!(found("crates/store/tests/sqlite/tampering.rs", line), 0, "{line}");
        }
        for line in ["\"SELECT 1 FROM fd_client_word\"", "table(\"fd_client\")", "\"SELECT 1 FROM fd_claim\""] {
            assert_eq!(found("crates/store/src/backend/registry.rs", line), 0, "{line}");
        }
        assert_eq!(authenticated_tables_in_one_module(&Tree::of(&[("crates/store/src/a.rs", "")])).len(), 1);
    }

    #[test]
    fn english_and_rust_are_left_alone() {
        for line in [
            "// select the first",
            "tokio::select! {",
            "    Select {",
            "const SELECTED: u8 = 1;",
            "// insert into the map",
            "\"an update was set\"",
        ] {
            assert_eq!(found("crates/engine/src/a.rs", line), 0, "{line}");
        }
    }
}
