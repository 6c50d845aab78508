//! What is left of a prospect when all arguments are taken out: lines for the comments.

use std::collections::BTreeMap;

use super::element::Element;

/// The paths of texts and attributes that are left, each with its line.
pub(super) fn lines(prospect: &Element) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    add(prospect, "", &mut lines);
    lines
}

fn add(element: &Element, path: &str, lines: &mut Vec<(String, String)>) {
    for (name, value) in &element.attributes {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if !value.is_empty() {
            let path = if path.is_empty() { format!("@{name}") } else { format!("{path}/@{name}") };
            lines.push((path, value));
        }
    }
    let text = element.line();
    if !text.is_empty() {
        // Text between the elements of the prospect itself has no other name.
        lines.push((if path.is_empty() { "prospect".to_owned() } else { path.to_owned() }, text));
    }
    let above = if path.is_empty() { String::new() } else { format!("{path}/") };
    // Counted on the way, so that the work does not grow with the square of the siblings.
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for child in &element.children {
        let count = counts.entry(&child.name).or_default();
        *count += 1;
        let number = if *count == 1 { String::new() } else { format!("[{count}]") };
        add(child, &format!("{above}{}{number}", child.name), lines);
    }
}
