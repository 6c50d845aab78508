//! What an error of PostgreSQL means, without the values that its own text may quote.

use std::error::Error as _;

use tokio_postgres::Error;

use crate::postgres::tls::Refusal;

/// Servers come back, locks are released, disks are cleared; a broken rule or an unreadable value stays.
pub(super) fn passes(error: &Error) -> bool {
    let Some(refusal) = error.as_db_error() else {
        // Without a word from the server it is the connection that failed.
        return error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>());
    };
    let code = refusal.code().code();
    // Connection, transaction rollback, resources, intervention by an operator, system; then a lock that was
    // not to be had and a server that only reads for now.
    ["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class)) || ["55P03", "25006"].contains(&code)
}

/// Messages about connections, permissions and resources help and quote no values. Of all others only the
/// code and the names of table and constraint are told: their text may quote a row.
pub(super) fn describe(error: &Error) -> String {
    let Some(refusal) = error.as_db_error() else {
        return match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
    };
    let code = refusal.code().code();
    if ["08", "28", "3D", "42", "53", "55", "57", "58"].iter().any(|class| code.starts_with(class)) {
        return format!("{} (SQLSTATE {code})", refusal.message());
    }
    let mut text = format!("SQLSTATE {code}");
    for (what, name) in [("table", refusal.table()), ("constraint", refusal.constraint())] {
        if let Some(name) = name {
            text.push_str(&format!(", {what} {name}"));
        }
    }
    text
}

/// Why the server is not to be trusted, if that is what went wrong.
pub(super) fn untrusted(error: &Error) -> Option<String> {
    let source = error.source()?;
    if let Some(refusal) = source.downcast_ref::<Refusal>() {
        return Some(refusal.0.clone());
    }
    // The client library has no other way of saying it.
    (source.to_string() == "server does not support TLS")
        .then(|| "the server does not offer it. Set `ssl = on` with a certificate in its postgresql.conf".to_owned())
}
