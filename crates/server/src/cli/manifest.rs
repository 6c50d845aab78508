//! `frontdesk CONTRACT manifest`: what a business registers with, from the same configuration as the server. It needs no
//! server and reads no secret. Which contracts have it is for their entries to say.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, Args, FromArgMatches as _};
use frontdesk_contracts::partner::{ManifestDocument, ManifestFormat, ManifestMount, partner_manifest};
use frontdesk_contracts::{ENTRIES, demo};
use frontdesk_engine::model::contract_entry::{ContractEntry, Requires};

use super::demo_partner::with_partner;
use super::{CliError, load_config};
use crate::config::MountConfig;

const NAME: &str = "manifest";

#[derive(Debug, Args)]
struct ManifestArgs {
    /// The manifest of the partner whose mount this is [default: the only partner]
    #[arg(long, value_name = "PATH")]
    mount: Option<String>,
    /// yaml or json
    #[arg(long, value_name = "FORMAT", default_value = "yaml", value_parser = parse_format)]
    format: ManifestFormat,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The configuration file [default: the file that FRONTDESK_CONFIG names, or none]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The manifest of the made-up business of `frontdesk demo`
    #[arg(long, conflicts_with = "config")]
    demo: bool,
}

fn parse_format(text: &str) -> Result<ManifestFormat, String> {
    match text {
        "yaml" => Ok(ManifestFormat::Yaml),
        "json" => Ok(ManifestFormat::Json),
        _ => Err("write yaml or json".to_owned()),
    }
}

/// None for a contract without a partner.
pub(super) fn definition(entry: &ContractEntry) -> Option<clap::Command> {
    match entry.requires {
        Requires::Partner => {}
        Requires::Nothing | Requires::SiteDb(_) => return None,
    }
    let examples = format!(
        "All mounts of a partner make one manifest. What is missing for it is listed,\n\
         and set under [mount.manifest].\n\nExamples:\n  \
         frontdesk {name} manifest --config frontdesk.toml --output manifest.yaml\n  \
         frontdesk {name} manifest --demo --format json",
        name = entry.name
    );
    let command =
        clap::Command::new(NAME).about("Write the manifest with which the business registers").after_help(examples);
    Some(ManifestArgs::augment_args(command))
}

/// The contract whose manifest was asked for, with the arguments.
pub(super) fn find(matches: &ArgMatches) -> Option<(&'static ContractEntry, &ArgMatches)> {
    let (contract, matches) = matches.subcommand()?;
    let (name, matches) = matches.subcommand()?;
    let entry = ENTRIES.iter().find(|entry| entry.name == contract)?;
    (name == NAME && definition(entry).is_some()).then_some((entry, matches))
}

pub(super) fn run(entry: &ContractEntry, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let args = ManifestArgs::from_arg_matches(matches)?;
    let mut loaded = load_config(args.config.clone(), Vec::new())?;
    if let Some(partner) = demo::partner().filter(|_| args.demo) {
        loaded = with_partner(loaded, &partner)?;
    }
    let text = document(entry, &loaded.config.mounts, args.mount.as_deref())?.render(args.format);
    match args.output {
        None => write!(io::stdout().lock(), "{text}")?,
        Some(file) => {
            fs::write(&file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
            writeln!(io::stdout().lock(), "The manifest is in {}.", file.display())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn document(entry: &ContractEntry, mounts: &[MountConfig], path: Option<&str>) -> Result<ManifestDocument, CliError> {
    let mounts: Vec<ManifestMount<'_>> = mounts
        .iter()
        .filter(|mount| mount.contract == entry.name)
        .filter_map(|mount| Some(ManifestMount { path: &mount.path, settings: &mount.partner.as_ref()?.settings }))
        .collect();
    let mut ids: Vec<&str> = mounts.iter().map(|mount| mount.settings.partner_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let id = match (path, ids.as_slice()) {
        (_, []) => return Err(format!("the configuration has no mount of the contract {}", entry.name).into()),
        (Some(path), _) => mounts
            .iter()
            .find(|mount| mount.path == path)
            .map(|mount| mount.settings.partner_id.as_str())
            .ok_or_else(|| format!("the contract {} has no mount at {path}", entry.name))?,
        (None, [id]) => id,
        (None, [_, ..]) => {
            return Err(format!(
                "the configuration has {} partners ({}): name a mount of one of them with --mount",
                ids.len(),
                ids.join(", ")
            )
            .into());
        }
    };
    let of_partner: Vec<ManifestMount<'_>> =
        mounts.iter().filter(|mount| mount.settings.partner_id == id).copied().collect();
    match partner_manifest(entry.name, &of_partner) {
        Some(Ok(document)) => Ok(document),
        Some(Err(problems)) => {
            let lines: String = problems.iter().map(|problem| format!("\n  {problem}")).collect();
            Err(format!("the manifest is not complete:{lines}").into())
        }
        None => Err(format!("the contract {} has no manifest", entry.name).into()),
    }
}
