//! The result as tables for people or as JSON. It computes nothing.

use serde::Serialize;

use crate::growth::Grown;
use crate::measure::{Figures, Row};
use crate::start::Start;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Table,
    Json,
}

#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub starts: Vec<Start>,
    pub rows: Vec<Row>,
    pub growth: Vec<Grown>,
}

impl Report {
    pub fn print(&self, form: Form) {
        match form {
            Form::Json => println!("{}", serde_json::to_string_pretty(self).unwrap_or_default()),
            Form::Table => print!("{}", self.tables()),
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
            out.push('\n');
        }
        if !self.rows.is_empty() {
            out.push_str(&format!("| database | call | era | at once {HEAD}"));
            for row in &self.rows {
                let Row { database, call, era, concurrency, .. } = row;
                out.push_str(&format!("| {database} | {call} | {era} | {concurrency} {}", figures(row)));
            }
            out.push('\n');
        }
        if !self.growth.is_empty() {
            out.push_str(&format!("| database | call | vehicles | dealerships {HEAD}"));
            for Grown { vehicles, dealerships, row, .. } in &self.growth {
                let Row { database, call, .. } = row;
                out.push_str(&format!("| {database} | {call} | {vehicles} | {dealerships} {}", figures(row)));
            }
        }
        out
    }
}

/// Each cell names Frontdesk's figure first, the reference's second.
const HEAD: &str = "| CPU µs a call | ratio | calls/s | p50 µs | p99 µs | RSS MiB |\n\
                    |---|---|---|--:|--:|--:|--:|--:|--:|--:|\n";

fn figures(row: &Row) -> String {
    let Row { frontdesk: ours, reference: bare, cpu_ratio, .. } = row;
    let both = |of: fn(&Figures) -> f64, digits: usize| format!("{:.digits$} / {:.digits$}", of(ours), of(bare));
    format!(
        "| {} | {cpu_ratio:.2} | {} | {} | {} | {} |\n",
        both(|figures| figures.cpu_micros_per_call, 1),
        both(|figures| figures.calls_per_second, 0),
        both(|figures| f64::from(figures.p50_micros), 0),
        both(|figures| f64::from(figures.p99_micros), 0),
        both(|figures| figures.resident_mib, 1),
    )
}
