//! Tokens of an authenticated client: scopes, resource, lifetime.

use frontdesk_engine::model::caller::Scopes;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::seal::sha256;
use frontdesk_testkit::memory_store::{ClientChange, InjectedFault};

use crate::support::{
    FIRST_TOKEN, GRANT, ID, OTHER_ID, OTHER_SECRET, RESOURCE, SECOND_RESOURCE, START, bench, client, error, header,
    text,
};

const MAY_HAVE: &str = r#"{"error":"invalid_scope","error_description":"Send scope names separated by one space. This client is allowed: amcp:inventory:read amcp:leads:read amcp:leads:write"}"#;

/// [A6-01, A6-04]
#[tokio::test]
async fn a_client_gets_a_token_of_which_only_the_hash_is_stored() {
    let bench = bench();
    let reply = bench.form("/token", GRANT).await;
    let granted = r#"{"access_token":"fdt_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE","token_type":"Bearer","expires_in":300,"scope":"amcp:inventory:read"}"#;
    assert_eq!(text(&reply), (200, granted));
    assert_eq!(header(&reply, "Content-Type"), Some("application/json"));
    assert_eq!(header(&reply, "Cache-Control"), Some("no-store"));
    assert_eq!(header(&reply, "Pragma"), Some("no-cache"));
    assert_eq!(header(&reply, "Access-Control-Allow-Origin"), None);
    let state = bench.registry.state();
    let kept = &state.tokens[0];
    assert_eq!((kept.hash, kept.resource.as_str()), (sha256(FIRST_TOKEN.as_bytes()), RESOURCE));
    assert_eq!((kept.client.as_str(), kept.tenants[0].as_str()), (ID, "north"));
    assert_eq!(kept.expires_at, Millis(START + 300_000));
}

/// [A6-08]
#[tokio::test]
async fn the_granted_scope_is_the_requested_scope() {
    let bench = bench();
    for scope in ["amcp:leads:read", "amcp:leads:write", "amcp:inventory:read amcp:leads:write"] {
        let form = format!("grant_type=client_credentials&scope={}", scope.replace(' ', "+"));
        let reply = bench.form("/token", &form).await;
        let answer: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(answer["scope"], scope);
        assert_eq!(bench.registry.state().tokens.last().unwrap().scopes, Scopes::parse(scope).unwrap());
    }
}

/// [A6-08] Also with an empty parameter.
#[tokio::test]
async fn a_request_without_scope_gets_the_default_scope() {
    let bench = bench();
    for form in ["grant_type=client_credentials", "grant_type=client_credentials&scope="] {
        let reply = bench.form("/token", form).await;
        let answer: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(answer["scope"], "amcp:inventory:read");
    }
}

#[tokio::test]
async fn a_client_without_the_default_scope_gets_its_scopes_listed() {
    let bench = bench();
    let reply = bench.form_as(OTHER_ID, OTHER_SECRET, "/token", "grant_type=client_credentials").await;
    let refused = r#"{"error":"invalid_scope","error_description":"Send scope names separated by one space. This client is allowed: amcp:leads:read"}"#;
    assert_eq!(text(&reply), (400, refused));
    assert!(bench.registry.state().tokens.is_empty());
}

/// [A6-08, S7] Scopes of another client and unknown ones are not granted, and the answer says what is.
#[tokio::test]
async fn a_request_for_more_is_narrowed_to_what_the_client_may_have() {
    let bench = bench();
    for wide in ["amcp:leads:read+amcp:leads:write", "no:such:scope+amcp:leads:read", "*+amcp:leads:read"] {
        let form = format!("grant_type=client_credentials&scope={wide}");
        let reply = bench.form_as(OTHER_ID, OTHER_SECRET, "/token", &form).await;
        let answer: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!((reply.status, &answer["scope"]), (200, &"amcp:leads:read".into()), "{wide}");
        assert_eq!(bench.registry.state().tokens.last().unwrap().scopes, Scopes::parse("amcp:leads:read").unwrap());
    }
}

/// [S7] A scope of another client, one that nobody has, and one that the resource does not have.
#[tokio::test]
async fn a_request_for_only_forbidden_scopes_gets_no_token() {
    let bench = bench();
    for foreign in ["amcp:leads:write", "no:such:scope", "amcp:leads:write+no:such:scope"] {
        let form = format!("grant_type=client_credentials&scope={foreign}");
        let reply = bench.form_as(OTHER_ID, OTHER_SECRET, "/token", &form).await;
        assert_eq!(error(&reply, 400), "invalid_scope", "{foreign}");
    }
    let elsewhere = format!("{GRANT}&resource={SECOND_RESOURCE}");
    let reply = bench.form("/token", &elsewhere).await;
    let refused = r#"{"error":"invalid_scope","error_description":"Send scope names separated by one space. This client is allowed: amcp:leads:read"}"#;
    assert_eq!(text(&reply), (400, refused));
    assert!(bench.registry.state().tokens.is_empty());
}

#[tokio::test]
async fn a_client_without_a_scope_for_the_resource_gets_no_token() {
    let bench = bench();
    bench.registry.state().clients.push(client("cli_bare", "fds_bare", "north", "far:away"));
    let reply = bench.form_as("cli_bare", "fds_bare", "/token", "grant_type=client_credentials").await;
    let refused = r#"{"error":"invalid_scope","error_description":"This client has no scope for this resource. Ask the operator for one."}"#;
    assert_eq!(text(&reply), (400, refused));
}

