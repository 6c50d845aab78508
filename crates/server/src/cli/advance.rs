//! `frontdesk CONTRACT advance`: says what became of a booking, for contracts whose bookings a partner's own systems
//! report. It talks to the running server only, which has the rules.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use frontdesk_contracts::ENTRIES;
use frontdesk_engine::model::contract_entry::{ContractEntry, Requires};
use serde_json::{Map, Value};

use super::{CliError, data_flag, load_config, runtime};
use crate::admin::{AdminRequest, AdminResponse, AdvanceTask, AdvanceView, send_request};
use crate::data_dir;

const NAME: &str = "advance";

pub(super) fn definition(entry: &ContractEntry) -> Option<Command> {
    let is_partner = matches!(entry.requires, Requires::Partner);
    is_partner.then(|| {
        let option = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name).long(name).value_name(value).help(help)
        };
        Command::new(NAME)
            .about("Say what became of a booking: the stage that it has come to")
            .long_about(
                "Records the stage that a booking has come to, as a signed notification of the business's own system \
                 does. A booking only goes forward, and what has ended stays as it is. The stages depend on what was \
                 booked; a wrong one is answered with those that exist.",
            )
            .after_help(format!(
                "Examples:\n  frontdesk {contract} advance bkg_01kg9p6je0v7d1096wbtjpfx3y completed\n  \
                 frontdesk {contract} advance REFERENCE no_show --detail refund_inr=500",
                contract = entry.name
            ))
            .arg(Arg::new("booking_ref").value_name("BOOKING_REF").required(true).help("The booking"))
            .arg(Arg::new("stage").value_name("STAGE").required(true).help("The stage that it has come to"))
            .arg(option("at", "TIME", "When that was, such as 2027-03-01T09:30:00+05:30 [default: now]"))
            .arg(
                option("detail", "NAME=VALUE", "What else is known of it, such as an amount; may be repeated")
                    .action(ArgAction::Append),
            )
            .arg(option("mount", "PATH", "The path of the mount [default: the one that has the booking]"))
            .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one line of JSON"))
            .arg(option("config", "FILE", "The configuration file"))
            .arg(option("data", "FOLDER", "The data folder"))
    })
}

/// The contract whose command was given, with its arguments.
pub(super) fn find(matches: &ArgMatches) -> Option<(&'static ContractEntry, &ArgMatches)> {
    let (contract, matches) = matches.subcommand()?;
    let entry = ENTRIES.iter().find(|entry| entry.name == contract)?;
    let (name, matches) = matches.subcommand()?;
    (name == NAME && definition(entry).is_some()).then_some((entry, matches))
}

pub(super) fn run(entry: &ContractEntry, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let path = |name: &str| text(name).map(PathBuf::from);
    let mut details = Map::new();
    for detail in matches.get_many::<String>("detail").into_iter().flatten() {
        let (name, value) = detail.split_once('=').ok_or_else(|| format!("`{detail}` is not NAME=VALUE"))?;
        // Amounts are numbers; what is no JSON is text.
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        details.insert(name.to_owned(), value);
    }
    let given =
        ["booking_ref", "stage", "at"].map(|name| text(name).map(|value| (name.to_owned(), Value::from(value))));
    let mut arguments: Map<String, Value> = given.into_iter().flatten().collect();
    if !details.is_empty() {
        arguments.insert("details".to_owned(), Value::Object(details));
    }
    let config = load_config(path("config"), data_flag(path("data").as_deref()))?.config;
    let task = AdvanceTask { contract: entry.name.to_owned(), mount: text("mount"), arguments };
    let request = AdminRequest::Advance { task };
    let Some(response) = runtime()?.block_on(send_request(&data_dir::admin_socket(&config.data), &request)) else {
        let data = config.data.display();
        return Err(format!("no server runs on {data}. Start it, or name the folder of a running one").into());
    };
    let view = match response? {
        AdminResponse::Advanced(view) => view,
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
        | AdminResponse::Deliveries(_)
        | AdminResponse::Tenant(_) => return Err("the running server is another version of Frontdesk".into()),
    };
    let mut out = io::stdout().lock();
    if matches.get_flag("json") {
        writeln!(out, "{}", serde_json::to_string(&view)?)?;
    } else {
        let AdvanceView { booking_ref, status, stage } = view;
        writeln!(out, "{booking_ref} has come to {stage} and is {status}.")?;
    }
    Ok(ExitCode::SUCCESS)
}
