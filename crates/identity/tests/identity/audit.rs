//! Audit of the token and the revocation endpoint: changes, failed requests of clients, and counts of failed
//! authentications.

use frontdesk_engine::limits::tally::{TallyCount, TallyKey};
use frontdesk_engine::model::caller::ClientId;
use frontdesk_engine::ports::Durability;
use frontdesk_testkit::memory_store::ClientChange;

use crate::support::{ADDRESS, Bench, FIRST_TOKEN, GRANT, ID, asked, bench, bench_with};

/// The audit record of the first client's request.
fn line(method: &str, outcome: &str) -> String {
    format!(
        r#"{{"at":"2026-09-21T14:13:20Z","trace":"trace-1","contract":"identity","client":"cli_north","address":"192.0.2.1","method":"{method}","outcome":"{outcome}"}}"#
    )
}

fn with_changes(bench: &Bench) -> Vec<String> {
    bench.registry.records()
}

fn by_themselves(bench: &Bench) -> Vec<(String, Durability)> {
    bench.records.state().records.clone()
}

#[tokio::test]
async fn grant_and_revocation_are_audited_with_the_change() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    assert_eq!(bench.form("/revoke", &format!("token={token}")).await.status, 200);
    assert_eq!(with_changes(&bench), [line("token", "ok")]);
    assert_eq!(bench.registry.administration(), [line("revoke", "ok")]);
    assert_eq!(by_themselves(&bench), []);
    assert_eq!(bench.tally.take(), []);
}

#[tokio::test]
async fn failed_requests_of_a_client_are_audited() {
    let bench = bench();
    assert_eq!(bench.form("/token", "grant_type=password").await.status, 400);
    assert_eq!(bench.form("/token", "grant_type=client_credentials&scope=all").await.status, 400);
    assert_eq!(bench.form("/revoke", &format!("token={FIRST_TOKEN}")).await.status, 200);
    assert_eq!(bench.form("/revoke", "token=nonsense").await.status, 200);
    let expected = [
        line("token", "unsupported_grant_type"),
        line("token", "invalid_scope"),
        line("revoke", "not_found"),
        line("revoke", "not_found"),
    ];
    assert_eq!(by_themselves(&bench), expected.map(|line| (line, Durability::Grouped)));
    assert_eq!(with_changes(&bench), [""; 0]);
    assert_eq!(bench.tally.take(), []);
}

#[tokio::test]
async fn failed_authentications_are_counted_by_address() {
    let bench = bench();
    for _ in 0..3 {
        assert_eq!(bench.form_as(ID, "wrong", "/token", GRANT).await.status, 401);
        assert_eq!(bench.form_as("cli_nobody", "x", "/revoke", "token=x").await.status, 401);
    }
    assert_eq!(bench.send(asked("/token", "a=%")).await.status, 400);
    assert_eq!(with_changes(&bench), [""; 0]);
    assert_eq!(by_themselves(&bench), []);
    let mut counted = bench.tally.take();
    counted.sort_by_key(|count| count.times);
    let count = |outcome, times| TallyCount { who: TallyKey::Address(ADDRESS), outcome, times };
    assert_eq!(counted, [count("invalid_request", 1), count("invalid_client", 6)]);
}

#[tokio::test]
async fn a_rate_limited_client_is_counted_in_the_tally() {
    let bench = bench_with(1000, 2);
    for status in [200, 200, 429, 429, 429] {
        assert_eq!(bench.form("/token", GRANT).await.status, status);
    }
    assert_eq!(with_changes(&bench), [line("token", "ok"), line("token", "ok")]);
    assert_eq!(by_themselves(&bench), []);
    let who = TallyKey::Client(ClientId::new(ID));
    assert_eq!(bench.tally.take(), [TallyCount { who, outcome: "temporarily_unavailable", times: 3 }]);
}

#[tokio::test]
async fn a_token_revoked_during_the_grant_is_audited() {
    let bench = bench();
    bench.registry.inject(|faults| faults.before_token = Some(ClientChange::Revoked));
    assert_eq!(bench.form("/token", GRANT).await.status, 401);
    assert_eq!(with_changes(&bench), [line("token", "ok")]);
    assert_eq!(bench.registry.administration(), [line("revoke", "ok")]);
    assert_eq!(by_themselves(&bench), [(line("token", "invalid_client"), Durability::Grouped)]);
}
