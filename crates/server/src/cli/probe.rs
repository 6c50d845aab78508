//! The commands of the judge, which checks any server against a contract: `frontdesk CONTRACT COMMAND`. This file turns
//! them into clap's definitions and runs them; it knows none of them by name.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use frontdesk_probe::{COMMANDS, ProbeArgument, ProbeArgumentKind, ProbeCommand, ProbeInput};

use super::CliError;

const JSON: &str = "json";

/// The commands that judge servers by this contract.
pub(super) fn definitions(contract: &str) -> impl Iterator<Item = Command> {
    COMMANDS.iter().filter(move |command| command.contract == contract).map(definition)
}

/// The command that was given, with its arguments.
pub(super) fn find(matches: &ArgMatches) -> Option<(&'static ProbeCommand, &ArgMatches)> {
    let (contract, matches) = matches.subcommand()?;
    let (name, matches) = matches.subcommand()?;
    let command = COMMANDS.iter().find(|command| command.contract == contract && command.name == name)?;
    Some((command, matches))
}

/// Succeeds only if nothing failed.
pub(super) fn run(command: &ProbeCommand, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let mut input = ProbeInput::default();
    for argument in command.arguments {
        for value in matches.get_many::<String>(argument.name).into_iter().flatten() {
            input.add(argument.name, value.clone());
        }
    }
    let report = (command.run)(&input)?;
    let text = if matches.get_flag(JSON) { &report.json } else { &report.text };
    writeln!(io::stdout().lock(), "{text}")?;
    Ok(if report.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn definition(command: &ProbeCommand) -> Command {
    let json = Arg::new(JSON).long(JSON).action(ArgAction::SetTrue).help("Print one line of JSON for each point");
    Command::new(command.name)
        .about(command.about)
        .after_help(format!("Examples:\n{}", command.examples))
        .args(command.arguments.iter().map(argument))
        .arg(json)
}

fn argument(argument: &ProbeArgument) -> Arg {
    let arg = Arg::new(argument.name).help(argument.about).value_name(argument.value_name);
    match argument.kind {
        ProbeArgumentKind::Positional => arg.required(true),
        ProbeArgumentKind::Option => arg.long(argument.name),
        ProbeArgumentKind::Repeated => arg.long(argument.name).action(ArgAction::Append),
    }
}
