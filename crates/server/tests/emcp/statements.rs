//! What really reaches the databases: whatever callers send, every statement is made of the renderer's own words, tables
//! and columns, and every value is bound.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::databases::{HOSTILE, Trio, places};
use crate::published::{TOOLS, taken_by};

/// Whatever a statement may consist of besides names in quotes, aliases and places of values.
const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "JOIN",
    "LEFT",
    "ON",
    "WHERE",
    "AND",
    "AS",
    "IN",
    "NOT",
    "LIKE",
    "ESCAPE",
    "IS",
    "NULL",
    "EXISTS",
    "ORDER",
    "BY",
    "DESC",
    "LIMIT",
    "OFFSET",
    "COALESCE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST",
    "CHAR",
    "SIGNED",
    "UNSIGNED",
    "DECIMAL",
    "LEAST",
    "GREATEST",
    "MOD",
    "REGEXP_SUBSTR",
];

/// The patterns and the sign that are the renderer's own.
const TEXTS: &[&str] = &["!", r"^[\x09-\x0D\x20]*[+-]?[0-9]*", r"^[\x09-\x0D\x20]*[+-]?[0-9]*(\.[0-9]*)?"];

/// What 64 bits can hold, and what there is to say about nothing.
/// The last is one more than an answer may hold, where values are cut.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "9223372036854775808",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1048577",
];

const TABLES: &[&str] = &[
    "evo_site_content",
    "evo_site_content_closure",
    "evo_site_content_tags",
    "evo_tags",
    "evo_site_tmplvars",
    "evo_site_tmplvar_contentvalues",
    "evo_site_templates",
    "evo_site_snippets",
    "evo_site_plugins",
    "evo_site_modules",
    "evo_categories",
    "evo_users",
    "evo_user_attributes",
    "evo_user_roles",
    "evo_permissions",
    "evo_permissions_groups",
    "evo_role_permissions",
];

const SECRETS: &[&str] =
    &["password", "cachepwd", "verified_key", "refresh_token", "access_token", "sessionid", "content", "introtext"];

