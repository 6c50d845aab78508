//! The commands that contracts bring: `frontdesk CONTRACT COMMAND`. They are values of the contracts; this file turns
//! them into clap's definitions and runs them.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use frontdesk_contracts::ENTRIES;
use frontdesk_engine::model::contract_entry::{
    ArgumentKind, CommandArgument, CommandInput, CommandStatus, ContractCommand, ContractEntry,
};

use super::{CliError, advance, deliveries, manifest, probe, status};

const JSON: &str = "json";

/// None for a contract without commands. Those of the judge and of the server stand beside the contract's own.
pub(super) fn definition(entry: &ContractEntry) -> Option<Command> {
    let commands: Vec<Command> = entry
        .commands
        .iter()
        .map(subcommand)
        .chain(probe::definitions(entry.name))
        .chain(manifest::definition(entry))
        .chain(advance::definition(entry))
        .chain(deliveries::definition(entry))
        .chain(status::definition(entry))
        .collect();
    if commands.is_empty() {
        return None;
    }
    let command = Command::new(entry.name)
        .about(format!("Commands of the contract {}", entry.name))
        .arg_required_else_help(true)
        .subcommand_required(true);
    Some(command.subcommands(commands))
}

/// The contract's command that was given, with its arguments.
pub(super) fn find(matches: &ArgMatches) -> Option<(&'static ContractCommand, &ArgMatches)> {
    let (contract, matches) = matches.subcommand()?;
    let entry = ENTRIES.iter().find(|entry| entry.name == contract)?;
    let (name, matches) = matches.subcommand()?;
    entry.commands.iter().find(|command| command.name == name).map(|command| (command, matches))
}

pub(super) fn run(command: &ContractCommand, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let mut input = CommandInput::default();
    for argument in command.arguments {
        for value in matches.get_many::<String>(argument.name).into_iter().flatten() {
            input.add(argument.name, value.clone());
        }
    }
    let output = (command.run)(&input).map_err(|failure| failure.message)?;
    let text = if matches.get_flag(JSON) { output.json } else { output.text };
    writeln!(io::stdout().lock(), "{text}")?;
    Ok(match output.status {
        CommandStatus::Success => ExitCode::SUCCESS,
        CommandStatus::Failure => ExitCode::FAILURE,
    })
}

fn subcommand(command: &ContractCommand) -> Command {
    let json = Arg::new(JSON).long(JSON).action(ArgAction::SetTrue).help("Print one line of JSON for each result");
    Command::new(command.name)
        .about(command.about)
        .after_help(format!("Examples:\n{}", command.examples))
        .args(command.arguments.iter().map(argument))
        .arg(json)
}

fn argument(argument: &CommandArgument) -> Arg {
    let arg = Arg::new(argument.name).help(argument.about).value_name(argument.value_name);
    match argument.kind {
        ArgumentKind::Positional => arg.required(true).num_args(1..).action(ArgAction::Append),
        ArgumentKind::Option => arg.long(argument.name),
    }
}
