//! The command `check-vin`: whether vehicle identification numbers are valid, and if not, why.

use frontdesk_engine::model::contract_entry::{
    ArgumentKind, CommandArgument, CommandFailure, CommandInput, CommandResult, CommandStatus, ContractCommand,
};
use serde_json::{Value, json};

use super::vin::{Vin, VinError, check_digit};

const VIN: &str = "vin";

pub(crate) const CHECK_VIN: ContractCommand = ContractCommand {
    name: "check-vin",
    about: "Check vehicle identification numbers: length, characters and check digit",
    examples: "  frontdesk automotive check-vin 1HGCM82633A004352\n  \
               frontdesk automotive check-vin --json 1HGCM82633A004352 WVWZZZ1JZXW000001",
    arguments: &[CommandArgument {
        name: VIN,
        value_name: "VIN",
        about: "A number of 17 characters, in upper or lower case",
        kind: ArgumentKind::Positional,
    }],
    run: check_vins,
};

fn check_vins(input: &CommandInput) -> Result<CommandResult, CommandFailure> {
    let checked: Vec<(&str, Result<Vin, VinError>)> = input.values(VIN).map(|text| (text, Vin::parse(text))).collect();
    if checked.is_empty() {
        return Err(CommandFailure { message: "name at least one VIN".to_owned() });
    }
    let text: Vec<String> = checked.iter().map(|(given, vin)| line(given, vin)).collect();
    let json: Vec<String> = checked.iter().map(|(given, vin)| object(given, vin).to_string()).collect();
    let status =
        if checked.iter().all(|(_, vin)| vin.is_ok()) { CommandStatus::Success } else { CommandStatus::Failure };
    Ok(CommandResult { text: text.join("\n"), json: json.join("\n"), status })
}

fn line(given: &str, vin: &Result<Vin, VinError>) -> String {
    match vin {
        Ok(vin) if vin.has_valid_check_digit() => format!("{vin}  valid{}", decoded(vin)),
        // Outside North America position 9 is free.
        Ok(vin) => format!("{vin}  valid, position 9 is not a check digit{}", decoded(vin)),
        Err(error) => format!("{given:?}  invalid: {}", explain(given, *error)),
    }
}

fn decoded(vin: &Vin) -> String {
    let year = vin.year().map(|year| year.to_string());
    let parts: Vec<String> = vin.make().map(str::to_owned).into_iter().chain(year).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(" ")) }
}

fn explain(given: &str, error: VinError) -> String {
    match (error, check_digit(given)) {
        (VinError::CheckDigit, Some(digit)) => format!("{error}; for these characters it is {digit}"),
        (VinError::CheckDigit, None) | (VinError::Length { .. } | VinError::Character { .. }, _) => error.to_string(),
    }
}

fn object(given: &str, vin: &Result<Vin, VinError>) -> Value {
    match vin {
        Ok(vin) => json!({
            "vin": vin.as_str(),
            "valid": true,
            "has_valid_check_digit": vin.has_valid_check_digit(),
            "make": vin.make(),
            "model_year": vin.year(),
        }),
        Err(error) => {
            let reason = match error {
                VinError::Length { .. } => "length",
                VinError::Character { .. } => "character",
                VinError::CheckDigit => "check_digit",
            };
            json!({"vin": given, "valid": false, "reason": reason, "message": explain(given, *error)})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(vins: &[&str]) -> CommandResult {
        let mut input = CommandInput::default();
        vins.iter().for_each(|vin| input.add(VIN, (*vin).to_owned()));
        check_vins(&input).unwrap()
    }

    #[test]
    fn a_valid_vin_is_shown_with_make_and_year() {
        let output = run(&["1hgcm82633a004352"]);
        assert_eq!(output.text, "1HGCM82633A004352  valid (Honda 2003)");
        assert_eq!(
            output.json,
            r#"{"has_valid_check_digit":true,"make":"Honda","model_year":2003,"valid":true,"vin":"1HGCM82633A004352"}"#
        );
        assert_eq!(output.status, CommandStatus::Success);
    }

    #[test]
    fn an_invalid_vin_is_shown_with_the_reason() {
        let output = run(&["1HGCM82633A00435", "1HGCM82633A00435I", "1HGCM82643A004352", "WVWZZZ1JZXW000001"]);
        assert_eq!(
            output.text,
            "\"1HGCM82633A00435\"  invalid: a VIN has 17 characters, not 16\n\
             \"1HGCM82633A00435I\"  invalid: the character at position 17 cannot be in a VIN (digits and letters except I, O and Q)\n\
             \"1HGCM82643A004352\"  invalid: the check digit at position 9 does not match; for these characters it is 3\n\
             WVWZZZ1JZXW000001  valid, position 9 is not a check digit (Volkswagen)"
        );
        assert_eq!(output.status, CommandStatus::Failure);
        let second = output.json.lines().nth(2).unwrap();
        assert!(second.contains(r#""reason":"check_digit""#), "{second}");
    }
}
