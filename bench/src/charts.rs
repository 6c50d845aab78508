//! What docs/performance.md shows of a saved result: two charts as SVG, what a call costs and how that grows with the
//! data, and the summary table. They compute nothing that the result does not hold.

mod summary;
mod svg;

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::BenchResult;
use svg::{Anchor, Svg};

/// From the root of the repository.
const FOLDER: &str = "docs/performance";
const DOCUMENT: &str = "docs/performance.md";
/// What the first chart compares: the version of the protocol and the number of connections.
const ERA: &str = "legacy";
const CONCURRENCY: usize = 16;

#[derive(Deserialize)]
struct Saved {
    date: String,
    #[serde(default)]
    rows: Vec<SavedRow>,
    #[serde(default)]
    growth: Vec<SavedGrowth>,
    #[serde(default)]
    sites: Vec<SavedRow>,
}

#[derive(Deserialize)]
struct SavedRow {
    database: String,
    call: String,
    era: String,
    concurrency: usize,
    frontdesk: SavedFigures,
    reference: SavedFigures,
}

#[derive(Deserialize)]
struct SavedFigures {
    cpu_micros_per_call: f64,
    #[serde(default)]
    database_micros_per_call: Option<f64>,
    #[serde(default)]
    calls_per_second: f64,
    #[serde(default)]
    p50_micros: f64,
    #[serde(default)]
    p99_micros: f64,
    #[serde(default)]
    resident_mib: f64,
}

#[derive(Deserialize)]
struct SavedGrowth {
    vehicles: usize,
    series: String,
    #[serde(flatten)]
    row: SavedRow,
}

/// Draws both from the file and renews the table, and gives back the paths of what was written.
pub fn draw(result: &Path) -> BenchResult<Vec<String>> {
    let saved: Saved = serde_json::from_slice(&fs::read(result)?)?;
    fs::create_dir_all(FOLDER)?;
    let mut written = Vec::new();
    for (name, chart) in [("cpu.svg", cpu(&saved)?), ("growth.svg", growth(&saved)?)] {
        let path = format!("{FOLDER}/{name}");
        fs::write(&path, chart)?;
        written.push(path);
    }
    let document = fs::read_to_string(DOCUMENT)?;
    fs::write(DOCUMENT, summary::renewed(&document, &saved, result)?)?;
    written.push(DOCUMENT.to_owned());
    Ok(written)
}

/// A pair of bars for each call: Frontdesk above, the reference below.
fn cpu(saved: &Saved) -> BenchResult<String> {
    let is_shown = |row: &&SavedRow| row.era == ERA && row.concurrency == CONCURRENCY;
    let calls =
        saved.rows.iter().filter(is_shown).map(|row| (format!("{} · {}", database(&row.database), row.call), row));
    let sites =
        saved.sites.iter().filter(is_shown).map(|row| (format!("CMS on {} · get", database(&row.database)), row));
    let bars: Vec<(String, &SavedRow)> = calls.chain(sites).collect();
    if bars.is_empty() {
        return Err(format!("the result has no rows of {ERA} at {CONCURRENCY} connections").into());
    }
    let longest = bars.iter().map(|(_, row)| row.frontdesk.cpu_micros_per_call.max(row.reference.cpu_micros_per_call));
    let scale = 400.0 / longest.fold(1.0, f64::max);
    let (left, top, step) = (190.0, 58.0, 38.0);
    let mut svg = Svg::new(720.0, top + step * bars.len() as f64 + 8.0);
    svg.title(&format!("CPU per call in µs, {CONCURRENCY} connections ({})", saved.date));
    svg.text(
        left,
        44.0,
        Anchor::Start,
        "label",
        "Frontdesk above, the bare reference server below; in parentheses the ratio",
    );
    for (index, (label, row)) in bars.iter().enumerate() {
        let y = top + step * index as f64;
        let (ours, bare) = (row.frontdesk.cpu_micros_per_call, row.reference.cpu_micros_per_call);
        svg.text(left - 8.0, y + 18.0, Anchor::End, "label", label);
        svg.bar(left, y, ours * scale, 13.0, "ours");
        svg.bar(left, y + 14.0, bare * scale, 13.0, "bare");
        svg.text(
            left + ours * scale + 6.0,
            y + 11.0,
            Anchor::Start,
            "value",
            &format!("{ours:.0} ({:.2}×)", ours / bare),
        );
        svg.text(left + bare * scale + 6.0, y + 25.0, Anchor::Start, "value", &format!("{bare:.0}"));
    }
    Ok(svg.end())
}

