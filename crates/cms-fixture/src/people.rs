//! Users, roles and permissions. Secret columns contain canaries.

use crate::{CANARY, SqlValue, TableRows};

pub(crate) fn rows() -> Vec<TableRows> {
    vec![
        TableRows {
            table: "users",
            columns: &["id", "username", "password", "cachepwd", "refresh_token", "access_token", "verified_key"],
            rows: (0..13).map(user).collect(),
        },
        TableRows {
            table: "user_attributes",
            columns: &[
                "id",
                "internalKey",
                "fullname",
                "role",
                "email",
                "phone",
                "blocked",
                "logincount",
                "lastlogin",
                "sessionid",
                "createdon",
                "editedon",
                "verified",
            ],
            rows: (0..13).map(attributes).collect(),
        },
        TableRows {
            table: "user_roles",
            columns: &["id", "name", "description"],
            rows: ["Administrator", "Editor", "Publisher"].into_iter().zip(1..).map(role).collect(),
        },
        TableRows {
            table: "permissions_groups",
            columns: &["id", "name", "lang_key"],
            rows: (1..=15).map(|id| vec![SqlValue::Integer(id), text("Group", id), text("group", id)]).collect(),
        },
        TableRows {
            table: "permissions",
            columns: &["id", "name", "key", "lang_key", "group_id", "disabled"],
            rows: (1..=69).map(permission).collect(),
        },
        TableRows {
            table: "role_permissions",
            columns: &["id", "permission", "role_id"],
            rows: [(1, 69), (2, 30), (3, 44)]
                .into_iter()
                .flat_map(|(role, most)| (1..=most).map(move |number| (role, number)))
                .zip(1..)
                .map(|((role, number), id)| {
                    vec![SqlValue::Integer(id), text("permission", number), SqlValue::Integer(role)]
                })
                .collect(),
        },
    ]
}

fn text(word: &str, number: i64) -> SqlValue {
    SqlValue::text(format!("{word}{number}"))
}

fn name(number: i64) -> String {
    if number == 0 { "admin".to_owned() } else { format!("user{number}") }
}

fn user(number: i64) -> Vec<SqlValue> {
    let secret = |what: &str| SqlValue::text(format!("{CANARY}-{what}-{number}"));
    let mut row = vec![SqlValue::Integer(number + 1), SqlValue::text(name(number))];
    row.extend(["password", "cachepwd", "refresh", "access", "verified"].map(secret));
    row
}

fn attributes(number: i64) -> Vec<SqlValue> {
    let full = if number == 0 { "Admin".to_owned() } else { format!("User № {number}") };
    let phone = if number == 0 { String::new() } else { format!("+38050000000{number}") };
    vec![
        SqlValue::Integer(number + 1),
        SqlValue::Integer(number + 1),
        SqlValue::text(full),
        SqlValue::Integer(if number == 0 { 1 } else { number % 3 + 1 }),
        SqlValue::text(format!("{}@example.com", name(number))),
        SqlValue::text(phone),
        SqlValue::Integer(i64::from(number == 12)),
        SqlValue::Integer(number),
        SqlValue::Integer(if number == 0 { 0 } else { 1_700_000_000 + number }),
        SqlValue::text(format!("{CANARY}-session-{number}")),
        SqlValue::Integer(1_700_000_000),
        SqlValue::Integer(1_700_000_060),
        SqlValue::Integer(1),
    ]
}

fn role((name, id): (&str, i64)) -> Vec<SqlValue> {
    vec![SqlValue::Integer(id), SqlValue::text(name), SqlValue::text(format!("What a {name} may do"))]
}

fn permission(id: i64) -> Vec<SqlValue> {
    let group = (id - 1) % 15 + 1;
    vec![
        SqlValue::Integer(id),
        text("Permission ", id),
        text("permission", id),
        text("role_permission", id),
        SqlValue::Integer(group),
        SqlValue::Integer(id % 2),
    ]
}
