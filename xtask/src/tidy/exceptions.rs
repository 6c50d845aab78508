//! Lists of exceptions in tab-separated files: every row gives its reason, and `#` begins a comment.

use super::Finding;
use super::tree::Tree;

/// The rows with exactly `N` non-empty cells, each with its line number; any other row becomes a finding that says
/// which cells are needed. A list that does not exist has no rows.
pub(super) fn rows<'tree, const N: usize>(
    tree: &'tree Tree,
    list: &str,
    cells: [&str; N],
    findings: &mut Vec<Finding>,
) -> Vec<(usize, [&'tree str; N])> {
    let mut rows = Vec::new();
    let Some(file) = tree.file(list) else {
        return rows;
    };
    for (number, line) in file.lines().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let found: Vec<&str> = line.split('\t').map(str::trim).collect();
        match <[&str; N]>::try_from(found) {
            Ok(row) if row.iter().all(|cell| !cell.is_empty()) => rows.push((number, row)),
            Ok(_) | Err(_) => {
                let message = format!("{N} cells are needed, separated by tabs: {}", cells.join(", "));
                findings.push(Finding::at(list, number, message));
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_its_reason_is_found() {
        let tree = Tree::of(&[("xtask/list.tsv", "# name, reason\nA\tneeded\nB\nC\t \nD\ta\tb\n\n")]);
        let mut findings = Vec::new();
        let rows = rows(&tree, "xtask/list.tsv", ["name", "reason"], &mut findings);
        assert_eq!(rows, [(2, ["A", "needed"])]);
        let lines: Vec<usize> = findings.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [3, 4, 5]);
        assert_eq!(findings[0].to_string(), "xtask/list.tsv:3: 2 cells are needed, separated by tabs: name, reason");
    }

    #[test]
    fn a_list_that_does_not_exist_has_no_rows() {
        let mut findings = Vec::new();
        assert!(rows(&Tree::of(&[]), "xtask/list.tsv", ["name"], &mut findings).is_empty());
        assert_eq!(findings, []);
    }
}
