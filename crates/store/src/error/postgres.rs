//! The meaning of a PostgreSQL error, without the values that its own text may quote.

use std::error::Error as _;

use tokio_postgres::Error;

use crate::postgres::tls::TlsError;

/// Restarts, locks and full disks are transient; violated constraints and unreadable values are not.
pub(super) fn is_transient(error: &Error) -> bool {
    let Some(error_report) = error.as_db_error() else {
        // Not reported by the server, so the connection failed.
        return error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>());
    };
    let code = error_report.code().code();
    // Connection, transaction rollback, resources, operator intervention, system error; then an unavailable lock
    // and a read-only server.
    ["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class)) || ["55P03", "25006"].contains(&code)
}

/// Messages about connections, permissions and resources quote no values. Of all others only the code and the names of
/// table and constraint are shown, because their text may quote a row.
pub(super) fn describe(error: &Error) -> String {
    let Some(error_report) = error.as_db_error() else {
        return match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
    };
    let code = error_report.code().code();
    if ["08", "28", "3D", "42", "53", "55", "57", "58"].iter().any(|class| code.starts_with(class)) {
        return format!("{} (SQLSTATE {code})", error_report.message());
    }
    let mut text = format!("SQLSTATE {code}");
    for (what, name) in [("table", error_report.table()), ("constraint", error_report.constraint())] {
        if let Some(name) = name {
            text.push_str(&format!(", {what} {name}"));
        }
    }
    text
}

/// Why the server's TLS was not accepted, if that was the cause.
pub(super) fn tls_failure(error: &Error) -> Option<String> {
    let source = error.source()?;
    if let Some(error_report) = source.downcast_ref::<TlsError>() {
        return Some(error_report.0.clone());
    }
    // tokio-postgres has no other way to recognize this error.
    (source.to_string() == "server does not support TLS")
        .then(|| "the server does not offer it. Set `ssl = on` with a certificate in its postgresql.conf".to_owned())
}
