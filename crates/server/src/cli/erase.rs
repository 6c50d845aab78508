//! `frontdesk NOUN erase`: removes what is personal about somebody. The contract says what a person is called and how
//! they are found; this file makes clap's definition of it and runs it.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args as _, Command, FromArgMatches as _};
use frontdesk_contracts::ENTRIES;
use frontdesk_engine::model::contract_entry::{ContractEntry, ErasureSpec};
use serde_json::json;

use super::admin_client::{AdminClient, NeededData};
use super::{CliError, DataArgs, StoreGuard, counted, run_server};
use crate::admin::{AdminRequest, AdminResponse, PersonFound, PersonReply, PersonStep, PersonTask};

const ERASE: &str = "erase";
const ID: &str = "id";
const TENANT: &str = "tenant";
const DRY_RUN: &str = "dry-run";
const CONFIRM: &str = "confirm";
const JSON: &str = "json";
/// A value that is read from standard input, because other users can see arguments.
const FROM_INPUT: &str = "-";

/// One for each noun: contracts that share it look for people in the records of each other.
pub(super) fn definitions() -> Vec<Command> {
    let mut specs: Vec<ErasureSpec> = Vec::new();
    for spec in ENTRIES.iter().filter_map(|entry| entry.erasure) {
        if !specs.iter().any(|known| known.noun == spec.noun) {
            specs.push(spec);
        }
    }
    specs.iter().map(definition).collect()
}

fn definition(spec: &ErasureSpec) -> Command {
    let command = Command::new(spec.noun)
        .about(format!("Erase what is stored about a {}", spec.noun))
        .arg_required_else_help(true)
        .subcommand_required(true);
    command.subcommand(subcommand(spec))
}

/// The contract whose command was given, with its arguments.
pub(super) fn find(matches: &ArgMatches) -> Option<(&'static ContractEntry, ErasureSpec, &ArgMatches)> {
    let (noun, matches) = matches.subcommand()?;
    let with_spec = ENTRIES.iter().filter_map(|entry| Some((entry, entry.erasure?)));
    let (entry, spec) = with_spec.into_iter().find(|(_, spec)| spec.noun == noun)?;
    let (name, matches) = matches.subcommand()?;
    (name == ERASE).then_some((entry, spec, matches))
}

fn subcommand(spec: &ErasureSpec) -> Command {
    let noun = spec.noun;
    let mut people: Vec<&'static str> = vec![ID];
    people.extend(spec.found_by.iter().map(|argument| argument.name));
    let id = Arg::new(ID).value_name("ID").help(format!("The id of the {noun}, or of a record about somebody else"));
    let found_by = spec.found_by.iter().map(|argument| {
        let help = format!("{}; `-` reads it from standard input", argument.about);
        Arg::new(argument.name).long(argument.name).value_name(argument.value_name).help(help)
    });
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let command = Command::new(ERASE)
        .arg(id)
        .args(found_by)
        .group(ArgGroup::new("person").args(people).required(true))
        .arg(Arg::new(TENANT).long(TENANT).value_name("ID").help("The tenant [default: the only one]"))
        .arg(flag(DRY_RUN).help("Only say how many records would be changed"))
        .arg(
            Arg::new(CONFIRM)
                .long(CONFIRM)
                .value_name("ID")
                .conflicts_with(DRY_RUN)
                .help("Erase without asking; the id that --dry-run names"),
        );
    // Its own sentence about itself is replaced below.
    DataArgs::augment_args(command)
        .arg(flag(JSON).help("Print the result as one line of JSON"))
        .about(format!("Remove what is personal about a {noun} everywhere; this cannot be undone"))
        .long_about(format!(
            "Removes what is personal about a {noun}: from their own record, from the records that belong to them or have \
             the same contact data and belong to nobody else, and from stored answers. The records stay, without the \
             person, so that numbers and history remain right. This cannot be undone.\n\n\
             Events tell those who follow them. The audit log keeps who was erased by id only. Backups and exports still \
             have what they had: docs/guides/privacy.md says what to do about them. The command can be repeated at any \
             time, also after an interruption, and works while a server is running on the same data folder."
        ))
        .after_help(examples(spec))
}

fn examples(spec: &ErasureSpec) -> String {
    let (noun, id) = (spec.noun, spec.id_example);
    let mut text = format!(
        "Examples:\n  frontdesk {noun} erase {id} --dry-run\n  frontdesk {noun} erase {id} \\\n      --tenant TENANT_ID\n  \
         frontdesk {noun} erase --tenant TENANT_ID ID --confirm ID\n"
    );
    for argument in spec.found_by {
        text.push_str(&format!("  frontdesk {noun} erase --{} -\n", argument.name));
    }
    text
}