/// [S6]
#[tokio::test]
async fn scope_string_tricks_are_refused_and_not_echoed() {
    let bench = bench();
    let tricks = [
        "amcp:leads:read%09amcp:leads:write",
        "amcp:leads:read%0Aamcp:leads:write",
        "amcp:leads:read++amcp:leads:write",
        "+amcp:leads:read",
        "amcp:leads:read+",
        "+",
        "amcp:leads:writeX",
        "amcp:leads",
        "amcp:leads:*",
        "AMCP:LEADS:READ",
        "amcp:leads:r%C3%A9ad",
        "amcp:leads:read%E2%80%8B",
        "%22amcp:leads:read%22",
        "amcp:leads:read%5C",
        "amcp:leads:read%00",
        "amcp:leads:read,amcp:leads:write",
    ];
    for trick in tricks {
        let reply = bench.form("/token", &format!("grant_type=client_credentials&scope={trick}")).await;
        assert_eq!(text(&reply), (400, MAY_HAVE), "{trick}");
    }
    assert!(bench.registry.state().tokens.is_empty());
}

/// [A6-02]
#[tokio::test]
async fn a_client_with_a_secret_has_only_client_credentials() {
    let bench = bench();
    for grant in ["password&username=a&password=b", "implicit", "Client_Credentials"] {
        let reply = bench.form("/token", &format!("grant_type={grant}")).await;
        let refused = r#"{"error":"unsupported_grant_type","error_description":"The supported grant types are client_credentials, authorization_code and refresh_token."}"#;
        assert_eq!(text(&reply), (400, refused), "{grant}");
    }
    for grant in ["authorization_code&code=x", "refresh_token&refresh_token=x"] {
        let reply = bench.form("/token", &format!("grant_type={grant}")).await;
        assert_eq!(error(&reply, 400), "unauthorized_client", "{grant}");
    }
    let reply = bench.form("/token", "scope=amcp:leads:read").await;
    let refused = r#"{"error":"invalid_request","error_description":"Send the parameter grant_type."}"#;
    assert_eq!(text(&reply), (400, refused));
}

/// [A6-05]
#[tokio::test]
async fn a_token_is_bound_to_the_requested_resource() {
    let bench = bench();
    let form = format!("grant_type=client_credentials&scope=amcp:leads:read&resource={SECOND_RESOURCE}");
    assert_eq!(bench.form("/token", &form).await.status, 200);
    assert_eq!(bench.registry.state().tokens[0].resource, SECOND_RESOURCE);
}

#[tokio::test]
async fn a_resource_is_compared_byte_for_byte() {
    let bench = bench();
    let strangers = [
        "https://desk.example/mcp/automotive/",
        "https://desk.example/mcp/automotiv",
        "https://desk.example",
        "HTTPS://desk.example/mcp/automotive",
        "https://desk.example:443/mcp/automotive",
        "https://evil.example/mcp/automotive",
        "/mcp/automotive",
    ];
    for stranger in strangers {
        let reply = bench.form("/token", &format!("{GRANT}&resource={stranger}")).await;
        let refused = r#"{"error":"invalid_target","error_description":"Send as resource exactly the URL in the protected resource metadata."}"#;
        assert_eq!(text(&reply), (400, refused), "{stranger}");
    }
}

#[tokio::test]
async fn two_resources_in_one_request_are_refused() {
    let bench = bench();
    let reply = bench.form("/token", &format!("{GRANT}&resource={RESOURCE}&resource={SECOND_RESOURCE}")).await;
    let refused = r#"{"error":"invalid_target","error_description":"A token is valid for one resource. Send the resource parameter once."}"#;
    assert_eq!(text(&reply), (400, refused));
}

#[tokio::test]
async fn a_client_without_a_tenant_gets_no_token() {
    let bench = bench();
    bench.registry.state().clients[0].tenants.clear();
    let reply = bench.form("/token", GRANT).await;
    let refused = r#"{"error":"unauthorized_client","error_description":"This client belongs to no tenant. Ask the operator to register it for one."}"#;
    assert_eq!(text(&reply), (400, refused));
    assert!(bench.registry.state().tokens.is_empty());
}

#[tokio::test]
async fn a_client_revoked_during_the_grant_gets_no_token() {
    for meanwhile in [ClientChange::Revoked, ClientChange::Rotated(sha256(b"fds_new"))] {
        let bench = bench();
        bench.registry.inject(|faults| faults.before_token = Some(meanwhile));
        assert_eq!(error(&bench.form("/token", GRANT).await, 401), "invalid_client");
        assert!(bench.registry.state().tokens.is_empty());
    }
}

#[tokio::test]
async fn an_unavailable_store_is_reported_as_503() {
    let bench = bench();
    bench.registry.inject(|faults| faults.registry = InjectedFault::Fail);
    let reply = bench.form("/token", GRANT).await;
    let refused = r#"{"error":"temporarily_unavailable","error_description":"The service cannot do this right now; nothing was changed. Try again."}"#;
    assert_eq!(text(&reply), (503, refused));
    assert_eq!(header(&reply, "Retry-After"), Some("1"));
}

#[tokio::test]
async fn every_request_is_logged_once_without_its_secrets() {
    let bench = bench();
    bench.form("/token", GRANT).await;
    bench.form_as(ID, "wrong", "/token", GRANT).await;
    bench.registry.inject(|faults| faults.registry = InjectedFault::Fail);
    bench.form("/revoke", "token=x").await;
    let at = r#"{"at":"2026-09-21T14:13:20Z","trace":"trace-1","contract":"identity""#;
    let lines = [
        format!(r#"{at},"client":"cli_north","address":"192.0.2.1","method":"token","outcome":"ok"}} -"#),
        format!(r#"{at},"address":"192.0.2.1","method":"token","outcome":"invalid_client"}} -"#),
        format!(
            r#"{at},"address":"192.0.2.1","method":"revoke","outcome":"temporarily_unavailable"}} injected failure"#
        ),
    ];
    assert_eq!(bench.log.lines_with_causes(), lines);
}
