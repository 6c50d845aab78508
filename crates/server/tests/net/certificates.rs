//! The development certificate authority and the reading of certificate files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use frontdesk::net::{DevCertificateStatus, ensure, load};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use frontdesk_testkit::TestFolder;

const START: OffsetDateTime = datetime!(2026-11-15 12:00 UTC);

fn created(folder: &TestFolder, names: &[&str], now: OffsetDateTime) -> DevCertificateStatus {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    ensure(folder.path(), &names, now).unwrap().status
}

fn content(folder: &TestFolder, names: [&str; 2]) -> [String; 2] {
    names.map(|name| fs::read_to_string(folder.join(name)).unwrap())
}

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_second_start_reuses_everything() {
    let folder = TestFolder::new();
    assert_eq!(created(&folder, &["desk.example.com"], START), DevCertificateStatus::New);
    let before = [content(&folder, ["ca.pem", "ca.key"]), content(&folder, ["server.pem", "server.key"])];
    // Order, case, brackets and repetition do not make another set of names.
    let same = ["[::1]", "DESK.example.com", "localhost"];
    assert_eq!(created(&folder, &same, START + Duration::days(75)), DevCertificateStatus::Reused);
    let after = [content(&folder, ["ca.pem", "ca.key"]), content(&folder, ["server.pem", "server.key"])];
    assert_eq!(before, after);
}

#[test]
fn keys_are_for_the_owner_alone_and_no_other_file_is_left() {
    let parent = TestFolder::new();
    let folder = parent.join("data/tls");
    ensure(&folder, &[], START).unwrap();
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), format!("{:04o}", mode(&entry.path()))))
        .collect();
    files.sort();
    let wanted = [("ca.key", "0600"), ("ca.pem", "0644"), ("server.key", "0600"), ("server.pem", "0644")];
    assert_eq!(files, wanted.map(|(name, mode)| (name.to_owned(), mode.to_owned())));
    assert_eq!(mode(&folder), 0o700);
}

#[test]
fn the_certificate_is_renewed_in_its_last_two_weeks() {
    let folder = TestFolder::new();
    created(&folder, &[], START);
    let authority = content(&folder, ["ca.pem", "ca.key"]);
    let server = content(&folder, ["server.pem", "server.key"]);
    assert_eq!(created(&folder, &[], START + Duration::days(76)), DevCertificateStatus::Reused);
    assert_eq!(created(&folder, &[], START + Duration::days(76) + Duration::SECOND), DevCertificateStatus::Renewed);
    assert_eq!(content(&folder, ["ca.pem", "ca.key"]), authority);
    assert_ne!(content(&folder, ["server.pem", "server.key"]), server);
}

#[test]
fn a_name_that_comes_or_goes_renews_the_certificate() {
    let folder = TestFolder::new();
    created(&folder, &[], START);
    assert_eq!(created(&folder, &["desk.example.com"], START), DevCertificateStatus::Renewed);
    assert_eq!(created(&folder, &["desk.example.com"], START), DevCertificateStatus::Reused);
    assert_eq!(created(&folder, &["192.0.2.7"], START), DevCertificateStatus::Renewed);
}

#[test]
fn everything_is_made_anew_when_the_authority_ends() {
    let folder = TestFolder::new();
    created(&folder, &[], START);
    let mut now = START;
    for _ in 0..4 {
        now += Duration::days(80);
        assert_eq!(created(&folder, &[], now), DevCertificateStatus::Renewed);
    }
    // 320 days on, the last certificate ends with its authority, not after it.
    assert_eq!(created(&folder, &[], START + Duration::days(351)), DevCertificateStatus::Reused);
    assert_eq!(created(&folder, &[], START + Duration::days(351) + Duration::SECOND), DevCertificateStatus::CaReplaced);
    assert_eq!(created(&folder, &[], START + Duration::days(400)), DevCertificateStatus::Reused);
}