pub(super) fn run(entry: &ContractEntry, spec: ErasureSpec, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let data = DataArgs::from_arg_matches(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let (argument, value) = person(&spec, matches)?;
    let tenant = text(TENANT).unwrap_or_default();
    let command = EraseCommand {
        task: PersonTask { contract: entry.name.to_owned(), tenant, argument: argument.to_owned(), value },
        noun: spec.noun,
        mode: match text(CONFIRM) {
            _ if matches.get_flag(DRY_RUN) => Mode::DryRun,
            Some(id) => Mode::Confirmed(id),
            None => Mode::Ask,
        },
        output: if matches.get_flag(JSON) { Output::Json } else { Output::Text },
    };
    let guard = StoreGuard::default();
    run_server(&guard, command.run(data, &guard))
}

/// The argument that names the person, and its value.
fn person(spec: &ErasureSpec, matches: &ArgMatches) -> Result<(&'static str, String), CliError> {
    if let Some(id) = matches.get_one::<String>(ID) {
        return Ok((ID, id.clone()));
    }
    for argument in spec.found_by {
        match matches.get_one::<String>(argument.name).map(String::as_str) {
            None => {}
            Some(FROM_INPUT) => return Ok((argument.name, read_line(&format!("{}: ", argument.value_name))?)),
            Some(value) => return Ok((argument.name, value.to_owned())),
        }
    }
    Err(format!("name the {}", spec.noun).into())
}

/// One line of standard input; asks for it on a terminal.
fn read_line(prompt: &str) -> Result<String, CliError> {
    if io::stdin().is_terminal() {
        let mut err = io::stderr().lock();
        write!(err, "{prompt}")?;
        err.flush()?;
    }
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

struct EraseCommand {
    task: PersonTask,
    noun: &'static str,
    mode: Mode,
    output: Output,
}

enum Mode {
    DryRun,
    /// The id that was typed as an argument.
    Confirmed(String),
    Ask,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Text,
    Json,
}

/// What was changed.
#[derive(Default)]
struct Erased {
    records: BTreeMap<String, u64>,
    answers: u64,
}

impl EraseCommand {
    async fn run(mut self, data: DataArgs, guard: &StoreGuard) -> Result<ExitCode, CliError> {
        let client = AdminClient::open(data, NeededData::Existing, guard).await?;
        let found = match self.send(&client, PersonStep::Find).await? {
            PersonReply::Found(found) => found,
            PersonReply::Erased { .. } | PersonReply::Nothing => return Err(other_version()),
        };
        // The only tenant, if none was named.
        self.task.tenant.clone_from(&found.tenant);
        let Some(subject) = &found.subject else {
            self.print(&found, &Erased::default(), "Nothing is left to be erased.")?;
            return Ok(ExitCode::SUCCESS);
        };
        let records = listed(&found.counts);
        match &self.mode {
            Mode::DryRun => {
                let text = format!("{records} would be erased. Nothing was changed (--dry-run).\nId: {subject}");
                self.print(&found, &Erased::default(), &text)?;
                return Ok(ExitCode::SUCCESS);
            }
            Mode::Confirmed(id) if id == subject => {}
            Mode::Confirmed(_) => return Err(not_confirmed(subject)),
            Mode::Ask if !io::stdin().is_terminal() => {
                return Err(format!("{records} would be erased; to erase, add --confirm {subject}").into());
            }
            Mode::Ask => {
                let question = format!(
                    "{records} of {} will be erased. This cannot be undone.\nType {subject} to erase: ",
                    found.tenant
                );
                if read_line(&question)? != *subject {
                    return Err(not_confirmed(subject));
                }
            }
        }
        let erased = self.rounds(&client).await?;
        let text = format!("{} erased, {} changed.", listed(&erased.records), counted(erased.answers, "stored answer"));
        self.print(&found, &erased, &text)?;
        Ok(ExitCode::SUCCESS)
    }

    async fn rounds(&self, client: &AdminClient) -> Result<Erased, CliError> {
        let mut erased = Erased::default();
        loop {
            match self.send(client, PersonStep::Round).await? {
                PersonReply::Nothing => return Ok(erased),
                PersonReply::Erased { records, answers } => {
                    erased.answers += answers;
                    for (kind, count) in records {
                        *erased.records.entry(kind).or_default() += count;
                    }
                }
                PersonReply::Found(_) => return Err(other_version()),
            }
        }
    }

    async fn send(&self, client: &AdminClient, step: PersonStep) -> Result<PersonReply, CliError> {
        match client.send(AdminRequest::ErasePerson { task: self.task.clone(), step }).await? {
            AdminResponse::ErasePerson(reply) => Ok(reply),
            AdminResponse::Secret { .. }
            | AdminResponse::Clients(_)
            | AdminResponse::Revoked { .. }
            | AdminResponse::Key(_)
            | AdminResponse::Recorded
            | AdminResponse::Token(_)
            | AdminResponse::Import(_)
            | AdminResponse::Maintenance(_)
            | AdminResponse::Advanced(_)
            | AdminResponse::Deliveries(_)
            | AdminResponse::ServiceLevels(_)
            | AdminResponse::Description(_)
            | AdminResponse::Tenant(_)
            | AdminResponse::Export(_) => Err(other_version()),
        }
    }

    fn print(&self, found: &PersonFound, erased: &Erased, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        if self.output == Output::Json {
            let line = json!({
                "tenant": found.tenant,
                "subject": found.subject,
                "found": found.counts,
                "erased": erased.records,
                "answers": erased.answers,
                "others": found.others,
            });
            return Ok(writeln!(out, "{line}")?);
        }
        writeln!(out, "{text}")?;
        for other in &found.others {
            let noun = self.noun;
            writeln!(
                out,
                "The {noun} {other} has the same contact data and stays. Erase them too if they are the same person."
            )?;
        }
        if found.running_imports > 0 {
            writeln!(out, "An import of this tenant is not finished; erasing has to wait for it.")?;
        }
        Ok(())
    }
}

/// `1 boat, 3 orders`.
fn listed(counts: &BTreeMap<String, u64>) -> String {
    let counts: Vec<String> = counts.iter().map(|(kind, count)| counted(*count, &kind.replace('_', " "))).collect();
    if counts.is_empty() { "Nothing".to_owned() } else { counts.join(", ") }
}

fn not_confirmed(subject: &str) -> CliError {
    format!("nothing was erased: the id to confirm is {subject}").into()
}

fn other_version() -> CliError {
    "the running server is another version of Frontdesk".into()
}
