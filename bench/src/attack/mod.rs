//! `cargo xtask attack`: floods against a server of its own on this machine, each bounded in number and time, and what
//! came of them as docs/security-figures.md. It attacks 127.0.0.1 alone, and reports figures without softening them.

mod bodies;
mod connections;
mod figures;
mod messages;
mod polite;
mod tokens;
mod victim;

use std::path::PathBuf;

use crate::BenchResult;
use crate::result_file::load_average;
use figures::{AttackFigure, write};

pub struct AttackOptions {
    pub frontdesk: PathBuf,
    /// Where the servers have their data, which is deleted.
    pub work: PathBuf,
    pub only: Option<String>,
    /// The page that is written; none with `--only`.
    pub page: Option<PathBuf>,
}

impl AttackOptions {
    fn includes(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == name)
    }
}

pub async fn run(options: &AttackOptions) -> BenchResult<()> {
    victim::allow_files(12_000)?;
    let load_before = load_average();
    let mut figures: Vec<AttackFigure> = Vec::new();
    if options.includes("nested") {
        figures.extend(bodies::nested(options).await?);
    }
    if options.includes("refused") {
        figures.extend(bodies::refused(options).await?);
    }
    if options.includes("memory") {
        figures.extend(bodies::memory(options).await?);
    }
    if options.includes("silent") {
        figures.extend(connections::silent(options).await?);
    }
    if options.includes("slow") {
        figures.extend(connections::slow(options).await?);
    }
    if options.includes("secrets") {
        figures.extend(tokens::wrong_secrets(options).await?);
    }
    if options.includes("fuzz") {
        figures.extend(messages::fuzzed(options).await?);
    }
    if options.includes("tenants") {
        figures.extend(messages::two_tenants(options).await?);
    }
    print!("{}", figures::table(&figures));
    if let Some(page) = &options.page {
        write(page, &options.frontdesk, load_before, &figures)?;
        eprintln!("written: {}", page.display());
    }
    match figures.iter().filter(|figure| !figure.is_held).count() {
        0 => Ok(()),
        missed => Err(format!("{missed} of {} targets were not met", figures.len()).into()),
    }
}

/// Says what is going on; standard output is for the table.
fn log(line: &str) {
    eprintln!("{line}");
}
