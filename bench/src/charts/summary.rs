//! The summary table of docs/performance.md, between two marks.

use std::path::Path;

use super::{CONCURRENCY, ERA, Saved, SavedFigures, SavedRow, database};
use crate::BenchResult;

const BEGIN: &str = "<!-- summary: written by `cargo xtask bench --charts` -->\n";
const END: &str = "<!-- end of summary -->";
/// A search of a CMS's site takes long by itself, so fewer of them are made at once.
const SITE_SEARCHES: usize = 4;

/// The document with the table of this result.
pub(super) fn renewed(document: &str, saved: &Saved, result: &Path) -> BenchResult<String> {
    let (before, rest) = document.split_once(BEGIN).ok_or("the document has no mark for the summary")?;
    let (_, after) = rest.split_once(END).ok_or("the summary of the document has no end")?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", table(saved, result)))
}

fn table(saved: &Saved, result: &Path) -> String {
    let mut text = format!(
        "\nFrom `{}`; in each cell Frontdesk first, the reference second.\n\n\
         | call | at once | CPU µs | ratio | database CPU µs | calls/s | p50 µs | p99 µs | memory MiB |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        result.display()
    );
    let is_shown = |row: &&SavedRow, at_once: usize| row.era == ERA && row.concurrency == at_once;
    for row in saved.rows.iter().filter(|row| is_shown(row, CONCURRENCY)) {
        text.push_str(&line(&format!("{} {}", database(&row.database), row.call), row));
    }
    let is_search = |row: &&SavedRow| row.call.starts_with("search, 2") && is_shown(row, SITE_SEARCHES);
    for row in saved.sites.iter().filter(|row| is_shown(row, CONCURRENCY) || is_search(row)) {
        text.push_str(&line(&format!("CMS on {}: {}", database(&row.database), row.call), row));
    }
    text.push('\n');
    text
}

fn line(name: &str, row: &SavedRow) -> String {
    let (ours, bare) = (&row.frontdesk, &row.reference);
    let both = |of: fn(&SavedFigures) -> f64| format!("{:.0} / {:.0}", of(ours), of(bare));
    let backend = match (ours.database_micros_per_call, bare.database_micros_per_call) {
        (Some(ours), Some(bare)) => format!("{ours:.0} / {bare:.0}"),
        (None, _) | (_, None) => String::new(),
    };
    format!(
        "| {name} | {} | {} | {:.2} | {backend} | {} | {} | {} | {} |\n",
        row.concurrency,
        both(|figures| figures.cpu_micros_per_call),
        ours.cpu_micros_per_call / bare.cpu_micros_per_call,
        both(|figures| figures.calls_per_second),
        both(|figures| figures.p50_micros),
        both(|figures| figures.p99_micros),
        both(|figures| figures.resident_mib),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_between_the_marks_is_replaced_and_nothing_else() {
        let saved: Saved = serde_json::from_str(
            r#"{"date":"d","rows":[{"database":"sqlite","call":"get","era":"legacy","concurrency":16,
               "frontdesk":{"cpu_micros_per_call":90.0,"calls_per_second":100.0},
               "reference":{"cpu_micros_per_call":60.0,"calls_per_second":150.0}}]}"#,
        )
        .unwrap();
        let document = format!("# A\n{BEGIN}old{END}\nrest\n");
        let text = renewed(&document, &saved, Path::new("r.json")).unwrap();
        assert!(text.starts_with("# A\n") && text.ends_with(&format!("{END}\nrest\n")), "{text}");
        assert!(text.contains("| SQLite get | 16 | 90 / 60 | 1.50 |  | 100 / 150 | 0 / 0 | 0 / 0 | 0 / 0 |"), "{text}");
        assert!(!text.contains("old"), "{text}");
        assert!(renewed("# A", &saved, Path::new("r.json")).is_err());
    }
}
