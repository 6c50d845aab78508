//! The result of a run as a file under `bench/results`, with what has to be known to compare it with another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use frontdesk_engine::ports::Clock as _;
use serde::Serialize;

use crate::BenchResult;
use crate::report::Report;

/// From the root of the repository, in which `cargo xtask bench` runs.
pub const FOLDER: &str = "bench/results";

#[derive(Serialize)]
struct ResultFile<'a> {
    name: &'a str,
    date: &'a str,
    /// Of the repository; `-dirty` when there were changes.
    commit: String,
    cores: usize,
    /// Of one minute, before and after the run. The bench itself is about 2 of it.
    load_before: f64,
    load_after: f64,
    #[serde(flatten)]
    report: &'a Report,
}

/// Writes `<date>-<name>.json` and gives back its path.
pub fn save(report: &Report, name: &str, load_before: f64) -> BenchResult<PathBuf> {
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !is_name {
        return Err(format!("`{name}`: the name of a result has small letters, digits and hyphens").into());
    }
    let now = frontdesk_clock();
    let date = now.get(..10).unwrap_or_default();
    let file = ResultFile {
        name,
        date,
        commit: commit(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        load_before,
        load_after: load_average(),
        report,
    };
    fs::create_dir_all(FOLDER)?;
    let path = Path::new(FOLDER).join(format!("{date}-{name}.json"));
    fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&file)?))?;
    Ok(path)
}

/// The last file by name, which begins with its date.
pub fn newest() -> BenchResult<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(FOLDER)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
        .pop()
        .ok_or_else(|| format!("there is no result in {FOLDER}; `cargo xtask bench --save NAME` writes one").into())
}

/// Of one minute, as Linux counts it; zero where it does not say.
pub fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default()
}

fn frontdesk_clock() -> String {
    frontdesk::system::SystemClock.now().to_rfc3339()
}

pub fn commit() -> String {
    let described = Command::new("git").args(["describe", "--always", "--dirty", "--exclude", "*"]).output();
    described
        .ok()
        .filter(|output| output.status.success())
        .map_or_else(String::new, |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_file_name_is_refused() {
        for name in ["", "../x", "With Spaces", "a.json"] {
            assert!(save(&Report::default(), name, 0.0).is_err(), "{name}");
        }
    }
}
