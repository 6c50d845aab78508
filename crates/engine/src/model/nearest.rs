//! The valid name that was most likely meant. It is only a suggestion: an invalid name is never accepted.

use strsim::osa_distance;

/// The candidate nearest to `wrong`, both dotted paths. A right name in the wrong table, a name cut short or
/// lengthened, and the same words in another order count as near, because those are the slips that plain edit distance ranks last.
pub fn nearest<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    ranked(wrong, candidates).map(|(candidate, _)| candidate)
}

/// The same, if it is so near that it must have been meant. A name longer than any of ours is near none, and is not
/// even compared: who sends it must not make the desk work for it.
pub fn near<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let short = wrong.len() <= LONGEST;
    ranked(wrong, candidates.filter(|_| short))
        .filter(|(_, cost)| cost * 3 <= wrong.len())
        .map(|(candidate, _)| candidate)
}

/// The tool that must have been meant: one that is spelled nearly so, or the only one that ends with the same word. Hosts
/// replace dots, so `inventory_search` is `inventory.search`.
pub fn near_tool<'a>(wrong: &str, tools: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    if wrong.len() > LONGEST {
        return None;
    }
    let flat = |name: &str| name.trim().to_lowercase().replace(['.', '-', '/'], "_");
    let costs = tools.clone().map(|tool| (tool, osa_distance(&flat(wrong), &flat(tool))));
    let nearest = costs.min_by_key(|(_, cost)| *cost).filter(|(tool, cost)| cost * 3 <= split(tool).1.len());
    let mut namesakes = tools.filter(|tool| split(tool).1.eq_ignore_ascii_case(split(wrong).1));
    match (nearest, namesakes.next(), namesakes.next()) {
        (Some((tool, _)), _, _) | (None, Some(tool), None) => Some(tool),
        (None, _, _) => None,
    }
}

const LONGEST: usize = 64;

fn ranked<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str>) -> Option<(&'a str, usize)> {
    let wrong = wrong.to_lowercase().replace('-', "_");
    let costs = candidates.map(|candidate| (candidate, cost(&wrong, &candidate.to_lowercase())));
    costs.min_by_key(|(_, cost)| *cost)
}

fn cost(wrong: &str, candidate: &str) -> usize {
    let (table, name) = split(wrong);
    let (right_table, right_name) = split(candidate);
    let names = if name != right_name && has_same_words(name, right_name) {
        1
    } else if !name.is_empty() && right_name.starts_with(name) {
        osa_distance(name, right_name).min(1)
    } else if name.starts_with(right_name) {
        osa_distance(name, right_name).min(2)
    } else {
        osa_distance(name, right_name)
    };
    let tables = if table == right_table {
        0
    } else if table.is_empty() || right_table.is_empty() {
        2
    } else {
        osa_distance(table, right_table)
    };
    names + tables
}

/// `max_price` for `price_max`.
fn has_same_words(name: &str, other: &str) -> bool {
    let sorted = |name: &str| {
        let mut words: Vec<String> = name.split('_').map(str::to_owned).collect();
        words.sort_unstable();
        words
    };
    name.len() == other.len() && sorted(name) == sorted(other)
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}
