//! A partner as `config show` writes it: every key with the value in effect. Secrets are in files, and stay there.

use std::path::Path;

use frontdesk_contracts::partner::{ErrorStatus, PartnerSettings};
use toml::{Table, Value};

use super::{PartnerAuthConfig, PartnerConfig, PartnerCredentials};

/// The keys that a partner has besides `contract` and `path`.
pub(in super::super) fn shown(partner: &PartnerConfig) -> Table {
    let PartnerConfig { tenant, settings, auth, maintenance } = partner;
    Table::from_iter([
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
        ("partner".to_owned(), Value::Table(said(settings))),
        ("auth".to_owned(), Value::Table(files(auth))),
    ])
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
            table.insert(
                for_certificates.to_owned(),
                Value::Array(certificates.iter().map(|file| path(file)).collect()),
            );
        }
    }
    table
}

fn path(file: &Path) -> Value {
    text(&file.display().to_string())
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::Array(texts.into_iter().map(text).collect())
}
