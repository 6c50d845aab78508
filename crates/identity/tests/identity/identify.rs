//! Identification by token: resource, expiry, and how soon a revocation takes effect.

use std::time::Duration;

use frontdesk_engine::model::caller::{ClientId, Scopes};
use frontdesk_engine::model::fault::{Fault, FaultKind};
use frontdesk_engine::model::incoming::Credential;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::Identity as _;
use frontdesk_engine::ports::registry::Registry as _;
use frontdesk_engine::seal::sha256;
use frontdesk_testkit::memory_store::InjectedFault;

use crate::support::{FIRST_TOKEN, GRANT, ID, RESOURCE, SECOND_RESOURCE, START, bench, bench_with};

fn assert_refused(fault: &Fault) {
    assert_eq!(fault.kind, FaultKind::Unauthenticated);
    assert_eq!(
        fault.message,
        "The access token is invalid for this resource or has expired. Request a new one from the token endpoint."
    );
    assert_eq!(fault.cause, None);
}

#[tokio::test]
async fn a_token_identifies_its_caller() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    let caller = bench.identify(&token, RESOURCE).await.unwrap();
    assert_eq!((caller.client.as_str(), &*caller.subject), (ID, ID));
    assert_eq!(caller.tenants[0].as_str(), "north");
    assert_eq!((caller.tenants.len(), caller.scopes.to_string()), (1, "amcp:inventory:read".to_owned()));
    assert_eq!(caller.authenticated_at, None);
}

/// [A6-06] No leeway, because the issuer and the verifier share a clock. With and without a cache.
#[tokio::test]
async fn a_token_expires_to_the_millisecond() {
    for cache in [0, 1000] {
        let bench = bench_with(cache, 60);
        let token = bench.token(GRANT).await;
        bench.advance(299_999);
        assert!(bench.identify(&token, RESOURCE).await.is_ok());
        bench.advance(1);
        assert_refused(&bench.identify(&token, RESOURCE).await.unwrap_err());
    }
}

/// [A6-05] Byte for byte, also if the token is cached.
#[tokio::test]
async fn a_token_is_valid_for_its_own_resource_only() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    for resource in [SECOND_RESOURCE, "https://desk.example/mcp/automotive/", "https://desk.example", ""] {
        assert_refused(&bench.identify(&token, resource).await.unwrap_err());
    }
}

/// [K40, K39]
#[tokio::test]
async fn a_malformed_token_is_refused_without_a_lookup() {
    let bench = bench();
    bench.token(GRANT).await;
    bench.registry.state().registry_calls.clear();
    let mutations = [
        String::new(),
        "fdt_".to_owned(),
        format!("{FIRST_TOKEN}="),
        format!("{FIRST_TOKEN}\n"),
        format!("\t{FIRST_TOKEN}"),
        format!(" {FIRST_TOKEN}"),
        FIRST_TOKEN.replace("fdt_", "FDT_"),
        FIRST_TOKEN.replace("fdt_", "fds_"),
        FIRST_TOKEN.replace("fdt_A", "fdt_+"),
        FIRST_TOKEN.replace("fdt_A", "fdt_é"),
        "eyJhbGciOiJub25lIn0.e30.".to_owned(),
        format!("fdt_{}", "A".repeat(10_000)),
    ];
    for mutation in mutations {
        assert_refused(&bench.identify(&mutation, RESOURCE).await.unwrap_err());
    }
    for credential in [Credential::Missing, Credential::Unusable] {
        assert_refused(&bench.server.identify(&credential, RESOURCE).await.unwrap_err());
    }
    assert!(bench.registry.state().registry_calls.is_empty());
}

#[tokio::test]
async fn an_unknown_token_is_refused() {
    let bench = bench();
    bench.token(GRANT).await;
    let twin = FIRST_TOKEN.replace("QE", "QF");
    assert_refused(&bench.identify(&twin, RESOURCE).await.unwrap_err());
}

/// [K41] The engine refuses everything that needs a scope.
#[tokio::test]
async fn a_token_without_scopes_has_a_caller_without_scopes() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    bench.registry.state().tokens[0].scopes = Scopes::default();
    assert!(bench.identify(&token, RESOURCE).await.unwrap().scopes.is_empty());
}

/// [K43] Never a 401: a client would discard a valid token.
#[tokio::test]
async fn an_unavailable_store_does_not_invalidate_a_token() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    bench.registry.inject(|faults| faults.registry = InjectedFault::Fail);
    let fault = bench.identify(&token, RESOURCE).await.unwrap_err();
    assert_eq!((fault.kind, fault.cause.as_deref()), (FaultKind::Unavailable, Some("injected failure")));
}

