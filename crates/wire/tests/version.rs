//! The versions of the protocol, and which of them answers a handshake.

use frontdesk_wire::version::{Era, Version, negotiate, supported_versions};

#[test]
fn versions_are_listed_oldest_first_and_read_back() {
    let texts: Vec<&str> = Version::ALL.iter().map(|version| version.as_str()).collect();
    assert_eq!(texts, ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert!(Version::ALL.is_sorted());
    for version in Version::ALL {
        assert_eq!(Version::parse(version.as_str()), Some(version));
        assert_eq!(version.era().version(), version);
    }
    assert_eq!(Version::parse("2026-07-29"), None);
    assert_eq!(Version::parse(" 2026-07-28"), None);
}

#[test]
fn only_the_newest_version_is_modern() {
    let modern: Vec<Version> = Version::ALL.into_iter().filter(|version| version.era() == Era::Modern).collect();
    assert_eq!(modern, [Version::V2026_07_28]);
}

#[test]
fn only_one_version_takes_batches() {
    let taking: Vec<Version> = Version::ALL.into_iter().filter(|version| version.allows_batches()).collect();
    assert_eq!(taking, [Version::V2025_03_26]);
}

#[test]
fn supported_versions_are_named_newest_first() {
    assert_eq!(supported_versions(), r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#);
}

#[test]
fn initialize_gets_the_requested_or_the_newest_version() {
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1900-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        assert_eq!(negotiate(asked).as_str(), answered, "{asked}");
    }
}
