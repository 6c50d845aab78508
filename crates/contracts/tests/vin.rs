//! Vehicle identification numbers, by literal examples.

use frontdesk_contracts::automotive::vin::{Vin, VinError, check_digit};

#[test]
fn check_digits_of_known_numbers() {
    assert_eq!(check_digit("1HGCM82633A004352"), Some('3'));
    assert_eq!(check_digit("2T3P1RFVXMC100001"), Some('X'));
    assert_eq!(check_digit("1M8GDM9AXKP042788"), Some('X'));
    assert_eq!(check_digit("11111111111111111"), Some('1'));
    assert_eq!(check_digit("5YJ3E1EAXKF100004"), Some('X'));
    assert_eq!(check_digit("1C4RJFBG0LC100006"), Some('0'));
}

#[test]
fn the_check_digit_ignores_the_current_character() {
    assert_eq!(check_digit("1HGCM82603A004352"), Some('3'));
    assert_eq!(check_digit("1hgcm826x3a004352"), Some('3'));
}

#[test]
fn an_invalid_vin_has_no_check_digit() {
    assert_eq!(check_digit("1HGCM82633A00435"), None);
    assert_eq!(check_digit("1HGCM82633A0043520"), None);
    assert_eq!(check_digit("1HGCM82633A00435O"), None);
}

#[test]
fn lower_case_is_read_and_kept_as_upper_case() {
    let vin = Vin::parse("1hgcm82633a004352").unwrap();
    assert_eq!(vin.as_str(), "1HGCM82633A004352");
    assert_eq!(vin.to_string(), "1HGCM82633A004352");
}

#[test]
fn a_wrong_length_is_reported() {
    assert_eq!(Vin::parse(""), Err(VinError::Length { found: 0 }));
    assert_eq!(Vin::parse("1HGCM82633A00435"), Err(VinError::Length { found: 16 }));
    assert_eq!(Vin::parse(" 1HGCM82633A004352"), Err(VinError::Length { found: 18 }));
}

#[test]
fn a_forbidden_character_is_reported_with_its_position() {
    for (text, position) in [
        ("IHGCM82633A004352", 1),
        ("1HGCM82633AO04352", 12),
        ("1HGCM82633A00435Q", 17),
        ("1HGCM-2633A004352", 6),
        ("1HGCM82633A00435é", 17),
    ] {
        assert_eq!(Vin::parse(text), Err(VinError::Character { position }), "{text}");
    }
}

#[test]
fn a_wrong_check_digit_is_refused_from_north_america() {
    assert_eq!(Vin::parse("1HGCM82643A004352"), Err(VinError::CheckDigit));
    assert_eq!(Vin::parse("5YJ3E1EA0KF100004"), Err(VinError::CheckDigit));
}

#[test]
fn a_wrong_check_digit_is_accepted_outside_north_america() {
    let indian = Vin::parse("MA3ERLF1S00183366").unwrap();
    assert!(!indian.has_valid_check_digit());
    assert_eq!(indian.year(), None);
    let german = Vin::parse("WBA5R1C54KA100010").unwrap();
    assert!(german.has_valid_check_digit());
    assert_eq!(german.year(), Some(2019));
}

#[test]
fn messages_do_not_repeat_the_vin() {
    assert_eq!(VinError::Length { found: 16 }.to_string(), "a VIN has 17 characters, not 16");
    assert_eq!(
        VinError::Character { position: 12 }.to_string(),
        "the character at position 12 cannot be in a VIN (digits and letters except I, O and Q)"
    );
    assert_eq!(VinError::CheckDigit.to_string(), "the check digit at position 9 does not match");
}

#[test]
fn make_and_model_year_of_known_numbers() {
    for (text, make, year) in [
        ("1HGCM82633A004352", "Honda", 2003),
        ("2T3P1RFVXMC100001", "Toyota", 2021),
        ("1FTFW1E82NFA00003", "Ford", 2022),
        ("5YJ3E1EAXKF100004", "Tesla", 2019),
        ("1C4RJFBG0LC100006", "Jeep", 2020),
        ("3VW2B7AJ7HM100007", "Volkswagen", 2017),
        ("KM8J3CA40LU100008", "Hyundai", 2020),
        ("1N4BL4BV0LC100009", "Nissan", 2020),
        ("WBA5R1C54KA100010", "BMW", 2019),
        ("1G1ZD5ST7LF100011", "Chevrolet", 2020),
        ("JM3KFBDM7L0100012", "Mazda", 2020),
        ("JTDKARFP5L3100015", "Toyota", 2020),
    ] {
        let vin = Vin::parse(text).unwrap();
        assert_eq!((vin.make(), vin.year()), (Some(make), Some(year)), "{text}");
    }
}

#[test]
fn position_seven_selects_the_thirty_year_cycle() {
    let year = |text| Vin::parse(text).unwrap().year();
    assert_eq!(year("4T1BE46K19U856421"), Some(2009), "a digit at position 7");
    assert_eq!(year("5FNYF5H59HB011946"), Some(2017), "a letter at position 7");
    assert_eq!(year("2GCEC19Z0S1245490"), Some(1995), "S is 1995 or 2025");
}

#[test]
fn position_five_distinguishes_makes_with_one_code() {
    let make = |descriptor| Vin::assemble(descriptor, 2020, 'N', 1).unwrap().make();
    assert_eq!(make("1C4RJFBG"), Some("Jeep"));
    assert_eq!(make("1C4RDJDG"), Some("Dodge"));
    assert_eq!(make("2C4RC1BG"), Some("Chrysler"));
    assert_eq!(make("1C6SRFFT"), Some("Ram"));
    assert_eq!(make("5XYP5DHC"), Some("Kia"));
    assert_eq!(make("5XYZT3LB"), Some("Hyundai"));
    assert_eq!(make("LSJW74U9"), None, "an unknown code has no make");
}

#[test]
fn a_number_is_assembled_with_its_check_digit() {
    let vin = Vin::assemble("2T3P1RFV", 2021, 'C', 100_001).unwrap();
    assert_eq!(vin.as_str(), "2T3P1RFVXMC100001");
}

#[test]
fn parts_that_do_not_decode_give_no_vin() {
    assert_eq!(Vin::assemble("2T3P1RF", 2021, 'C', 1), None, "too short");
    assert_eq!(Vin::assemble("2T3P1RFV", 2021, 'C', 1_000_000), None, "too long");
    assert_eq!(Vin::assemble("2T3P1RFV", 2021, 'I', 1), None, "no such plant");
    assert_eq!(Vin::assemble("2T3P1RFV", 1979, 'C', 1), None, "before VINs");
    assert_eq!(Vin::assemble("2T3P1RFV", 1991, 'C', 1), None, "position 7 says 2021");
}
