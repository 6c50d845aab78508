//! Reads a [`PartnerConfig`] from a `[[mount]]` table, and reports all its problems at once. What the contract refuses is
//! reported at the key where it was said.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use frontdesk_contracts::partner::{
    ErrorStatus, IntentText, ManifestSettings, PartnerKeys, PartnerSettings, PartnerSource, SettingProblem,
    built_in_intent, built_in_intents, partner_contract,
};
use frontdesk_engine::TenantId;
use frontdesk_engine::model::nearest::nearest;
use toml::Table;

use super::super::fields::Fields;
use super::super::finding::ConfigError;
use super::keys::{AUTH, COMPLETION, NOTIFICATIONS, PARTNER, PARTNER_MOUNT};
use super::{BookingClock, CompletionConfig, KeyFormat, PartnerAuthConfig, PartnerConfig, PartnerCredentials};
use super::{backend, manifest};

/// A call that takes longer than this is no call.
const MAX_STREAM_SECONDS: u32 = 600;

const BY_HEADER: &str = "Write its keys under a header of its own";

/// A year.
const MAX_COMPLETE_AFTER_HOURS: u32 = 8_760;

/// The path and the partner, or all problems. `at` is the position of the table in the list of mounts, `folder` that of
/// the configuration file.
pub(in super::super) fn read(
    table: &Table,
    at: &str,
    contract: &str,
    folder: &Path,
) -> Result<(String, PartnerConfig), Vec<ConfigError>> {
    let mut fields = Fields::of(table, at, PARTNER_MOUNT);
    let path = required(&mut fields, "path", &format!("Name the path it is served at, such as /mcp/{contract}"));
    let tenant = tenant(&mut fields);
    let intents = intents(&mut fields, contract, folder);
    let words = PartnerSource::ALL.map(|source| (source.as_str(), source));
    let source = fields.one_of("source", &words).unwrap_or(PartnerSource::Own);
    let statuses = [("ok", ErrorStatus::Ok), ("equivalent", ErrorStatus::Equivalent)];
    let error_status = fields.one_of("error_status", &statuses).unwrap_or(ErrorStatus::Ok);
    let maintenance = fields.flag("maintenance").unwrap_or_default();
    let stream_time = fields.number("stream_seconds", 0, MAX_STREAM_SECONDS).unwrap_or_default();
    let stream_time = Duration::from_secs(stream_time.into());
    let notification_keys = notification_keys(&mut fields);
    let clock = BookingClock {
        plays_stages: fields.flag("clock").unwrap_or_default(),
        complete_after_hours: fields.number("complete_after_hours", 1, MAX_COMPLETE_AFTER_HOURS),
    };
    let (backend, backend_keys) = backend::read(&mut fields);
    let auth = auth(&mut fields);
    let completion = completion(&mut fields);
    let manifest = manifest::read(&mut fields);
    let settings = said(&mut fields, intents, source, error_status).map(|settings| PartnerSettings {
        manifest,
        backend,
        ..settings
    });
    // What the contract says about values that could not be read would be misleading.
    if let (Some(settings), []) = (&settings, fields.errors.as_slice())
        && let Some(Err(problems)) = partner_contract(contract, settings)
    {
        for problem in problems {
            report(&mut fields, contract, problem);
        }
    }
    match (path, tenant, settings) {
        (Some(path), Some(tenant), Some(settings)) if fields.errors.is_empty() => {
            let config = PartnerConfig {
                tenant,
                settings,
                auth,
                backend_keys,
                completion,
                maintenance,
                stream_time,
                notification_keys,
                clock,
            };
            Ok((path, config))
        }
        _ => Err(fields.errors),
    }
}

fn report(fields: &mut Fields<'_>, contract: &str, SettingProblem { key, reason }: SettingProblem) {
    if key == "intents" {
        let advice =
            format!("Correct it, or name an intent that is built in: {}", built_in_intents(contract).join(", "));
        fields.error("intents", reason, advice);
    } else if let Some(name) = key.strip_prefix("manifest.") {
        let at = format!("{}.{name}", fields.path_of("manifest"));
        fields.errors.push(ConfigError::new(reason, "Correct it under [mount.manifest]").at(at));
    } else if PARTNER_MOUNT.iter().any(|known| known.name == key) {
        fields.error(&key, reason, "Correct it in the [[mount]] table");
    } else {
        let name = if key == "partner_id" { "id" } else { &key };
        let at = format!("{}.{name}", fields.path_of("partner"));
        fields.errors.push(ConfigError::new(reason, "Correct it under [mount.partner]").at(at));
    }
}

/// Text that must be there.
fn required(fields: &mut Fields<'_>, name: &str, advice: &str) -> Option<String> {
    let before = fields.errors.len();
    let text = fields.text(name);
    if text.is_none() && fields.errors.len() == before {
        fields.error(name, "it is missing", advice);
    }
    text
}

fn tenant(fields: &mut Fields<'_>) -> Option<TenantId> {
    let name = required(fields, "tenant", "Name the tenant whose goods and times are sold")?;
    let tenant = TenantId::parse(&name);
    if tenant.is_none() {
        let advice = "Use 1 to 64 letters, digits, `_` or `-`, such as site";
        fields.error("tenant", format!("{name:?} is not a tenant id"), advice);
    }
    tenant
}

