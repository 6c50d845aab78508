//! Wrong secrets cost the address that sends them, and a right one is accepted all the same.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_identity::OAuthRequest;

use crate::support::{
    Bench, GRANT, ID, OTHER_ID, OTHER_SECRET, SECRET, START, asked, basic, bench, bench_with, header, text,
};

const REFUSED: &str = r#"{"error":"temporarily_unavailable","error_description":"Too many failed requests from this address. Check the client id and its secret, and retry after the seconds in Retry-After."}"#;

/// Ten wrong secrets a minute, and one of them every six seconds.
async fn spent(ids: &[&str]) -> Bench {
    let bench = bench_with(1000, 1);
    for number in 0..10 {
        assert_eq!(bench.form_as(ids[number % ids.len()], "wrong", "/token", GRANT).await.status, 401);
    }
    for id in ids {
        let reply = bench.form_as(id, "wrong", "/token", GRANT).await;
        assert_eq!((text(&reply), header(&reply, "Retry-After")), ((429, REFUSED), Some("6")));
    }
    bench
}

/// [X12] [X13]
#[tokio::test]
async fn a_right_secret_is_accepted_from_a_flooding_address() {
    for flood in [&["cli_unknown"][..], &[ID], &["a", "b", "c", ID, OTHER_ID]] {
        let bench = spent(flood).await;
        assert_eq!(bench.form("/token", GRANT).await.status, 200, "{flood:?}");
        let leads = "grant_type=client_credentials&scope=amcp:leads:read";
        assert_eq!(bench.form_as(OTHER_ID, OTHER_SECRET, "/token", leads).await.status, 200);
        // Success gives a guesser nothing back.
        assert_eq!(bench.form_as(ID, "wrong", "/token", GRANT).await.status, 429);
    }
}

#[tokio::test]
async fn who_waits_as_long_as_told_may_fail_again() {
    let bench = spent(&[ID]).await;
    bench.advance(5_999);
    assert_eq!(bench.form_as(ID, "wrong", "/token", GRANT).await.status, 429);
    bench.advance(1);
    assert_eq!(bench.form_as(ID, "wrong", "/token", GRANT).await.status, 401);
    assert_eq!(bench.form_as(ID, "wrong", "/token", GRANT).await.status, 429);
}

/// [X19]
#[tokio::test]
async fn a_clock_set_forward_forgives_no_wrong_secrets() {
    let bench = spent(&[ID]).await;
    bench.clock.step(3_600_000);
    assert_eq!(bench.form_as(ID, "wrong", "/token", GRANT).await.status, 429);
}

/// The checks of a flooding address wait for each other, and none is forgotten.
#[tokio::test]
async fn a_flood_at_once_is_answered_one_by_one() {
    let bench = spent(&["cli_unknown"]).await;
    let (wrong, right) = (basic(ID, "wrong"), basic(ID, SECRET));
    let (wrong, right) = ([wrong.as_str()], [right.as_str()]);
    let send = |authorization| bench.send(OAuthRequest { authorization, ..asked("/token", GRANT) });
    let replies = tokio::join!(send(&wrong), send(&wrong), send(&right), send(&wrong));
    let statuses = [replies.0.status, replies.1.status, replies.2.status, replies.3.status];
    assert_eq!(statuses, [429, 429, 200, 429]);
}

/// Nobody learns by the work of the server which clients there are: what is looked up is the same, and so is the answer.
#[tokio::test]
async fn known_unknown_and_revoked_clients_take_the_same_work() {
    let bench = bench();
    bench.registry.state().clients[1].revoked_at = Some(Millis(START));
    let mut seen = Vec::new();
    for (id, secret) in [(ID, "wrong"), ("cli_unknown", "wrong"), (OTHER_ID, "wrong"), (OTHER_ID, OTHER_SECRET)] {
        bench.registry.state().registry_calls.clear();
        let reply = bench.form_as(id, secret, "/token", GRANT).await;
        let calls = bench.registry.state().registry_calls.clone();
        assert_eq!(calls, ["client", "login_record"], "{id}: one look-up in each place, and nothing else");
        seen.push((reply.status, reply.body, reply.headers));
    }
    assert_eq!(seen[0].0, 401);
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
}
