//! The authentication of a site, and its secrets. A secret is read when the site is opened, not with the configuration: a
//! command that opens no site needs none.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use frontdesk_identity::JwtSettings;
use zeroize::Zeroizing;

use super::super::fields::Fields;

/// Which tokens are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SiteAuth {
    /// None; every caller on this machine is accepted.
    None,
    Tokens {
        own: OwnTokens,
        jwt: Option<JwtConfig>,
    },
}

/// Whether tokens of this server are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnTokens {
    Accepted,
    Rejected,
}

/// Tokens that the site signs with a shared secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwtConfig {
    pub secret: SecretSource,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    /// The longest accepted lifetime.
    pub lifetime_seconds: u32,
}

/// A secret, or where it is stored.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSource {
    Literal(String),
    File(PathBuf),
    /// A variable of the environment, as it was when the configuration was read.
    Variable {
        name: String,
        value: Option<String>,
    },
}

impl SecretSource {
    /// Reads the secret; the error says why there is none.
    pub fn reveal(&self) -> Result<Zeroizing<String>, String> {
        match self {
            SecretSource::Literal(text) => Ok(Zeroizing::new(text.clone())),
            SecretSource::Variable { value: Some(text), .. } if !text.is_empty() => Ok(Zeroizing::new(text.clone())),
            SecretSource::Variable { name, .. } => {
                Err(format!("the variable {name} is not set. Set it where the server is started"))
            }
            SecretSource::File(path) => {
                let file = path.display();
                let unread = |error: std::io::Error| {
                    format!("{file} cannot be read: {error}. Check the path and who may read it")
                };
                let mode = fs::metadata(path).map_err(unread)?.permissions().mode();
                if mode & 0o007 != 0 {
                    return Err(format!("{file} can be read by everyone on this machine. Run: chmod o= {file}"));
                }
                let text = Zeroizing::new(fs::read_to_string(path).map_err(unread)?);
                // Editors append a line end, which is not part of the secret.
                match text.trim_end_matches(['\r', '\n']) {
                    "" => Err(format!("{file} is empty. Write the secret into it")),
                    text => Ok(Zeroizing::new(text.to_owned())),
                }
            }
        }
    }
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Literal(_) => out.write_str("Literal(***)"),
            SecretSource::File(path) => write!(out, "File({path:?})"),
            SecretSource::Variable { name, .. } => write!(out, "Variable({name})"),
        }
    }
}

/// The value of an environment variable, by its name.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(super) fn read(fields: &mut Fields<'_>, variables: Lookup<'_>) -> Option<SiteAuth> {
    let methods = if fields.has("auth") { fields.texts("auth")? } else { vec![OAUTH.to_owned()] };
    let advice = "Use \"oauth\", \"jwt\", both, or \"none\" alone";
    if methods.is_empty() {
        fields.error("auth", "an empty list would refuse every call", advice);
        return None;
    }
    if let Some(at) = methods.iter().position(|method| ![OAUTH, JWT, NONE].contains(&method.as_str())) {
        let problem =
            format!("{:?} is not an authentication method", methods.get(at).map(String::as_str).unwrap_or_default());
        fields.error(&format!("auth[{at}]"), problem, advice);
        return None;
    }
    let has = |word: &str| methods.iter().any(|method| method == word);
    if has(NONE) && methods.len() > 1 {
        fields.error("auth", "\"none\" cannot be combined with other methods", advice);
        return None;
    }
    if !has(JWT) {
        for name in ["jwt_secret_env", "jwt_secret_file", "jwt_issuer", "jwt_audience", "jwt_lifetime_seconds"] {
            if fields.has(name) {
                fields.error(
                    name,
                    "it is set, but `auth` does not name \"jwt\"",
                    "Add \"jwt\" to `auth`, or leave it out",
                );
            }
        }
    }
    Some(match (has(NONE), has(JWT)) {
        (true, _) => SiteAuth::None,
        (false, true) => SiteAuth::Tokens {
            own: if has(OAUTH) { OwnTokens::Accepted } else { OwnTokens::Rejected },
            jwt: Some(jwt(fields, variables)?),
        },
        (false, false) => SiteAuth::Tokens { own: OwnTokens::Accepted, jwt: None },
    })
}

const OAUTH: &str = "oauth";
const JWT: &str = "jwt";
const NONE: &str = "none";

fn jwt(fields: &mut Fields<'_>, variables: Lookup<'_>) -> Option<JwtConfig> {
    let (issuer, audience) = (fields.text("jwt_issuer"), fields.text("jwt_audience"));
    let lifetime = fields.number("jwt_lifetime_seconds", 1, JwtSettings::MAX_LIFETIME_SECONDS);
    let lifetime_seconds = lifetime.unwrap_or(JwtSettings::DEFAULT_LIFETIME_SECONDS);
    let (variable, file) = (fields.text("jwt_secret_env"), fields.text("jwt_secret_file"));
    let secret = match (variable, file) {
        (Some(name), None) => from_variable(name, variables),
        (None, Some(file)) => SecretSource::File(PathBuf::from(file)),
        (Some(_), Some(_)) => {
            let advice = "Set `jwt_secret_env` or `jwt_secret_file`, not both";
            fields.error("jwt_secret_file", "there are two sources for one secret", advice);
            return None;
        }
        (None, None) => {
            let advice = "Name a file with the secret the site signs with, or use `jwt_secret_env`";
            fields.error("jwt_secret_file", "it is missing, but `auth` names \"jwt\"", advice);
            return None;
        }
    };
    Some(JwtConfig { secret, issuer, audience, lifetime_seconds })
}

pub(super) fn from_variable(name: String, variables: Lookup<'_>) -> SecretSource {
    SecretSource::Variable { value: variables(&name), name }
}
