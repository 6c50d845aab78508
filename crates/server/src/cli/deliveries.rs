//! `frontdesk CONTRACT NOUN list|replay|test`: what a contract delivers to others. The contract says what its deliveries are
//! called; this file makes clap's definitions of them and runs them.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _};
use frontdesk_contracts::ENTRIES;
use frontdesk_engine::delivery::DeliveryStatus;
use frontdesk_engine::model::contract_entry::ContractEntry;
use serde_json::Value;

use super::admin_client::{AdminClient, NeededData};
use super::table::table;
use super::{CliError, DataArgs, StoreGuard, counted, run_server};
use crate::admin::{AdminRequest, AdminResponse, DeliveryAction, DeliveryReply, DeliveryTask, DeliveryView, TestView};

const LIST: &str = "list";
const REPLAY: &str = "replay";
const TEST: &str = "test";
const ID: &str = "id";
const ALL: &str = "all";
const STATUS: &str = "status";
const MOUNT: &str = "mount";
const JSON: &str = "json";
/// How many are listed of each mount.
const LISTED: usize = 100;

/// None for a contract that delivers nothing.
pub(super) fn definition(entry: &ContractEntry) -> Option<Command> {
    let (noun, contract) = (entry.deliveries?, entry.name);
    let example = |line: &str| format!("Example:\n  frontdesk {contract} {noun} {line}");
    let statuses = DeliveryStatus::ALL.map(DeliveryStatus::as_str);
    let list = common(LIST)
        .about("Show the newest, with what came of them and when they are tried next")
        .after_help(example("list --status dead"))
        .arg(
            Arg::new(STATUS)
                .long(STATUS)
                .value_name("STATUS")
                .value_parser(PossibleValuesParser::new(statuses))
                .help("Only those with this status"),
        );
    let replay = common(REPLAY)
        .about("Send again what was given up, or one that has not arrived at once")
        .after_help(example("replay --all"))
        .arg(Arg::new(ID).value_name("ID").help("The id of one, as `list` shows it").required_unless_present(ALL))
        .arg(Arg::new(ALL).long(ALL).action(ArgAction::SetTrue).conflicts_with(ID).help("Every one that was given up"));
    let test = common(TEST)
        .about("Send one for trying, signed like any other and with no order behind it")
        .long_about(
            "Sends one request for each mount, signed like any other and with no order behind it, and prints what was \
             answered. Nothing is stored. It is sent by the running server, with its keys.",
        )
        .after_help(example("test --mount PATH"));
    let command = Command::new(noun)
        .about(format!("Show, repeat and try {noun}"))
        .arg_required_else_help(true)
        .subcommand_required(true);
    Some(command.subcommands([list, replay, test]))
}

/// The arguments that all have. What those of others say about a command is replaced by its own sentence.
fn common(name: &'static str) -> Command {
    let mount = Arg::new(MOUNT).long(MOUNT).value_name("PATH").help("The path of one mount [default: all of them]");
    let json = Arg::new(JSON).long(JSON).action(ArgAction::SetTrue).help("Print one line of JSON for each result");
    DataArgs::augment_args(Command::new(name)).arg(mount).arg(json)
}

/// The command that was given, with its arguments.
pub(super) fn find(matches: &ArgMatches) -> Option<(&'static ContractEntry, &str, &ArgMatches)> {
    let (contract, matches) = matches.subcommand()?;
    let entry = ENTRIES.iter().find(|entry| entry.name == contract)?;
    let (noun, matches) = matches.subcommand()?;
    let (name, matches) = matches.subcommand()?;
    (entry.deliveries == Some(noun)).then_some((entry, name, matches))
}

pub(super) fn run(entry: &ContractEntry, name: &str, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let action = match name {
        LIST => {
            let status = text(STATUS).and_then(|word| DeliveryStatus::ALL.into_iter().find(|one| one.as_str() == word));
            DeliveryAction::List { status, limit: LISTED }
        }
        REPLAY => DeliveryAction::Replay { id: text(ID) },
        _ => DeliveryAction::Test,
    };
    let task = DeliveryTask { contract: entry.name.to_owned(), mount: text(MOUNT) };
    let output = if matches.get_flag(JSON) { DeliveryOutput::Json } else { DeliveryOutput::Text };
    let data = DataArgs::from_arg_matches(matches)?;
    let guard = StoreGuard::default();
    run_server(&guard, async {
        let client = AdminClient::open(data, NeededData::Existing, &guard).await?;
        if let (DeliveryAction::Test, AdminClient::Local(_)) = (&action, &client) {
            return Err(
                "no server runs on this data folder, and its keys are needed. Start it and repeat the command".into()
            );
        }
        match client.send(AdminRequest::Deliveries { task, action }).await? {
            AdminResponse::Deliveries(reply) => print(reply, output),
            AdminResponse::Secret { .. }
            | AdminResponse::Clients(_)
            | AdminResponse::Revoked { .. }
            | AdminResponse::Key(_)
            | AdminResponse::Recorded
            | AdminResponse::Token(_)
            | AdminResponse::Import(_)
            | AdminResponse::Export(_)
            | AdminResponse::ErasePerson(_)
            | AdminResponse::Maintenance(_)
            | AdminResponse::ServiceLevels(_)
            | AdminResponse::Description(_)
            | AdminResponse::Advanced(_)
            | AdminResponse::Tenant(_) => Err("the running server is another version of Frontdesk".into()),
        }
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeliveryOutput {
    Text,
    Json,
}

/// Fails if a test was not accepted.
fn print(reply: DeliveryReply, output: DeliveryOutput) -> Result<ExitCode, CliError> {
    let mut out = io::stdout().lock();
    let mut code = ExitCode::SUCCESS;
    match (reply, output) {
        (DeliveryReply::Listed(listed), DeliveryOutput::Json) => {
            for view in listed {
                writeln!(out, "{}", serde_json::to_string(&view)?)?;
            }
        }
        (DeliveryReply::Listed(listed), DeliveryOutput::Text) => {
            let head = ["ID", "ABOUT", "STATUS", "TRIES", "LAST RESULT", "NEXT TRY"].map(str::to_owned);
            writeln!(out, "{}", table(head, listed.iter().map(row)))?;
            if listed.iter().any(|view| {
                view.delivery.get("status").is_some_and(|status| status == DeliveryStatus::Alarmed.as_str())
            }) {
                writeln!(out, "Alarmed: no key is accepted. Configure the right one and reload; nothing is lost.")?;
            }
        }
        (DeliveryReply::Replayed(count), DeliveryOutput::Json) => writeln!(out, "{{\"replayed\":{count}}}")?,
        (DeliveryReply::Replayed(count), DeliveryOutput::Text) => {
            writeln!(out, "{} due now.", counted(count, "delivery").replace("deliverys", "deliveries"))?;
        }
        (DeliveryReply::Tested(tested), output) => {
            for view in &tested {
                let TestView { mount, result, accepted } = view;
                match output {
                    DeliveryOutput::Json => writeln!(out, "{}", serde_json::to_string(view)?)?,
                    DeliveryOutput::Text => {
                        let verdict = if *accepted { "accepted" } else { "NOT accepted" };
                        writeln!(out, "{mount}  {result}  {verdict}")?;
                    }
                }
                if !accepted {
                    code = ExitCode::FAILURE;
                }
            }
        }
    }
    Ok(code)
}

fn row(DeliveryView { delivery, .. }: &DeliveryView) -> [String; 6] {
    let text = |name: &str| match delivery.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) | None => "-".to_owned(),
    };
    ["id", "subject", "status", "tries", "last_result", "next_try_at"].map(text)
}
