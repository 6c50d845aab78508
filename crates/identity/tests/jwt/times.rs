//! When a token is good: its three times, the leeway and the longest life.

use serde_json::{Value, json};

use crate::support::{NOW, claims, identify, judge, judge_at, refusal, settings, token, with, without};

const ENDED: &str = "the token has expired";
const EARLY: &str = "the token is not valid yet";
const FUTURE: &str = "the token's iat is in the future; compare the two machines' clocks";
const LIFETIME: &str = "the token's exp is not after its iat, or its lifetime is longer than the mount allows";

/// [K28] To the millisecond, thirty seconds after its end.
#[tokio::test]
async fn a_token_ends_when_it_says_and_the_leeway_is_over() {
    let token = token(&claims());
    let end = (NOW + 3600 + 30) * 1000;
    assert!(identify(&judge_at(end - 1, settings()), &token).await.is_ok());
    assert_eq!(refusal(&judge_at(end, settings()), &token).await, ENDED);
    let mut strict = settings();
    strict.leeway_seconds = 0;
    assert!(identify(&judge_at((NOW + 3600) * 1000 - 1, strict.clone()), &token).await.is_ok());
    assert_eq!(refusal(&judge_at((NOW + 3600) * 1000, strict), &token).await, ENDED);
}

/// [K32]
#[tokio::test]
async fn a_token_that_is_not_good_yet_is_refused() {
    let later = token(&with("nbf", json!(NOW + 600)));
    let begin = (NOW + 600 - 30) * 1000;
    assert_eq!(refusal(&judge_at(begin - 1, settings()), &later).await, EARLY);
    assert!(identify(&judge_at(begin, settings()), &later).await.is_ok());
}

/// [K34]
#[tokio::test]
async fn a_token_from_the_future_is_refused() {
    let judge = judge(settings());
    assert!(identify(&judge, &token(&with("iat", json!(NOW + 30)))).await.is_ok());
    assert_eq!(refusal(&judge, &token(&with("iat", json!(NOW + 31)))).await, FUTURE);
    let tomorrow = json!({"sub": "anna", "iat": NOW + 86_400, "exp": NOW + 90_000, "scopes": "*"});
    assert_eq!(refusal(&judge, &token(&tomorrow)).await, FUTURE);
}

/// [K31] Neither a day and a second nor ten years, also in its last hour; nor a life that goes backwards.
#[tokio::test]
async fn a_token_lives_as_long_as_the_mount_allows() {
    let lives =
        |issued: i64, expires: i64| token(&json!({"sub": "anna", "iat": issued, "exp": expires, "scopes": "*"}));
    let usual = judge(settings());
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
        assert_eq!(refusal(&usual, &lives(issued, expires)).await, LIFETIME, "{issued} {expires}");
    }
    let mut brief = settings();
    brief.max_lifetime_seconds = 60;
    let brief = judge(brief);
    assert!(identify(&brief, &lives(NOW, NOW + 60)).await.is_ok());
    assert_eq!(refusal(&brief, &lives(NOW, NOW + 61)).await, LIFETIME);
}

/// [K29] Without `iat` nobody can tell how long a token has been about.
#[tokio::test]
async fn a_token_says_when_it_was_made_and_when_it_ends() {
    let judge = judge(settings());
    assert_eq!(refusal(&judge, &token(&without("exp"))).await, "the token has no exp");
    assert_eq!(refusal(&judge, &token(&without("iat"))).await, "the token has no iat");
}

/// [K29, K30, K33]
#[tokio::test]
async fn a_time_is_a_whole_number_of_seconds() {
    let judge = judge(settings());
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
                refusal(&judge, &token(&with(claim, time.clone()))).await,
                format!("the token's {claim} is not a whole number of seconds since 1970"),
                "{time}"
            );
        }
    }
}
