//! Invalid settings, and what is never formatted.

use std::sync::Arc;

use frontdesk_identity::{JwtConfigError, JwtSettings, JwtVerifier, SigningSecret};

use crate::support::{FixedClock, SECRET, settings, verifier};

fn error(change: impl FnOnce(&mut JwtSettings)) -> String {
    let mut settings = settings();
    change(&mut settings);
    JwtVerifier::new(settings, Arc::new(FixedClock(0))).unwrap_err().to_string()
}

#[test]
fn a_secret_of_less_than_32_bytes_is_refused_with_what_to_do() {
    assert!(SigningSecret::new(vec![7; 32]).is_ok());
    assert_eq!(SigningSecret::new(Vec::new()).unwrap_err(), JwtConfigError::ShortSecret { bytes: 0 });
    assert_eq!(
        SigningSecret::new(vec![b'q'; 31]).unwrap_err().to_string(),
        "The secret has 31 bytes, which is short enough to guess and forge tokens with. Give the issuer and this mount \
         a new one of at least 32 bytes, for example from `openssl rand -hex 32`."
    );
}

#[test]
fn a_verifier_needs_a_secret() {
    assert_eq!(
        error(|settings| settings.secrets.clear()),
        "No secret is configured to verify tokens with. Set the one that the issuer signs with."
    );
}

/// Empty does not mean "any".
#[test]
fn an_empty_issuer_or_audience_is_refused() {
    assert_eq!(
        error(|settings| settings.issuer = Some(String::new())),
        "The issuer is empty. Set it to the iss of the tokens, or remove the setting."
    );
    assert_eq!(
        error(|settings| settings.audience = Some(String::new())),
        "The audience is empty. Set it to the aud of the tokens, or remove the setting."
    );
}

#[test]
fn leeway_and_lifetime_are_limited() {
    assert_eq!(
        error(|settings| settings.leeway_seconds = 31),
        "The leeway is more than 30 seconds. Synchronize the clocks instead."
    );
    let life =
        "The maximum token lifetime must be between 1 second and 30 days. Have the issuer sign new tokens more often.";
    assert_eq!(error(|settings| settings.max_lifetime_seconds = 0), life);
    assert_eq!(error(|settings| settings.max_lifetime_seconds = 2_592_001), life);
    let mut widest = settings();
    widest.max_lifetime_seconds = 2_592_000;
    verifier(widest);
}

#[test]
fn debug_output_never_contains_a_secret() {
    let settings = settings();
    assert_eq!(format!("{:?}", settings.secrets), "[***]");
    let printed = format!("{settings:?} {:#?}", verifier(settings.clone()));
    assert!(printed.contains("***"));
    assert!(!printed.contains(std::str::from_utf8(SECRET).unwrap()));
    assert!(!printed.contains(&format!("{SECRET:?}")) && !printed.contains("97, 45, 115"));
}