#[tokio::test]
async fn e_18_e_27_e_32_e_63_hostile_texts_change_no_statement() {
    let mut trio = Trio::open().await;
    let before = trio.everything().await;
    let log = std::env::temp_dir().join(format!("fdlog-{}", std::process::id()));
    // A test that was killed may have left one, and MariaDB would write on in it.
    let _ = fs::remove_file(&log);
    trio.three.mariadb.sql(&format!("SET GLOBAL general_log_file = '{}'; SET GLOBAL general_log = 1;", log.display()));
    let (mut answered, mut refused) = (0, 0);
    for text in HOSTILE {
        for (tool, arguments) in places(text) {
            // Each database has an idea of its own of what a text is less than, so they need not agree here.
            for (name, answer) in trio.each(tool, &arguments).await {
                let answer: Value = serde_json::from_str(&answer).unwrap();
                match answer.get("result") {
                    Some(result) => {
                        let found = &result["structuredContent"];
                        // A text that stands for nothing finds nothing; only `<` and a letter or two may find somebody.
                        let harmless = arguments.to_string().contains("\"<\"") || text.chars().count() < 5;
                        let is_empty = found["items"] == json!([]) || found["item"].is_null();
                        assert!(harmless || is_empty, "{name} {tool} {arguments}: {found}");
                        assert!(!answer.to_string().contains("canary"), "{name} {answer}");
                        answered += 1;
                    }
                    None => {
                        let code = answer["error"]["code"].as_i64().unwrap();
                        assert!([-32602, -32601].contains(&code), "{name} {tool} {arguments}: {answer}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(answered > 900 && refused > 3000, "{answered} answered, {refused} refused");
    // Ordinary questions too, so that the log has each shape in it.
    let asked = json!({"parent": 2, "published": true, "with_tvs": ["price:d"], "tags_data": {"tv_id": 9, "tags": ["x"]},
        "tv_filters": [{"tv": "price", "op": ">", "value": "5", "cast": "DECIMAL(9,2)", "use_default": true}],
        "tv_order": [{"tv": "price", "cast": "UNSIGNED", "dir": "desc"}], "order_by_date": "desc", "limit": 5});
    trio.same("evo.content.search", &asked).await;
    for tool in TOOLS {
        let asked = json!({"id": 249, "from": 0, "to": 9, "depth": 2, "model": "UserRole", "limit": 5});
        trio.same(tool, &taken_by(tool, asked)).await;
    }
    trio.three.mariadb.sql("SET GLOBAL general_log = 0;");
    assert_eq!(trio.everything().await, before);
    let prepared = prepared(&log);
    assert!(prepared.len() > 20, "{prepared:#?}");
    for text in &prepared {
        judge(text);
    }
}

/// The texts of all statements that MariaDB was given. Nothing but them was asked, and they were prepared without values.
fn prepared(log: &PathBuf) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
    fs::remove_file(log).unwrap();
    let mut prepared = BTreeSet::new();
    for line in text.lines() {
        // Before the command stand the time and the number of the connection; a value may hold any line.
        let after = |command: &str| {
            let (head, rest) = line.split_once(&format!(" {command}\t"))?;
            head.chars().all(|letter| letter.is_ascii_digit() || " \t:".contains(letter)).then_some(rest)
        };
        prepared.extend(after("Prepare").map(str::to_owned));
        if let Some(asked) = after("Query") {
            let is_ours = ["SET ", "SELECT @@", "SELECT VERSION()"].iter().any(|words| asked.starts_with(words));
            assert!(is_ours || asked.contains("information_schema"), "{asked}");
        }
    }
    prepared
}

/// Every word of a statement is one of the renderer's, every name one of the site's that may be read.
fn judge(text: &str) {
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '`' => {
                let end = rest[1..].find('`').unwrap_or_else(|| panic!("{text}")) + 2;
                let name = &rest[1..end - 1];
                let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                assert!(is_name && (!name.starts_with("evo_") || TABLES.contains(&name)), "{name} in {text}");
                assert!(!SECRETS.contains(&name), "{name} in {text}");
                end
            }
            '\'' => {
                let end = rest[1..].find('\'').unwrap_or_else(|| panic!("{text}")) + 2;
                assert!(TEXTS.contains(&&rest[1..end - 1]), "{} in {text}", &rest[..end]);
                end
            }
            letter if letter.is_ascii_alphanumeric() || letter == '_' => {
                let end = rest.find(|other: char| !other.is_ascii_alphanumeric() && other != '_').unwrap_or(rest.len());
                let word = &rest[..end];
                let is_alias = word.strip_prefix('t').is_some_and(|number| number.parse::<u8>().is_ok());
                // How many digits a DECIMAL has, or how many letters a CHAR.
                let is_size = word.parse::<u8>().is_ok_and(|size| size <= 100);
                let is_ours = is_alias || is_size || WORDS.contains(&word) || NUMBERS.contains(&word);
                assert!(is_ours, "{word} in {text}");
                end
            }
            '?' | '.' | ',' | '(' | ')' | ' ' | '=' | '<' | '>' | '+' | '-' | '*' => 1,
            other => panic!("{other} in {text}"),
        };
        rest = &rest[length..];
    }
}

#[test]
#[should_panic(expected = "OR in")]
fn the_statement_check_finds_foreign_words() {
    judge("SELECT t0.`id` FROM `evo_users` AS t0 WHERE t0.`id` = ? OR 1 = 1 LIMIT ? OFFSET ?");
}

#[test]
#[should_panic(expected = "password in")]
fn the_judge_of_statements_sees_a_secret_column() {
    judge("SELECT t0.`password` FROM `evo_users` AS t0 LIMIT ? OFFSET ?");
}
