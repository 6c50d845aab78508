//! Checks what a partner says of itself against §2 before anything is served.

use std::sync::Arc;

use super::intent::{self, Intent, Role};
use super::shape::Shape;
use super::{known_facts, listing, manifest};
use crate::partner::{BackendSettings, PartnerSettings, PartnerSource, SettingProblem};

/// The axes that a partner rates itself on.
pub(super) const SIGNALS: [&str; 4] = ["time", "taste", "budget", "safety"];
const BANDS: [&str; 3] = ["ok", "good", "great"];
/// Where TOMO takes completed orders, before the id of the partner.
const CALLBACK_PATH: &str = "/api/v1/cpc/mcp_provider/";

/// The intents, if everything is right.
pub(super) fn check(partner: &PartnerSettings) -> Result<Vec<Arc<Intent>>, Vec<SettingProblem>> {
    let mut problems = Vec::new();
    let mut wrong = |key: &str, reason: String| problems.push(SettingProblem::new(key, reason));
    if partner.company.trim().is_empty() {
        wrong("company", "the name of the company is required".to_owned());
    }
    let is_id = !partner.partner_id.is_empty()
        && partner.partner_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !is_id {
        wrong("partner_id", "letters, digits, - and _ are expected".to_owned());
    }
    for axis in SIGNALS {
        match partner.signals.iter().find(|(name, _)| name == axis) {
            None => wrong("signals", format!("{axis} is missing: rate each of {}", SIGNALS.join(", "))),
            Some((_, rating)) if !(0.0..=1.0).contains(rating) => {
                wrong("signals", format!("{axis} must lie between 0.0 and 1.0"));
            }
            Some(_) => {}
        }
    }
    if let Some((unknown, _)) = partner.signals.iter().find(|(name, _)| !SIGNALS.contains(&name.as_str())) {
        wrong("signals", format!("{unknown} is none of {}", SIGNALS.join(", ")));
    }
    if partner.service_area.is_empty() || partner.service_area.iter().any(|place| place.trim().is_empty()) {
        wrong("service_area", "at least one city or pincode is required".to_owned());
    }
    for place in partner.service_area.iter().filter(|place| place.bytes().all(|byte| byte.is_ascii_digit())) {
        if place.len() != 6 {
            wrong("service_area", "a pincode has 6 digits".to_owned());
        }
    }
    if !BANDS.contains(&partner.pricing_band.as_str()) {
        wrong("pricing_band", format!("one of these is expected: {}", BANDS.join(", ")));
    }
    check_callback(partner, &mut wrong);
    check_backend(partner, &mut wrong);
    let intents = check_intents(partner, &mut wrong);
    problems.extend(manifest::check(&partner.manifest));
    if problems.is_empty() { Ok(intents) } else { Err(problems) }
}

fn check_callback(partner: &PartnerSettings, wrong: &mut impl FnMut(&str, String)) {
    let rest = partner.callback.strip_prefix("https://");
    let Some((host, path)) = rest.and_then(|rest| rest.find('/').map(|at| rest.split_at(at))) else {
        return wrong("callback", format!("an https URL that ends with {CALLBACK_PATH}<partner_id> is expected"));
    };
    match path.strip_prefix(CALLBACK_PATH) {
        Some(id) if id == partner.partner_id && !host.is_empty() => {}
        Some(_) if !host.is_empty() => {
            wrong(
                "callback",
                format!("it is the callback of another partner; it must end with {}", partner.partner_id),
            );
        }
        Some(_) | None => wrong("callback", format!("its path must be {CALLBACK_PATH}{}", partner.partner_id)),
    }
}

fn check_backend(partner: &PartnerSettings, wrong: &mut impl FnMut(&str, String)) {
    let Some(BackendSettings { url, .. }) = &partner.backend else { return };
    let host = url.strip_prefix("https://").map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains('#');
    if !is_plain || host.is_none_or(|host| host.is_empty() || host.contains('@')) {
        wrong("backend", "an https URL without a user name or a fragment is expected".to_owned());
    }
    match partner.source {
        PartnerSource::Own => {}
        PartnerSource::Dealership => {
            wrong("source", "what a backend sells is its own; leave source out".to_owned());
        }
    }
}

fn check_intents(partner: &PartnerSettings, wrong: &mut impl FnMut(&str, String)) -> Vec<Arc<Intent>> {
    if partner.intents.is_empty() {
        wrong("intents", "at least one intent is required".to_owned());
    }
    let mut known: Vec<Arc<Intent>> = Vec::new();
    for file in &partner.intents {
        let mut intent = match intent::parse(&file.text) {
            Ok(intent) => intent,
            Err(errors) => {
                for error in errors {
                    wrong("intents", format!("{}: {error}", file.name));
                }
                continue;
            }
        };
        for other in &known {
            if let Some(tool) = intent.tools.iter().find(|tool| other.tool(&tool.name).is_some()) {
                wrong(
                    "intents",
                    format!(
                        "{} and {} both have the tool {}: give each a mount of its own",
                        other.id, intent.id, tool.name
                    ),
                );
            }
        }
        // A system of its own knows by itself what it can answer.
        if partner.backend.is_some() {
            known.push(Arc::new(intent));
            continue;
        }
        if let (Shape::Listing, Err(reason)) = (intent.shape, listing::check(&intent, partner.source)) {
            wrong("source", reason);
            continue;
        }
        let shape = intent.shape;
        let mut unknown = Vec::new();
        for (place, tool) in intent.tools.iter_mut().enumerate() {
            tool.facts = shape.facts(partner.source, &tool.name);
            tool.made = match tool.role {
                Role::Create | Role::Modify => shape.facts(partner.source, shape.cancel_tool()),
                Role::Search | Role::GetDetail | Role::Cancel | Role::Track | Role::Rate | Role::Utility => tool.facts,
            };
            unknown.extend(known_facts::unknown(&tool.output, tool.facts, &format!("/tools/{place}/output")));
        }
        for error in intent::locate(unknown, &file.text) {
            wrong("intents", format!("{}: {error}", file.name));
        }
        known.push(Arc::new(intent));
    }
    known
}
