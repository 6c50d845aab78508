//! The environment of the process. The only place that reads it.

/// The variables of this process, for [`load`](super::load), which uses those that begin with `FRONTDESK_` and those that a
/// file names.
///
/// A value that is not Unicode gets replacement characters, which `load` rejects; `std::env::vars` would panic on it, even
/// for an unrelated variable.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| !CREDENTIALS.contains(&name.as_str()))
}

/// The credentials of a caller over standard input. Serialized only for the local socket of a server.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StdioLogin {
    Client { id: String, secret: String },
    Token(String),
}

impl std::fmt::Debug for StdioLogin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("StdioLogin(***)")
    }
}

/// The credential in the environment. Two are refused, because it is not clear which one to use.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn login() -> Result<StdioLogin, &'static str> {
    let [id, secret, token] = CREDENTIALS.map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match (id, secret, token) {
        (Some(id), Some(secret), None) => Ok(StdioLogin::Client { id, secret }),
        (None, None, Some(token)) => Ok(StdioLogin::Token(token)),
        (None, None, None) => Err("there are no credentials: set FRONTDESK_CLIENT_ID and FRONTDESK_CLIENT_SECRET, \
             which `frontdesk client add` prints, or FRONTDESK_TOKEN"),
        (Some(_), None, None) => Err("FRONTDESK_CLIENT_ID is set, but FRONTDESK_CLIENT_SECRET is not; set both"),
        (None, Some(_), None) => Err("FRONTDESK_CLIENT_SECRET is set, but FRONTDESK_CLIENT_ID is not; set both"),
        (Some(_), _, Some(_)) | (None, Some(_), Some(_)) => {
            Err("FRONTDESK_TOKEN is set beside a client's id or secret; set the one or the other")
        }
    }
}

/// Credentials of a caller, not keys of the configuration.
const CREDENTIALS: [&str; 3] = ["FRONTDESK_CLIENT_ID", "FRONTDESK_CLIENT_SECRET", "FRONTDESK_TOKEN"];

pub(super) const PREFIX: &str = "FRONTDESK_";
/// Names the file; it is not a key of the configuration.
pub(super) const FILE: &str = "FRONTDESK_CONFIG";
