//! The form of what is said for a manifest. Something that is missing is no mistake here: a mount is served without.

use super::gstin;
use crate::partner::{ManifestSettings, SettingProblem};

const TIERS: [&str; 2] = ["tier1", "tier2"];
const ALWAYS: &str = "24x7";
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MAX_TEXT: usize = 500;
const MAX_URL: usize = 2000;

/// Every value that is not as it must be, by its key under `[mount.manifest]`.
pub(in super::super) fn check(manifest: &ManifestSettings) -> Vec<SettingProblem> {
    let mut problems = Vec::new();
    let mut wrong = |key: &str, reason: String| problems.push(SettingProblem::new(format!("manifest.{key}"), reason));
    for (key, text) in [("legal_name", &manifest.legal_name), ("description", &manifest.description)] {
        if text.as_ref().is_some_and(|text| !is_text(text)) {
            wrong(key, format!("one line of at most {MAX_TEXT} characters is expected"));
        }
    }
    if manifest.tier.as_ref().is_some_and(|tier| !TIERS.contains(&tier.as_str())) {
        wrong("tier", format!("one of these is expected: {}", TIERS.join(", ")));
    }
    if let Some(Err(error)) = manifest.gstin.as_deref().map(gstin::check) {
        wrong("gstin", error.to_string());
    }
    for (kind, number) in &manifest.licences {
        if let Some(reason) = licence_problem(kind, number) {
            wrong("licences", reason);
        }
    }
    if manifest.privacy_policy_url.as_ref().is_some_and(|url| !is_https(url)) {
        wrong("privacy_policy_url", "an https URL with a host and without a password is expected".to_owned());
    }
    if let (Some(min), Some(max)) = (manifest.min_price_inr, manifest.max_price_inr)
        && min > max
    {
        wrong("min_price_inr", format!("{min} is more than max_price_inr, which is {max}"));
    }
    if manifest.availability.as_ref().is_some_and(|hours| hours != ALWAYS && !are_hours(hours)) {
        let expected = "24x7 or hours are expected, such as 09:00-21:00 or Mon-Fri 09:00-18:00, Sat 10:00-14:00";
        wrong("availability", expected.to_owned());
    }
    problems
}

fn is_text(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_TEXT && !text.chars().any(char::is_control)
}

fn licence_problem(kind: &str, number: &str) -> Option<String> {
    let is_kind = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if !is_kind {
        return Some(format!("{kind:?} is no kind of licence: lower case letters and _ are expected"));
    }
    if kind == "fssai" {
        // 1 begins the number of a licence, 2 that of a registration.
        let is_number = number.len() == 14 && number.bytes().all(|byte| byte.is_ascii_digit());
        return (!is_number || !number.starts_with(['1', '2']))
            .then(|| "a number of FSSAI has 14 digits and begins with 1 or 2".to_owned());
    }
    // Other registers, such as those of RERA, have numbers of many forms.
    let is_number = (4..=64).contains(&number.len())
        && number.bytes().any(|byte| byte.is_ascii_digit())
        && number.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-.() ".contains(&byte))
        && number.trim() == number;
    (!is_number).then(|| format!("{kind}: 4 to 64 letters, digits, / - . ( ) and spaces are expected, with a digit"))
}

fn is_https(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_host = host.contains('.') && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte));
    is_host && !host.starts_with(['.', '-', ':']) && url.len() <= MAX_URL && url.bytes().all(|b| b.is_ascii_graphic())
}

/// `09:00-21:00`, each with days before it or not, separated by commas.
fn are_hours(text: &str) -> bool {
    text.split(", ").all(|part| match part.split_once(' ') {
        None => is_range(part),
        Some((days, range)) => are_days(days) && is_range(range),
    })
}

fn are_days(text: &str) -> bool {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    DAYS.contains(&first) && DAYS.contains(&last)
}

/// It may go past midnight, but not all around.
fn is_range(text: &str) -> bool {
    text.split_once('-').is_some_and(|(from, to)| is_time(from) && (is_time(to) || to == "24:00") && from != to)
}

fn is_time(text: &str) -> bool {
    let number = |text: &str, below: u8| {
        text.len() == 2
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && text.parse::<u8>().is_ok_and(|number| number < below)
    };
    text.split_once(':').is_some_and(|(hour, minute)| number(hour, 24) && number(minute, 60))
}
