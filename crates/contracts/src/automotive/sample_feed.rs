//! `frontdesk automotive sample-feed`: a made-up feed of any length, to try imports with.

use frontdesk_engine::model::contract_entry::{
    ArgumentKind, CommandArgument, CommandFailure, CommandInput, CommandResult, CommandStatus, ContractCommand,
};
use serde_json::json;

use super::demo::catalogue::{CATALOGUE, CarSpec, CatalogueEntry, Powertrain, VinSpec};
use super::vin::Vin;
use crate::record::Vocabulary as _;

pub(super) const SAMPLE_FEED: ContractCommand = ContractCommand {
    name: "sample-feed",
    about: "Print a made-up feed of vehicles as CSV, to try `frontdesk import` with",
    examples: "\
  frontdesk automotive sample-feed > stock.csv
  frontdesk automotive sample-feed --rows 100000 > stock.csv",
    arguments: &[CommandArgument {
        name: ROWS,
        value_name: "NUMBER",
        about: "How many vehicles [default: 100]",
        kind: ArgumentKind::Option,
    }],
    run,
};

const ROWS: &str = "rows";
const DEFAULT_ROWS: u32 = 100;
const MAX_ROWS: u32 = 1_000_000;
const FIRST_SERIAL: u32 = 100_000;
const COLORS: &[&str] = &["White", "Black", "Silver", "Blue", "Red", "Gray"];

pub const HEADER: &str = "VIN,Stock,Type,Year,Make,Model,Trim,Body,Doors,Miles,ExteriorColor,Engine,Transmission,\
    Drivetrain,Fuel,SellingPrice,MSRP,DateInStock,Options,ImageList,Description\n";

fn run(input: &CommandInput) -> Result<CommandResult, CommandFailure> {
    let rows = match input.values(ROWS).next() {
        None => DEFAULT_ROWS,
        Some(text) => match text.parse::<u32>() {
            Ok(rows) if (1..=MAX_ROWS).contains(&rows) => rows,
            Ok(_) | Err(_) => {
                return Err(CommandFailure { message: format!("--rows takes a number from 1 to {MAX_ROWS}") });
            }
        },
    };
    let mut text = HEADER.to_owned();
    (0..rows).for_each(|number| text.push_str(&row(number)));
    text.truncate(text.trim_end().len());
    Ok(CommandResult { json: json!({ "csv": text }).to_string(), text, status: CommandStatus::Success })
}

/// One line of the feed. The same number gives the same vehicle, and two numbers give two.
pub fn row(number: u32) -> String {
    let kinds = u32::try_from(CATALOGUE.len()).unwrap_or(1);
    let Some(entry) = usize::try_from(number % kinds).ok().and_then(|index| CATALOGUE.get(index)) else {
        return String::new();
    };
    let CatalogueEntry { vin: VinSpec(descriptor, plant, first, last), car, powertrain, msrp } = entry;
    let CarSpec(make, model, trim, body, doors) = car;
    let Powertrain(engine, transmission, drivetrain, fuel) = powertrain;
    let turn = number / kinds;
    let years = u32::from(last - first) + 1;
    let year = first + u16::try_from(turn % years).unwrap_or_default();
    let vin = Vin::assemble(descriptor, year, *plant, FIRST_SERIAL + turn);
    let vin = vin.as_ref().map_or("", Vin::as_str);
    let age = i64::from(last - year);
    let price = (msrp - age * msrp / 10 - i64::from(turn % 40) * 25).max(1_000);
    let miles = 4_000 + age * 9_000 + i64::from(turn % 500) * 11;
    let color = COLORS.get(usize::try_from(turn).unwrap_or_default() % COLORS.len()).copied().unwrap_or_default();
    let (body, transmission) = (body.as_str(), transmission.as_str());
    let (drivetrain, fuel) = (drivetrain.as_str(), fuel.as_str());
    format!(
        "{vin},F{number:06},Used,{year},{make},{model},{trim},{body},{doors},\"{miles}\",{color},{engine},{transmission},\
         {drivetrain},{fuel},{price}.00 USD,{msrp}.00 USD,2026-01-{day:02},Heated seats|Backup camera|Bluetooth,\
         https://img.example/{number}/1.jpg|https://img.example/{number}/2.jpg,\
         \"{year} {make} {model} {trim} in {color}. Inspected, one owner.\"\n",
        day = number % 28 + 1,
    )
}