#[tokio::test]
async fn a_busy_token_is_looked_up_once_per_ttl() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    bench.registry.state().registry_calls.clear();
    for _ in 0..10 {
        assert!(bench.identify(&token, RESOURCE).await.is_ok());
        bench.advance(200);
    }
    assert_eq!(bench.registry.state().registry_calls, ["token", "token"]);
}

#[tokio::test]
async fn revoking_a_client_takes_effect_within_the_cache_ttl() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    bench.registry.revoke_client(&ClientId::new(ID), Millis(START), String::new()).await.unwrap();
    bench.advance(999);
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    bench.advance(1);
    assert_refused(&bench.identify(&token, RESOURCE).await.unwrap_err());
}

#[tokio::test]
async fn rotating_a_secret_revokes_its_tokens() {
    let bench = bench_with(0, 60);
    let token = bench.token(GRANT).await;
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    bench.registry.rotate_client(&ClientId::new(ID), sha256(b"fds_new"), String::new()).await.unwrap();
    assert_refused(&bench.identify(&token, RESOURCE).await.unwrap_err());
    assert_eq!(bench.form("/token", GRANT).await.status, 401);
    assert_eq!(bench.form_as(ID, "fds_new", "/token", GRANT).await.status, 200);
}

#[tokio::test]
async fn constant_use_does_not_delay_a_revocation() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    bench.registry.state().tokens.clear();
    for _ in 0..9 {
        bench.advance(100);
        assert!(bench.identify(&token, RESOURCE).await.is_ok());
    }
    bench.advance(100);
    assert_refused(&bench.identify(&token, RESOURCE).await.unwrap_err());
}

#[tokio::test]
async fn the_cache_ttl_is_one_second_at_most() {
    let bench = bench_with(Duration::from_secs(3600).as_millis() as u64, 60);
    let token = bench.token(GRANT).await;
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    bench.registry.state().tokens.clear();
    bench.advance(1000);
    assert_refused(&bench.identify(&token, RESOURCE).await.unwrap_err());
}

/// [X19]
#[tokio::test]
async fn a_clock_set_back_does_not_delay_a_revocation() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    bench.registry.state().tokens.clear();
    bench.advance(900);
    bench.clock.step(-3_600_000);
    bench.advance(100);
    assert_refused(&bench.identify(&token, RESOURCE).await.unwrap_err());
    // Nor one that is set back by exactly the age of the entry.
    let token = bench.token(GRANT).await;
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    bench.registry.state().tokens.clear();
    bench.advance(900);
    bench.clock.step(-900);
    bench.advance(100);
    assert_refused(&bench.identify(&token, RESOURCE).await.unwrap_err());
}

/// A token works as soon as it exists.
#[tokio::test]
async fn an_unknown_token_is_not_cached() {
    let bench = bench();
    assert_refused(&bench.identify(FIRST_TOKEN, RESOURCE).await.unwrap_err());
    assert_eq!(bench.token(GRANT).await, FIRST_TOKEN);
    assert!(bench.identify(FIRST_TOKEN, RESOURCE).await.is_ok());
}

#[tokio::test]
async fn unknown_tokens_do_not_evict_cached_ones() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    for number in 0..20_000 {
        assert!(bench.identify(&format!("fdt_{number:043}"), RESOURCE).await.is_err());
    }
    bench.registry.state().registry_calls.clear();
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    assert!(bench.registry.state().registry_calls.is_empty());
}

/// With more tokens than entries the oldest are looked up again; none is refused.
#[tokio::test]
async fn more_tokens_than_cache_entries_are_all_accepted() {
    let bench = bench();
    bench.token(GRANT).await;
    let one = bench.registry.state().tokens[0].clone();
    for number in 0..12_000 {
        let text = format!("fdt_{number:043}");
        // One row at a time keeps the lookups of this registry fast.
        bench.registry.state().tokens[0].hash = sha256(text.as_bytes());
        assert!(bench.identify(&text, RESOURCE).await.is_ok());
    }
    bench.registry.state().tokens[0] = one;
    let cached = |number: usize| format!("fdt_{number:043}");
    assert!(bench.identify(&cached(11_999), RESOURCE).await.is_ok());
    assert!(bench.identify(&cached(5_000), RESOURCE).await.is_ok());
    assert!(bench.identify(&cached(4_999), RESOURCE).await.is_err());
}
