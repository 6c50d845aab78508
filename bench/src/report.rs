//! The result as tables for people or as JSON. It computes nothing.

use serde::Serialize;

use crate::cms;
use crate::database::Database;
use crate::growth::GrowthRow;
use crate::imports::ImportRow;
use crate::lists::{self, ListRow};
use crate::measure::{Figures, Row};
use crate::start::Start;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    Table,
    Json,
}

#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub starts: Vec<Start>,
    pub rows: Vec<Row>,
    pub growth: Vec<GrowthRow>,
    /// One page of lists that are measured alone.
    pub lists: Vec<ListRow>,
    pub imports: Vec<ImportRow>,
    /// Of a CMS's site.
    pub sites: Vec<Row>,
}

impl Report {
    pub fn print(&self, format: OutputFormat) {
        match format {
            OutputFormat::Json => println!("{}", serde_json::to_string_pretty(self).unwrap_or_default()),
            OutputFormat::Table => print!("{}", self.tables()),
        }
    }

    fn tables(&self) -> String {
        let mut out = String::new();
        if !self.starts.is_empty() {
            out.push_str("| database | start | ms | RSS MiB |\n|---|---|--:|--:|\n");
            for start in &self.starts {
                let Start { database, what, millis, resident_mib } = start;
                out.push_str(&format!("| {database} | {what} | {millis:.0} | {resident_mib:.1} |\n"));
            }
        }
        // A table for each database: only some have processes of their own.
        for database in Database::ALL {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.database == database.name()).collect();
            if let Some(first) = rows.first() {
                out.push_str(&head("| database | call | era | at once", first));
            }
            for row in rows {
                let Row { database, call, era, concurrency, .. } = row;
                out.push_str(&format!("| {database} | {call} | {era} | {concurrency} {}", figures(row)));
            }
            let grown: Vec<&GrowthRow> =
                self.growth.iter().filter(|grown| grown.row.database == database.name()).collect();
            if let Some(first) = grown.first() {
                out.push_str(&head("| database | call | vehicles | dealerships", &first.row));
            }
            for GrowthRow { vehicles, dealerships, row, .. } in grown {
                let Row { database, call, .. } = row;
                out.push_str(&format!("| {database} | {call} | {vehicles} | {dealerships} {}", figures(row)));
            }
        }
        if !self.lists.is_empty() {
            out.push_str("\n| list | rows | CPU µs a page | p50 µs | p99 µs | RSS MiB |\n|---|--:|--:|--:|--:|--:|\n");
        }
        for row in &self.lists {
            out.push_str(&format!("{}\n", lists::line(row)));
        }
        if !self.imports.is_empty() {
            out.push_str(
                "\n| database | creates/s by 64 | import rows/s | unchanged rows/s | get p95 µs, quiet / importing | create p95 µs, \
                 quiet / importing | import rows/s beside creates |\n|---|--:|--:|--:|--:|--:|--:|\n",
            );
        }
        for row in &self.imports {
            let ImportRow {
                database,
                creates_per_second,
                rows_per_second,
                unchanged_per_second,
                get_p95,
                create_p95,
                rows_beside_creates,
            } = row;
            out.push_str(&format!(
                "| {database} | {creates_per_second:.0} | {rows_per_second:.0} | {unchanged_per_second:.0} | {} / {} | {} / {} | {rows_beside_creates:.0} |\n",
                get_p95.0, get_p95.1, create_p95.0, create_p95.1
            ));
        }
        for database in cms::Database::ALL {
            let rows: Vec<&Row> = self.sites.iter().filter(|row| row.database == database.name()).collect();
            if let Some(first) = rows.first() {
                out.push_str(&head("| site on | call | era | at once", first));
            }
            for row in rows {
                let Row { database, call, era, concurrency, .. } = row;
                out.push_str(&format!("| {database} | {call} | {era} | {concurrency} {}", figures(row)));
            }
        }
        out
    }
}

/// Each cell names Frontdesk's figure first, the reference's second.
fn head(first: &str, row: &Row) -> String {
    let (backend, line) = match row.frontdesk.database_micros_per_call {
        None => ("", ""),
        Some(_) => (" database's CPU µs |", "--:|"),
    };
    format!(
        "\n{first} | CPU µs a call | ratio |{backend} calls/s | p50 µs | p99 µs | RSS MiB |\n\
         |---|---|---|--:|--:|--:|{line}--:|--:|--:|--:|\n"
    )
}

/// A row as it is printed while others are still measured.
pub fn line(row: &Row) -> String {
    figures(row).trim_end().to_owned()
}

fn figures(row: &Row) -> String {
    let Row { frontdesk: ours, reference: bare, cpu_ratio, .. } = row;
    let both = |of: fn(&Figures) -> f64, digits: usize| format!("{:.digits$} / {:.digits$}", of(ours), of(bare));
    let backend = match (ours.database_micros_per_call, bare.database_micros_per_call) {
        (Some(ours), Some(bare)) => format!(" {ours:.1} / {bare:.1} |"),
        (None, _) | (_, None) => String::new(),
    };
    format!(
        "| {} | {cpu_ratio:.2} |{backend} {} | {} | {} | {} |\n",
        both(|figures| figures.cpu_micros_per_call, 1),
        both(|figures| figures.calls_per_second, 0),
        both(|figures| f64::from(figures.p50_micros), 0),
        both(|figures| f64::from(figures.p99_micros), 0),
        both(|figures| figures.resident_mib, 1),
    )
}