/// The texts of all intents that could be read.
fn intents(fields: &mut Fields<'_>, contract: &str, folder: &Path) -> Vec<IntentText> {
    let known = built_in_intents(contract);
    if !fields.has("intents") {
        let advice = format!("Name built-in ones ({}) or files that end in .json", known.join(", "));
        fields.error("intents", "it is missing", advice);
        return Vec::new();
    }
    let mut texts = Vec::new();
    for (index, name) in fields.texts("intents").unwrap_or_default().into_iter().enumerate() {
        let at = format!("intents[{index}]");
        if name.ends_with(".json") {
            let file = folder.join(&name);
            let file = std::path::absolute(&file).unwrap_or(file);
            match fs::read_to_string(&file) {
                Ok(text) => texts.push(IntentText { name: file.display().to_string(), text }),
                Err(error) => {
                    let problem = format!("{} cannot be read: {error}", file.display());
                    fields.error(&at, problem, "Check the path, which starts at the folder of this file");
                }
            }
        } else if let Some(text) = built_in_intent(contract, &name) {
            texts.push(IntentText { name, text: text.to_owned() });
        } else {
            let right = nearest(&name, known.iter().copied()).unwrap_or_default();
            let advice = format!("Did you mean `{right}`? A file must end in .json");
            fields.error(&at, format!("{name:?} is not an intent that is built in"), advice);
        }
    }
    texts
}

/// What the business says of itself.
fn said(
    fields: &mut Fields<'_>,
    intents: Vec<IntentText>,
    source: PartnerSource,
    error_status: ErrorStatus,
) -> Option<PartnerSettings> {
    if !fields.has("partner") {
        fields.error("partner", "it is missing", BY_HEADER);
    }
    let mut partner = fields.table("partner", PARTNER)?;
    let mut signals = Vec::new();
    if let Some(mut rated) = partner.free_table("signals") {
        for axis in rated.names() {
            signals.extend(rated.decimal(axis).map(|rating| (axis.to_owned(), rating)));
        }
        partner.merge(rated);
    }
    // What is missing is for the contract to say.
    let settings = PartnerSettings {
        company: partner.text("company").unwrap_or_default(),
        partner_id: partner.text("id").unwrap_or_default(),
        intents,
        signals,
        service_area: partner.texts("service_area").unwrap_or_default(),
        pricing_band: partner.text("pricing_band").unwrap_or_default(),
        callback: partner.text("callback").unwrap_or_default(),
        source,
        error_status,
        // Known when the mount is opened.
        public_url: String::new(),
        keys: PartnerKeys::default(),
        backend: None,
        manifest: ManifestSettings::default(),
    };
    fields.merge(partner);
    Some(settings)
}

fn completion(fields: &mut Fields<'_>) -> CompletionConfig {
    let Some(mut given) = fields.table("completion", COMPLETION) else { return CompletionConfig::default() };
    let formats = KeyFormat::ALL.map(|format| (format.as_str(), format));
    let completion = CompletionConfig {
        keys: given.text("keys").map(PathBuf::from),
        key_format: given.one_of("key_format", &formats).unwrap_or_default(),
    };
    fields.merge(given);
    completion
}

fn auth(fields: &mut Fields<'_>) -> PartnerAuthConfig {
    let mut auth = PartnerAuthConfig::default();
    let mut is_readable = true;
    if fields.has("auth") {
        match fields.table("auth", AUTH) {
            Some(mut given) => {
                let files = |given: &mut Fields<'_>, name: &str| -> Vec<PathBuf> {
                    given.texts(name).unwrap_or_default().into_iter().map(PathBuf::from).collect()
                };
                auth.live = PartnerCredentials {
                    tokens: given.text("live_tokens").map(PathBuf::from),
                    keys: given.text("live_keys").map(PathBuf::from),
                    certificates: files(&mut given, "client_certificates"),
                };
                auth.sandbox = PartnerCredentials {
                    tokens: given.text("sandbox_tokens").map(PathBuf::from),
                    keys: given.text("sandbox_keys").map(PathBuf::from),
                    certificates: files(&mut given, "sandbox_client_certificates"),
                };
                is_readable = given.errors.is_empty();
                fields.merge(given);
            }
            None => is_readable = false,
        }
    }
    if auth == PartnerAuthConfig::default() && is_readable {
        let advice = "Name a file of secrets as `live_tokens` or `sandbox_tokens` under [mount.auth]";
        fields.error("auth", "without any credential every call would be refused", advice);
    }
    auth
}

fn notification_keys(fields: &mut Fields<'_>) -> Option<PathBuf> {
    if !fields.has("notifications") {
        return None;
    }
    let mut given = fields.table("notifications", NOTIFICATIONS)?;
    let file = given.text("keys").map(PathBuf::from);
    let is_readable = given.errors.is_empty();
    fields.merge(given);
    if file.is_none() && is_readable {
        let advice = "Name a file with a key of at least 32 characters a line, such as by: openssl rand -hex 32";
        fields.error("notifications", "without a file of `keys` every notification would be refused", advice);
    }
    file
}
