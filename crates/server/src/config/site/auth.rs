//! Who may ask a site, and the secrets that this takes. A secret is looked up when the site is opened, not when the
//! configuration is read: a command that opens no site needs none.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use frontdesk_identity::JwtSettings;

use super::fields::Fields;

/// Whose tokens are good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// Whoever is on this machine may call, without any.
    None,
    Tokens {
        own: OwnTokens,
        jwt: Option<Jwt>,
    },
}

/// Whether tokens of this server's own authorization server are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnTokens {
    Taken,
    Refused,
}

/// Tokens that the site signs with a secret it shares with us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jwt {
    pub secret: Secret,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    /// How long a token may live.
    pub lifetime_seconds: u32,
}

/// A text that is not shown, or where to find it.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    Given(String),
    File(PathBuf),
    /// A variable of the environment, as it was when the configuration was read.
    Variable {
        name: String,
        value: Option<String>,
    },
}

impl Secret {
    /// The text itself, or a sentence that says why there is none.
    pub fn reveal(&self) -> Result<String, String> {
        match self {
            Secret::Given(text) => Ok(text.clone()),
            Secret::Variable { value: Some(text), .. } if !text.is_empty() => Ok(text.clone()),
            Secret::Variable { name, .. } => {
                Err(format!("the variable {name} is not set. Set it where the server is started"))
            }
            Secret::File(path) => {
                let file = path.display();
                let unread = |error: std::io::Error| {
                    format!("{file} cannot be read: {error}. Check the path and who may read it")
                };
                let mode = fs::metadata(path).map_err(unread)?.permissions().mode();
                if mode & 0o007 != 0 {
                    return Err(format!("{file} is open to everyone on this machine. Run: chmod o= {file}"));
                }
                let text = fs::read_to_string(path).map_err(unread)?;
                // Editors end a file with a line end that is no part of the secret.
                match text.trim_end_matches(['\r', '\n']) {
                    "" => Err(format!("{file} is empty. Write the secret into it")),
                    text => Ok(text.to_owned()),
                }
            }
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Given(_) => out.write_str("Given(***)"),
            Secret::File(path) => write!(out, "File({path:?})"),
            Secret::Variable { name, .. } => write!(out, "Variable({name})"),
        }
    }
}

/// What a variable of the environment holds, by its name.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(super) fn read(fields: &mut Fields<'_>, variables: Lookup<'_>) -> Option<Auth> {
    let ways = match fields.has("auth") {
        true => fields.texts("auth")?,
        false => vec![OAUTH.to_owned()],
    };
    let next = "Use \"oauth\", \"jwt\", both, or \"none\" alone";
    if ways.is_empty() {
        fields.wrong("auth", "an empty list would refuse every call", next);
        return None;
    }
    if let Some(at) = ways.iter().position(|way| ![OAUTH, JWT, NONE].contains(&way.as_str())) {
        let wrong = format!("{:?} is no way to know a caller", ways.get(at).map(String::as_str).unwrap_or_default());
        fields.wrong(&format!("auth[{at}]"), wrong, next);
        return None;
    }
    let has = |word: &str| ways.iter().any(|way| way == word);
    if has(NONE) && ways.len() > 1 {
        fields.wrong("auth", "who needs no token needs none of another kind", next);
        return None;
    }
    if !has(JWT) {
        for name in ["jwt_secret_env", "jwt_secret_file", "jwt_issuer", "jwt_audience", "jwt_lifetime_seconds"] {
            if fields.has(name) {
                fields.wrong(
                    name,
                    "it is set, but `auth` does not name \"jwt\"",
                    "Add \"jwt\" to `auth`, or leave it out",
                );
            }
        }
    }
    Some(match (has(NONE), has(JWT)) {
        (true, _) => Auth::None,
        (false, true) => Auth::Tokens { own: own(has(OAUTH).then_some(())), jwt: Some(jwt(fields, variables)?) },
        (false, false) => Auth::Tokens { own: OwnTokens::Taken, jwt: None },
    })
}

const OAUTH: &str = "oauth";
const JWT: &str = "jwt";
const NONE: &str = "none";

fn own(named: Option<()>) -> OwnTokens {
    match named {
        Some(()) => OwnTokens::Taken,
        None => OwnTokens::Refused,
    }
}

fn jwt(fields: &mut Fields<'_>, variables: Lookup<'_>) -> Option<Jwt> {
    let (issuer, audience) = (fields.text("jwt_issuer"), fields.text("jwt_audience"));
    let lifetime = fields.number("jwt_lifetime_seconds", 1, JwtSettings::MAX_LIFETIME_SECONDS);
    let lifetime_seconds = lifetime.unwrap_or(JwtSettings::DEFAULT_LIFETIME_SECONDS);
    let (variable, file) = (fields.text("jwt_secret_env"), fields.text("jwt_secret_file"));
    let secret = match (variable, file) {
        (Some(name), None) => named(name, variables),
        (None, Some(file)) => Secret::File(PathBuf::from(file)),
        (Some(_), Some(_)) => {
            let next = "Set `jwt_secret_env` or `jwt_secret_file`, not both";
            fields.wrong("jwt_secret_file", "there are two places for one secret", next);
            return None;
        }
        (None, None) => {
            let next = "Name a file with the secret the site signs with, or use `jwt_secret_env`";
            fields.wrong("jwt_secret_file", "it is missing, but `auth` names \"jwt\"", next);
            return None;
        }
    };
    Some(Jwt { secret, issuer, audience, lifetime_seconds })
}

pub(super) fn named(name: String, variables: Lookup<'_>) -> Secret {
    Secret::Variable { value: variables(&name), name }
}
