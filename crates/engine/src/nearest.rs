//! The valid name that was most likely meant. It is only a suggestion: an invalid name is never accepted.

use strsim::osa_distance;

/// The candidate nearest to `wrong`, both dotted paths. A right name in the wrong table, and a name cut short
/// or lengthened, count as near, because those are the slips that plain edit distance ranks last.
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

const LONGEST: usize = 64;

fn ranked<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str>) -> Option<(&'a str, usize)> {
    let wrong = wrong.to_lowercase().replace('-', "_");
    let costs = candidates.map(|candidate| (candidate, cost(&wrong, &candidate.to_lowercase())));
    costs.min_by_key(|(_, cost)| *cost)
}

fn cost(wrong: &str, candidate: &str) -> usize {
    let (table, name) = split(wrong);
    let (right_table, right_name) = split(candidate);
    let names = if !name.is_empty() && right_name.starts_with(name) {
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

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}