#[test]
fn a_start_that_was_interrupted_is_repaired() {
    let folder = TestFolder::new();
    created(&folder, &[], START);
    fs::remove_file(folder.join("server.pem")).unwrap();
    assert_eq!(created(&folder, &[], START), DevCertificateStatus::Renewed);
    fs::copy(folder.join("ca.key"), folder.join("server.key")).unwrap();
    assert_eq!(created(&folder, &[], START), DevCertificateStatus::Renewed);
    fs::write(folder.join("server.pem"), "noise").unwrap();
    assert_eq!(created(&folder, &[], START), DevCertificateStatus::Renewed);
    let stranger = TestFolder::new();
    created(&stranger, &[], START);
    for name in ["server.pem", "server.key"] {
        fs::copy(stranger.join(name), folder.join(name)).unwrap();
    }
    assert_eq!(created(&folder, &[], START), DevCertificateStatus::Renewed);
    // Without its key the authority serves until the certificate must change.
    fs::remove_file(folder.join("ca.key")).unwrap();
    assert_eq!(created(&folder, &[], START), DevCertificateStatus::Reused);
    assert_eq!(created(&folder, &["desk.example.com"], START), DevCertificateStatus::CaReplaced);
    fs::copy(folder.join("server.key"), folder.join("ca.key")).unwrap();
    assert_eq!(created(&folder, &[], START), DevCertificateStatus::CaReplaced);
    assert_eq!(created(&folder, &[], START), DevCertificateStatus::Reused);
}

/// Made while the clock was ahead.
#[test]
fn a_certificate_that_is_not_valid_yet_is_made_anew() {
    let folder = TestFolder::new();
    created(&folder, &[], START);
    // The CA is valid, its certificate is not.
    created(&folder, &["desk.example.com"], START + Duration::days(30));
    assert_eq!(created(&folder, &["desk.example.com"], START), DevCertificateStatus::Renewed);
    assert_eq!(created(&folder, &["desk.example.com"], START), DevCertificateStatus::Reused);
    // Neither is valid.
    assert_eq!(created(&folder, &["desk.example.com"], START - Duration::DAY), DevCertificateStatus::CaReplaced);
    assert_eq!(created(&folder, &["desk.example.com"], START - Duration::DAY), DevCertificateStatus::Reused);
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let folder = TestFolder::new();
    created(&folder, &[], START);
    for name in ["ca.key", "server.key"] {
        let file = folder.join(name);
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let refused = ensure(folder.path(), &[], START).unwrap_err().to_string();
        let path = file.display();
        assert_eq!(
            refused,
            format!(
                "other users can read the private key {path} (mode 0640); run `chmod 600 {path}`, and replace the key \
                 if someone else may have read it"
            )
        );
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(created(&folder, &[], START), DevCertificateStatus::Reused);
}

#[test]
fn a_host_that_no_certificate_can_name_is_refused() {
    let folder = TestFolder::new();
    let refused = ensure(folder.path(), &["not a host".to_owned()], START).unwrap_err().to_string();
    assert_eq!(
        refused,
        "`not a host` cannot be in a certificate; use a host name such as `desk.example.com` or an IP address as \
         the host of the public URL"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_unusable_certificate_says_which_file_and_what_to_do() {
    let (ours, theirs) = (TestFolder::new(), TestFolder::new());
    let mine = ensure(ours.path(), &[], START).unwrap();
    let other = ensure(theirs.path(), &[], START).unwrap();
    let noise = ours.join("noise.pem");
    fs::write(&noise, "noise").unwrap();
    fs::set_permissions(&noise, Permissions::from_mode(0o600)).unwrap();
    let said = |certificate: &Path, key: &Path| load(certificate, key).unwrap_err().to_string();

    let absent = ours.join("absent.pem");
    let missing =
        format!("{} does not exist; put the PEM file there or correct the path in the configuration", absent.display());
    assert_eq!(said(&absent, &mine.key), missing);
    assert_eq!(said(&mine.certificate, &absent), missing);
    assert_eq!(
        said(&noise, &mine.key),
        format!(
            "{} contains no PEM certificate; it must contain a `-----BEGIN CERTIFICATE-----` block, the server's own \
             certificate first and its intermediates after it",
            noise.display()
        )
    );
    assert_eq!(
        said(&mine.certificate, &noise),
        format!(
            "{} contains no PEM private key; it must contain an unencrypted `-----BEGIN PRIVATE KEY-----` block",
            noise.display()
        )
    );
    assert_eq!(
        said(&mine.certificate, &other.key),
        format!(
            "the key in {} does not belong to the certificate in {}; use the key of the certificate, and put the server's own certificate first in its file",
            other.key.display(),
            mine.certificate.display()
        )
    );
    fs::set_permissions(&mine.key, Permissions::from_mode(0o640)).unwrap();
    assert!(load(&mine.certificate, &mine.key).is_ok(), "a system key folder has a group");
    fs::set_permissions(&mine.key, Permissions::from_mode(0o644)).unwrap();
    assert!(said(&mine.certificate, &mine.key).contains("(mode 0644)"));
}
