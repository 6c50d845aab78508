//! Fuzz targets: whatever the bytes, a feed and a message are read or refused, and nothing stops the program. In a test run
//! they get random bytes between the parts of real files; `cargo bolero` searches on from there.

use bolero::check;
use frontdesk_contracts::automotive::adf::{self, AdfSettings};
use frontdesk_contracts::feed::{FeedFormat, FeedMapping, FeedReader, FeedSettings};

use super::support::{FIRST, HEADER, american, vehicles};

const INPUTS: usize = 300;

#[test]
fn fuzz_feed() {
    let target = vehicles();
    let json = "{\"items\": [{\"vin\": \"x\", \"price\": \"$1\"}, {\"vin\": ";
    check!().with_iterations(INPUTS).for_each(|bytes: &[u8]| {
        let after = |start: &str| [start.as_bytes(), bytes, b"\n", FIRST.as_bytes()].concat();
        let cell = FIRST.replace("24999", &String::from_utf8_lossy(bytes));
        let files = [
            bytes.to_vec(),
            after(""),
            after(&format!("{HEADER}\n")),
            after(&format!("{HEADER},")),
            after(json),
            after("{\"vin\":\"1\"}\n{"),
            format!("{HEADER}\n{cell}\n").into_bytes(),
            [b"\xff\xfe", bytes].concat(),
        ];
        for file in &files {
            for format in [None, Some(FeedFormat::Csv), Some(FeedFormat::Json)] {
                let settings = FeedSettings { format, ..american() };
                let Ok(reader) = FeedReader::open(&**file, &target, settings) else {
                    continue;
                };
                let lines = u64::try_from(file.len()).unwrap() + 2;
                for row in reader.flatten() {
                    assert!((1..=lines).contains(&row.line));
                    if let Ok(arguments) = row.arguments {
                        assert!(target.input.check(arguments).is_ok());
                    }
                }
            }
        }
    });
}

#[test]
fn fuzz_mapping() {
    check!().with_iterations(INPUTS).for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        for text in [text.to_string(), format!("[columns]\n{text}"), format!("[defaults]\nseparator = {text:?}")] {
            let Ok(mapping) = FeedMapping::from_toml(&text) else {
                continue;
            };
            let settings = FeedSettings { format: None, mapping };
            let feed = format!("{HEADER}\n{FIRST}\n");
            if let Ok(reader) = FeedReader::open(feed.as_bytes(), &vehicles(), settings) {
                assert!(reader.count() <= 2);
            }
        }
    });
}

#[test]
fn fuzz_adf() {
    let settings = AdfSettings { calling_code: Some("1".to_owned()), stated_consent: None };
    check!().with_iterations(INPUTS).for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let inside = format!(
            "<adf><prospect><customer><contact><phone>{text}</phone></contact>{text}</customer></prospect></adf>"
        );
        let attribute = format!("<adf><prospect><optin {text}>yes</optin></prospect></adf>");
        for message in [bytes, text.as_bytes(), inside.as_bytes(), attribute.as_bytes()] {
            for prospect in adf::read(message, &settings).unwrap_or_default() {
                let comments = prospect.arguments.get("comments").and_then(|comments| comments.as_str());
                assert!(comments.is_none_or(|comments| comments.chars().count() <= 4_000));
            }
        }
    });
}
