//! A partner as `config show` writes it: every key with the value in effect. Secrets are in files, and stay there.

use std::path::Path;

use frontdesk_contracts::partner::{ErrorStatus, PartnerSettings};
use toml::{Table, Value};

use super::{CompletionConfig, PartnerAuthConfig, PartnerConfig, PartnerCredentials};
use super::{backend, manifest};

/// The keys that a partner has besides `contract` and `path`.
pub(in super::super) fn shown(partner: &PartnerConfig) -> Table {
    let PartnerConfig { tenant, settings, auth, completion, maintenance, stream_time, clock, .. } = partner;
    let PartnerConfig { notification_keys, backend_keys, .. } = partner;
    let mut table = Table::from_iter([
        ("tenant".to_owned(), text(tenant.as_str())),
        ("intents".to_owned(), texts(settings.intents.iter().map(|intent| intent.name.as_str()))),
        ("source".to_owned(), text(settings.source.as_str())),
        (
            "error_status".to_owned(),
            text(match settings.error_status {
                ErrorStatus::Ok => "ok",
                ErrorStatus::Equivalent => "equivalent",
            }),
        ),
        ("maintenance".to_owned(), Value::Boolean(*maintenance)),
        ("stream_seconds".to_owned(), Value::Integer(i64::try_from(stream_time.as_secs()).unwrap_or(i64::MAX))),
        ("clock".to_owned(), Value::Boolean(clock.plays_stages)),
        ("partner".to_owned(), Value::Table(said(settings))),
        ("auth".to_owned(), Value::Table(files(auth))),
        ("completion".to_owned(), Value::Table(signing(completion))),
        ("manifest".to_owned(), Value::Table(manifest::shown(&settings.manifest))),
    ]);
    let hours = clock.complete_after_hours.map(|hours| Value::Integer(i64::from(hours)));
    table.extend(hours.map(|hours| ("complete_after_hours".to_owned(), hours)));
    let keys = notification_keys.as_ref().map(|file| Value::Table(Table::from_iter([("keys".to_owned(), path(file))])));
    table.extend(keys.map(|keys| ("notifications".to_owned(), keys)));
    table.extend(backend::shown(settings.backend.as_ref(), backend_keys.as_ref()));
    table
}

fn said(settings: &PartnerSettings) -> Table {
    let signals = settings.signals.iter().map(|(axis, rating)| (axis.clone(), Value::Float(*rating)));
    Table::from_iter([
        ("id".to_owned(), text(&settings.partner_id)),
        ("company".to_owned(), text(&settings.company)),
        ("signals".to_owned(), Value::Table(signals.collect())),
        ("service_area".to_owned(), texts(settings.service_area.iter().map(String::as_str))),
        ("pricing_band".to_owned(), text(&settings.pricing_band)),
        ("callback".to_owned(), text(&settings.callback)),
    ])
}

fn files(PartnerAuthConfig { live, sandbox }: &PartnerAuthConfig) -> Table {
    let mut table = Table::new();
    for (PartnerCredentials { tokens, keys, certificates }, names) in [
        (live, ["live_tokens", "live_keys", "client_certificates"]),
        (sandbox, ["sandbox_tokens", "sandbox_keys", "sandbox_client_certificates"]),
    ] {
        let [for_tokens, for_keys, for_certificates] = names;
        let given = [(for_tokens, tokens), (for_keys, keys)];
        table.extend(given.iter().filter_map(|(name, file)| Some(((*name).to_owned(), path(file.as_ref()?)))));
        if !certificates.is_empty() {
            table.insert(for_certificates.to_owned(), Value::Array(certificates.iter().map(path).collect()));
        }
    }
    table
}

fn signing(CompletionConfig { keys, key_format }: &CompletionConfig) -> Table {
    let mut table = Table::from_iter([("key_format".to_owned(), text(key_format.as_str()))]);
    table.extend(keys.iter().map(|file| ("keys".to_owned(), path(file))));
    table
}

fn path(file: impl AsRef<Path>) -> Value {
    text(&file.as_ref().display().to_string())
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::Array(texts.into_iter().map(text).collect())
}