/// A panel for each database; the number of vehicles grows to the right on a logarithmic scale.
fn growth(saved: &Saved) -> BenchResult<String> {
    const CALLS: &[(&str, &str)] = &[("get", "one"), ("search by status", "two"), ("create in one", "three")];
    let points: Vec<&SavedGrowth> = saved
        .growth
        .iter()
        .filter(|point| point.series == "vehicles" && CALLS.iter().any(|(call, _)| point.row.call == *call))
        .collect();
    let mut databases: Vec<&str> = points.iter().map(|point| point.row.database.as_str()).collect();
    databases.dedup();
    let highest = points
        .iter()
        .map(|point| point.row.frontdesk.cpu_micros_per_call.max(point.row.reference.cpu_micros_per_call))
        .fold(1.0, f64::max);
    let (smallest, largest) = points
        .iter()
        .fold((usize::MAX, 1), |(least, most), point| (least.min(point.vehicles), most.max(point.vehicles)));
    if points.is_empty() || smallest == largest {
        return Err("the result has no growth over several sizes of data".into());
    }
    let (width, top, height) = (340.0, 70.0, 200.0);
    let mut svg = Svg::new(20.0 + (width + 20.0) * databases.len() as f64, top + height + 50.0);
    svg.title(&format!("CPU per call in µs as data grows, {CONCURRENCY} connections ({})", saved.date));
    svg.text(
        20.0,
        44.0,
        Anchor::Start,
        "label",
        "solid: Frontdesk; dashed: the bare reference server; across: vehicles in ten tenants",
    );
    for (index, name) in databases.iter().enumerate() {
        let left = 50.0 + (width + 20.0) * index as f64;
        let plot = width - 150.0;
        let logarithm = |vehicles: usize| (vehicles.max(1) as f64).ln();
        let x = |vehicles: usize| {
            left + plot * (logarithm(vehicles) - logarithm(smallest)) / (logarithm(largest) - logarithm(smallest))
        };
        let y = |micros: f64| top + height - height * micros / (highest * 1.05);
        svg.text(left, top - 8.0, Anchor::Start, "heading", database(name));
        for micros in gridlines(highest) {
            svg.line(&[(left, y(micros)), (left + plot, y(micros))], "grid");
            svg.text(left - 6.0, y(micros) + 4.0, Anchor::End, "value", &format!("{micros:.0}"));
        }
        for (call, class) in CALLS {
            let of_call: Vec<&&SavedGrowth> =
                points.iter().filter(|point| point.row.database == **name && point.row.call == *call).collect();
            let ours: Vec<(f64, f64)> =
                of_call.iter().map(|point| (x(point.vehicles), y(point.row.frontdesk.cpu_micros_per_call))).collect();
            let bare: Vec<(f64, f64)> =
                of_call.iter().map(|point| (x(point.vehicles), y(point.row.reference.cpu_micros_per_call))).collect();
            svg.line(&bare, &format!("{class} dashed"));
            svg.line(&ours, class);
            for (x, y) in &ours {
                svg.dot(*x, *y, class);
            }
            if let Some((x, y)) = ours.last() {
                svg.text(x + 8.0, y + 4.0, Anchor::Start, &format!("value {class}-text"), call);
            }
        }
        let mut sizes: Vec<usize> = points.iter().map(|point| point.vehicles).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for vehicles in sizes {
            svg.text(x(vehicles), top + height + 18.0, Anchor::Middle, "value", &thousands(vehicles));
        }
    }
    Ok(svg.end())
}

/// Round values from zero to just above the highest, six at most.
fn gridlines(highest: f64) -> Vec<f64> {
    let steps = [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0, 5_000.0];
    let step = steps.into_iter().find(|step| highest / step <= 5.0).unwrap_or(10_000.0);
    (0..).map(|line| f64::from(line) * step).take_while(|value| *value <= highest * 1.05).collect()
}

fn database(name: &str) -> &str {
    match name {
        "sqlite" => "SQLite",
        "postgres" => "PostgreSQL",
        "mariadb" => "MariaDB",
        other => other,
    }
}

fn thousands(number: usize) -> String {
    if number >= 1_000_000 { format!("{} M", number / 1_000_000) } else { format!("{} k", number / 1_000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(text: &str) -> Saved {
        serde_json::from_str(text).unwrap()
    }

    const ROW: &str = r#""database":"sqlite","call":"get","era":"legacy","concurrency":16,
        "frontdesk":{"cpu_micros_per_call":90.0},"reference":{"cpu_micros_per_call":60.0}"#;

    #[test]
    fn a_row_becomes_two_bars_and_their_ratio() {
        let chart = cpu(&saved(&format!(r#"{{"date":"2026-01-01","rows":[{{{ROW}}}]}}"#))).unwrap();
        assert_eq!(chart.matches("class=\"ours\"").count(), 1);
        assert_eq!(chart.matches("class=\"bare\"").count(), 1);
        assert!(chart.contains("90 (1.50×)") && chart.contains("SQLite · get"), "{chart}");
    }

    #[test]
    fn a_result_without_the_rows_of_a_chart_is_an_error() {
        let empty = saved(r#"{"date":"2026-01-01"}"#);
        assert!(cpu(&empty).is_err() && growth(&empty).is_err());
        let one = saved(&format!(r#"{{"date":"d","growth":[{{"vehicles":1000,"series":"vehicles",{ROW}}}]}}"#));
        assert!(growth(&one).is_err());
    }

    #[test]
    fn growth_has_a_line_for_each_server() {
        let points: Vec<String> = [1_000, 1_000_000]
            .map(|vehicles| format!(r#"{{"vehicles":{vehicles},"series":"vehicles",{ROW}}}"#))
            .to_vec();
        let chart = growth(&saved(&format!(r#"{{"date":"d","growth":[{}]}}"#, points.join(",")))).unwrap();
        assert_eq!((chart.matches("class=\"one\"").count(), chart.matches("class=\"one dashed\"").count()), (3, 1));
        assert!(chart.contains(">1 k<") && chart.contains(">1 M<"), "{chart}");
    }
}
