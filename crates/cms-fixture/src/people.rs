//! Users with their secrets, which are canaries; roles and permissions.

use crate::{CANARY, Cell, Rows};

pub(crate) fn rows() -> Vec<Rows> {
    vec![
        Rows {
            table: "users",
            columns: &["id", "username", "password", "cachepwd", "refresh_token", "access_token", "verified_key"],
            rows: (0..13).map(user).collect(),
        },
        Rows {
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
        Rows {
            table: "user_roles",
            columns: &["id", "name", "description"],
            rows: ["Administrator", "Editor", "Publisher"].into_iter().zip(1..).map(role).collect(),
        },
        Rows {
            table: "permissions_groups",
            columns: &["id", "name", "lang_key"],
            rows: (1..=15).map(|id| vec![Cell::Whole(id), text("Group", id), text("group", id)]).collect(),
        },
        Rows {
            table: "permissions",
            columns: &["id", "name", "key", "lang_key", "group_id", "disabled"],
            rows: (1..=69).map(permission).collect(),
        },
        Rows {
            table: "role_permissions",
            columns: &["id", "permission", "role_id"],
            rows: [(1, 69), (2, 30), (3, 44)]
                .into_iter()
                .flat_map(|(role, most)| (1..=most).map(move |number| (role, number)))
                .zip(1..)
                .map(|((role, number), id)| vec![Cell::Whole(id), text("permission", number), Cell::Whole(role)])
                .collect(),
        },
    ]
}

fn text(word: &str, number: i64) -> Cell {
    Cell::text(format!("{word}{number}"))
}

fn name(number: i64) -> String {
    if number == 0 { "admin".to_owned() } else { format!("user{number}") }
}

fn user(number: i64) -> Vec<Cell> {
    let secret = |what: &str| Cell::text(format!("{CANARY}-{what}-{number}"));
    let mut row = vec![Cell::Whole(number + 1), Cell::text(name(number))];
    row.extend(["password", "cachepwd", "refresh", "access", "verified"].map(secret));
    row
}

fn attributes(number: i64) -> Vec<Cell> {
    let full = if number == 0 { "Admin".to_owned() } else { format!("User № {number}") };
    let phone = if number == 0 { String::new() } else { format!("+38050000000{number}") };
    vec![
        Cell::Whole(number + 1),
        Cell::Whole(number + 1),
        Cell::text(full),
        Cell::Whole(if number == 0 { 1 } else { number % 3 + 1 }),
        Cell::text(format!("{}@example.com", name(number))),
        Cell::text(phone),
        Cell::Whole(i64::from(number == 12)),
        Cell::Whole(number),
        Cell::Whole(if number == 0 { 0 } else { 1_700_000_000 + number }),
        Cell::text(format!("{CANARY}-session-{number}")),
        Cell::Whole(1_700_000_000),
        Cell::Whole(1_700_000_060),
        Cell::Whole(1),
    ]
}

fn role((name, id): (&str, i64)) -> Vec<Cell> {
    vec![Cell::Whole(id), Cell::text(name), Cell::text(format!("What a {name} may do"))]
}

fn permission(id: i64) -> Vec<Cell> {
    let group = (id - 1) % 15 + 1;
    vec![
        Cell::Whole(id),
        text("Permission ", id),
        text("permission", id),
        text("role_permission", id),
        Cell::Whole(group),
        Cell::Whole(id % 2),
    ]
}
