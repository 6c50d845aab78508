//! exp, iat and nbf, the leeway and the maximum lifetime.

use serde_json::{Value, json};

use crate::support::{NOW, claims, identify, refusal_cause, settings, token, verifier, verifier_at, with, without};

const EXPIRED: &str = "the token has expired";
const NOT_YET_VALID: &str = "the token is not valid yet";
const FUTURE: &str = "the token's iat is in the future; compare the two machines' clocks";
const LIFETIME: &str = "the token's exp is not after its iat, or its lifetime is longer than the mount allows";

/// [K28] To the millisecond, thirty seconds after exp.
#[tokio::test]
async fn a_token_expires_at_exp_plus_leeway() {
    let token = token(&claims());
    let end = (NOW + 3600 + 30) * 1000;
    assert!(identify(&verifier_at(end - 1, settings()), &token).await.is_ok());
    assert_eq!(refusal_cause(&verifier_at(end, settings()), &token).await, EXPIRED);
    let mut strict = settings();
    strict.leeway_seconds = 0;
    assert!(identify(&verifier_at((NOW + 3600) * 1000 - 1, strict.clone()), &token).await.is_ok());
    assert_eq!(refusal_cause(&verifier_at((NOW + 3600) * 1000, strict), &token).await, EXPIRED);
}

/// [K32]
#[tokio::test]
async fn a_token_before_its_nbf_is_refused() {
    let later = token(&with("nbf", json!(NOW + 600)));
    let begin = (NOW + 600 - 30) * 1000;
    assert_eq!(refusal_cause(&verifier_at(begin - 1, settings()), &later).await, NOT_YET_VALID);
    assert!(identify(&verifier_at(begin, settings()), &later).await.is_ok());
}

/// [K34]
#[tokio::test]
async fn a_token_with_iat_in_the_future_is_refused() {
    let verifier = verifier(settings());
    assert!(identify(&verifier, &token(&with("iat", json!(NOW + 30)))).await.is_ok());
    assert_eq!(refusal_cause(&verifier, &token(&with("iat", json!(NOW + 31)))).await, FUTURE);
    let tomorrow = json!({"sub": "anna", "iat": NOW + 86_400, "exp": NOW + 90_000, "scopes": "*"});
    assert_eq!(refusal_cause(&verifier, &token(&tomorrow)).await, FUTURE);
}

/// [K31] A day and a second, ten years, and exp before iat.
#[tokio::test]
async fn a_token_lifetime_is_limited_by_the_mount() {
    let lives =
        |issued: i64, expires: i64| token(&json!({"sub": "anna", "iat": issued, "exp": expires, "scopes": "*"}));
    let usual = verifier(settings());
    assert!(identify(&usual, &lives(NOW, NOW + 86_400)).await.is_ok());
    assert!(identify(&usual, &lives(NOW - 86_399, NOW + 1)).await.is_ok());
    for (issued, expires) in [
        (NOW, NOW + 86_401),
        (NOW - 315_360_000, NOW + 3600),
        (0, NOW + 3600),
        (NOW, 253_402_300_799),
        (NOW, NOW),
        (NOW, NOW - 1),
    ] {
        assert_eq!(refusal_cause(&usual, &lives(issued, expires)).await, LIFETIME, "{issued} {expires}");
    }
    let mut brief = settings();
    brief.max_lifetime_seconds = 60;
    let brief = verifier(brief);
    assert!(identify(&brief, &lives(NOW, NOW + 60)).await.is_ok());
    assert_eq!(refusal_cause(&brief, &lives(NOW, NOW + 61)).await, LIFETIME);
}

/// [K29]
#[tokio::test]
async fn exp_and_iat_are_required() {
    let verifier = verifier(settings());
    assert_eq!(refusal_cause(&verifier, &token(&without("exp"))).await, "the token has no exp");
    assert_eq!(refusal_cause(&verifier, &token(&without("iat"))).await, "the token has no iat");
}

/// [K29, K30, K33]
#[tokio::test]
async fn times_are_integer_seconds() {
    let verifier = verifier(settings());
    let soon = NOW + 60;
    let no_times: [Value; 14] = [
        json!(soon.to_string()),
        json!(null),
        json!(true),
        json!([soon]),
        json!({"seconds": soon}),
        json!(soon as f64),
        json!(soon as f64 + 0.5),
        json!(1e300),
        json!(-1),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(9_223_372_036_854_775_808_u64),
        json!(u64::MAX),
        json!(253_402_300_800_i64),
    ];
    for claim in ["exp", "iat", "nbf"] {
        for time in &no_times {
            assert_eq!(
                refusal_cause(&verifier, &token(&with(claim, time.clone()))).await,
                format!("the token's {claim} is not a whole number of seconds since 1970"),
                "{time}"
            );
        }
    }
}

/// Whether a login is recent enough is decided by the tool; here it is only read.
#[tokio::test]
async fn auth_time_is_when_the_person_logged_in() {
    let verifier = verifier(settings());
    assert_eq!(identify(&verifier, &token(&claims())).await.unwrap().authenticated_at, None);
    for (at, expected) in [(NOW - 301, NOW - 301), (NOW, NOW), (NOW + 3600, NOW + 3600), (0, 0)] {
        let caller = identify(&verifier, &token(&with("auth_time", json!(at)))).await.unwrap();
        assert_eq!(caller.authenticated_at, Some(expected));
    }
    for wrong in [json!("1790000000"), json!(-1), json!(1.5), json!(true), json!(null), json!(1e18)] {
        let cause = refusal_cause(&verifier, &token(&with("auth_time", wrong.clone()))).await;
        assert!(cause.contains("auth_time"), "{wrong}: {cause}");
    }
}
