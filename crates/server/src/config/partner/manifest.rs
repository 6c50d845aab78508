//! `[mount.manifest]`: what a business registers with. The contract checks the form of each value; what is missing is
//! reported only by the command that writes a manifest.

use frontdesk_contracts::partner::ManifestSettings;
use toml::{Table, Value};

use super::super::fields::Fields;
use super::keys::MANIFEST;

pub(super) fn read(fields: &mut Fields<'_>) -> ManifestSettings {
    let Some(mut given) = fields.table("manifest", MANIFEST) else { return ManifestSettings::default() };
    let mut licences = Vec::new();
    if let Some(mut numbers) = given.free_table("licences") {
        for kind in numbers.names() {
            licences.extend(numbers.text(kind).map(|number| (kind.to_owned(), number)));
        }
        given.merge(numbers);
    }
    let manifest = ManifestSettings {
        legal_name: given.text("legal_name"),
        tier: given.text("tier"),
        gstin: given.text("gstin"),
        licences,
        privacy_policy_url: given.text("privacy_policy_url"),
        min_price_inr: given.number("min_price_inr", 0, u32::MAX),
        max_price_inr: given.number("max_price_inr", 0, u32::MAX),
        availability: given.text("availability"),
        description: given.text("description"),
    };
    fields.merge(given);
    manifest
}

/// Only what was set: none of it has a default.
pub(super) fn shown(manifest: &ManifestSettings) -> Table {
    let ManifestSettings {
        legal_name,
        tier,
        gstin,
        licences,
        privacy_policy_url,
        min_price_inr,
        max_price_inr,
        availability,
        description,
    } = manifest;
    let mut table = Table::new();
    for (name, text) in [
        ("legal_name", legal_name),
        ("tier", tier),
        ("gstin", gstin),
        ("privacy_policy_url", privacy_policy_url),
        ("availability", availability),
        ("description", description),
    ] {
        table.extend(text.clone().map(|text| (name.to_owned(), Value::String(text))));
    }
    for (name, price) in [("min_price_inr", min_price_inr), ("max_price_inr", max_price_inr)] {
        table.extend(price.map(|price| (name.to_owned(), Value::Integer(price.into()))));
    }
    if !licences.is_empty() {
        let numbers = licences.iter().map(|(kind, number)| (kind.clone(), Value::String(number.clone())));
        table.insert("licences".to_owned(), Value::Table(numbers.collect()));
    }
    table
}
