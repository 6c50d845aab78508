//! The slowest tests, read from the JUnit file that nextest writes (`.config/nextest.toml` says where).

use std::fs;
use std::path::Path;

const SHOWN: usize = 10;

#[derive(Debug, PartialEq)]
struct Timing {
    seconds: f64,
    /// The test binary and the test in it.
    name: String,
}

/// The slowest tests as lines for the report; empty when there is no file.
pub fn slowest(junit: &Path) -> Vec<String> {
    let text = fs::read_to_string(junit).unwrap_or_default();
    let mut timings = timings(&text);
    timings.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    timings.iter().take(SHOWN).map(|timing| format!("{:6.1} s  {}", timing.seconds, timing.name)).collect()
}

/// Every `<testcase name=".." classname=".." time="..">`.
fn timings(junit: &str) -> Vec<Timing> {
    let cases = junit.split("<testcase ").skip(1).map(|rest| rest.split('>').next().unwrap_or_default());
    cases
        .filter_map(|case| {
            let name = format!("{} {}", attribute(case, "classname")?, attribute(case, "name")?);
            Some(Timing { seconds: attribute(case, "time")?.parse().ok()?, name })
        })
        .collect()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let begins = format!("{name}=\"");
    let at = tag.match_indices(&begins).find(|(at, _)| *at == 0 || tag.as_bytes().get(at - 1) == Some(&b' '))?.0;
    tag.get(at + begins.len()..)?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUNIT: &str = r#"<?xml version="1.0"?>
<testsuites name="nextest-run" tests="3" time="9.0">
  <testsuite name="frontdesk::net" tests="2">
    <testcase name="slow::drip" classname="frontdesk::net" timestamp="2026-01-01T00:00:00Z" time="7.250"/>
    <testcase name="tls::resumes" classname="frontdesk::net" timestamp="2026-01-01T00:00:00Z" time="0.125">
      <failure message="time=&quot;99&quot;"/>
    </testcase>
  </testsuite>
</testsuites>"#;

    #[test]
    fn tests_are_read_with_their_times() {
        assert_eq!(
            timings(JUNIT),
            [
                Timing { seconds: 7.25, name: "frontdesk::net slow::drip".to_owned() },
                Timing { seconds: 0.125, name: "frontdesk::net tls::resumes".to_owned() },
            ]
        );
    }

    #[test]
    fn ten_at_most_are_shown_and_none_without_a_file() {
        let file = std::env::temp_dir().join(format!("frontdesk-junit-{}.xml", std::process::id()));
        let cases: String = (0..12)
            .map(|number| format!("<testcase name=\"t{number}\" classname=\"b\" time=\"{number}.0\"/>"))
            .collect();
        fs::write(&file, cases).unwrap();
        let lines = slowest(&file);
        fs::remove_file(&file).unwrap();
        assert_eq!((lines.len(), lines.first().map(String::as_str)), (10, Some("  11.0 s  b t11")));
        assert_eq!(slowest(&file), [""; 0]);
    }
}
