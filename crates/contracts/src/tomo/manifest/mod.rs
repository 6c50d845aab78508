//! The manifest with which a business registers (T-160 to T-162): made from the same settings as `_meta.tomo`, so that the
//! two cannot say different things. It declares nothing that was not configured, and nothing here is needed to serve.

mod check;
mod document;
mod gstin;

use std::collections::BTreeSet;

use document::Node;
pub use document::{ManifestDocument, ManifestFormat};

pub(super) use check::check;

use super::intent::{self, Intent, Role};
use super::settings::SIGNALS;
use crate::partner::{ManifestMount, ManifestSettings, PARTNER_CURRENCY, PartnerSettings};

/// The version of MANIFEST_REFERENCE that this follows.
const VERSION: &str = "v0.1.0";

/// Licences without which a domain is not approved, by the domain of the intent.
const LICENCES: [(&str, &str); 2] = [("food", "fssai"), ("real_estate", "rera")];

/// The manifest of one partner, whose mounts these are; or everything that is missing or contradicts itself.
pub fn manifest(mounts: &[ManifestMount<'_>]) -> Result<ManifestDocument, Vec<String>> {
    let mut problems = Vec::new();
    let partner_id = agreed(mounts, "the partner's id", |of| Some(of.partner_id.as_str()), &mut problems);
    let name = agreed(mounts, "company", |of| Some(of.company.as_str()), &mut problems);
    let legal_name = agreed(mounts, "legal_name", |of| of.manifest.legal_name.as_deref(), &mut problems);
    let tier = agreed(mounts, "tier", |of| of.manifest.tier.as_deref(), &mut problems);
    let gstin = agreed(mounts, "gstin", |of| of.manifest.gstin.as_deref(), &mut problems);
    let privacy = agreed(mounts, "privacy_policy_url", |of| of.manifest.privacy_policy_url.as_deref(), &mut problems);
    let (mut intents, mut licences) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for mount in mounts {
        // They were checked when the configuration was read.
        for read in mount.settings.intents.iter().filter_map(|text| intent::parse(&text.text).ok()) {
            if !seen.insert(read.id.clone()) {
                problems.push(format!("{}: {} is served by another mount, too", mount.path, read.id));
            }
            intents.extend(intent_node(mount, &read, &mut problems));
            add_licences(mount, domain(&read), &mut licences, &mut problems);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(ManifestDocument::new(vec![
        ("manifest_version", Node::text(VERSION)),
        (
            "business",
            Node::Map(vec![
                ("name".to_owned(), Node::text(name)),
                ("legal_name".to_owned(), Node::text(legal_name)),
                ("tier".to_owned(), Node::text(tier)),
                ("partner_id".to_owned(), Node::text(partner_id)),
            ]),
        ),
        (
            "compliance",
            Node::Map(vec![
                ("gstin".to_owned(), Node::text(gstin)),
                ("licences".to_owned(), Node::List(licences)),
                ("privacy_policy_url".to_owned(), Node::text(privacy)),
            ]),
        ),
        ("intents", Node::List(intents)),
    ]))
}

/// What all mounts say of the business: at least one must say it, and no other may say something else.
fn agreed<'a>(
    mounts: &'a [ManifestMount<'_>],
    key: &str,
    said: impl Fn(&'a PartnerSettings) -> Option<&'a str>,
    problems: &mut Vec<String>,
) -> &'a str {
    let values: BTreeSet<&str> = mounts.iter().filter_map(|mount| said(mount.settings)).collect();
    if values.len() > 1 {
        problems.push(format!("the mounts of the partner do not agree on {key}: one manifest has one"));
    } else if values.is_empty() {
        problems.push(format!("{key} is missing: set it under [mount.manifest]"));
    }
    values.first().copied().unwrap_or_default()
}

fn domain(intent: &Intent) -> &str {
    intent.id.split_once('.').map_or("", |(domain, _)| domain)
}

fn intent_node(mount: &ManifestMount<'_>, intent: &Intent, problems: &mut Vec<String>) -> Option<Node> {
    let PartnerSettings { manifest, service_area, signals, callback, .. } = mount.settings;
    let mut missing = |key: &str| problems.push(format!("{}: {key} is missing under [mount.manifest]", mount.path));
    let ManifestSettings { min_price_inr, max_price_inr, availability, description, .. } = manifest;
    for (key, is_missing) in [
        ("description", description.is_none()),
        ("min_price_inr", min_price_inr.is_none()),
        ("max_price_inr", max_price_inr.is_none()),
        ("availability", availability.is_none()),
    ] {
        if is_missing {
            missing(key);
        }
    }
    let ratings = SIGNALS.iter().filter_map(|axis| {
        let (_, rating) = signals.iter().find(|(name, _)| name == axis)?;
        Some(((*axis).to_owned(), Node::Decimal(*rating)))
    });
    // The results that a user is shown first.
    let widget = intent.tools.iter().find(|tool| tool.role == Role::Search).map_or("", |tool| tool.widget.as_str());
    Some(Node::Map(vec![
        ("intent".to_owned(), Node::text(&intent.id)),
        ("intent_version".to_owned(), Node::text(&intent.version)),
        ("domain".to_owned(), Node::text(domain(intent))),
        ("description".to_owned(), Node::text(description.as_deref()?)),
        (
            "pricing".to_owned(),
            Node::Map(vec![
                ("min".to_owned(), Node::Integer((*min_price_inr)?.into())),
                ("max".to_owned(), Node::Integer((*max_price_inr)?.into())),
                ("currency".to_owned(), Node::text(PARTNER_CURRENCY)),
            ]),
        ),
        ("service_area".to_owned(), Node::List(service_area.iter().map(|place| Node::text(place)).collect())),
        ("ttbs_signals".to_owned(), Node::Map(ratings.collect())),
        ("availability".to_owned(), Node::text(availability.as_deref()?)),
        ("completion_callback".to_owned(), Node::text(callback)),
        ("widget_type".to_owned(), Node::text(widget)),
    ]))
}

/// The licences of a mount, once for each domain; those that the domain cannot do without must be there.
fn add_licences(mount: &ManifestMount<'_>, domain: &str, licences: &mut Vec<Node>, problems: &mut Vec<String>) {
    let given = &mount.settings.manifest.licences;
    for (_, kind) in LICENCES.iter().filter(|(of, _)| *of == domain) {
        if !given.iter().any(|(name, _)| name == kind) {
            let needs = format!("{}: the domain {domain} needs the licence {kind}", mount.path);
            problems.push(format!("{needs}: licences = {{ {kind} = \"…\" }} under [mount.manifest]"));
        }
    }
    for (kind, number) in given {
        let licence = Node::Map(vec![
            ("domain".to_owned(), Node::text(domain)),
            ("kind".to_owned(), Node::text(kind)),
            ("number".to_owned(), Node::text(number)),
        ]);
        if !licences.contains(&licence) {
            licences.push(licence);
        }
    }
}
