//! Client authentication at the token endpoint, and every way in which it fails.

use frontdesk_engine::model::caller::ClientId;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::Registry as _;
use frontdesk_identity::OAuthRequest;

use crate::support::{
    GRANT, ID, OTHER_ID, OTHER_SECRET, SECRET, START, asked, basic, bench, bench_with, client, error, header, text,
};

const INVALID_CLIENT: &str = r#"{"error":"invalid_client","error_description":"Send the client id and its current secret, with HTTP Basic or as client_id and client_secret in the form; or authenticate as the client was registered."}"#;

const ONCE: &str = r#"{"error":"invalid_request","error_description":"Send each parameter once."}"#;

const ONE_WAY: &str = r#"{"error":"invalid_request","error_description":"Authenticate once: with HTTP Basic, or with client_secret in the form."}"#;

const IN_THE_BODY: &str = r#"{"error":"invalid_request","error_description":"Send parameters in the body, not in the URL. Replace a secret that was sent in a URL."}"#;

const PAIRS: &str = r#"{"error":"invalid_request","error_description":"Send the parameters as name=value pairs joined by &, percent-encoded UTF-8."}"#;

#[tokio::test]
async fn the_secret_may_be_sent_in_the_form() {
    let bench = bench();
    let form = format!("{GRANT}&client_id={ID}&client_secret={SECRET}");
    assert_eq!(bench.send(asked("/token", &form)).await.status, 200);
}

/// Exactly what the official Python client (`mcp` 2.x) sends, with Basic and in the form.
#[tokio::test]
async fn the_request_of_the_official_python_client_is_accepted() {
    let bench = bench();
    let form = "grant_type=client_credentials&resource=https%3A%2F%2Fdesk.example%2Fmcp%2Fautomotive&scope=amcp%3Ainventory%3Aread";
    let authorization = &["Basic Y2xpX25vcnRoOmZkc19ub3J0aA=="];
    assert_eq!(bench.send(OAuthRequest { authorization, ..asked("/token", form) }).await.status, 200);
    let form = "grant_type=client_credentials&client_id=cli_north&client_secret=fds_north&resource=https%3A%2F%2Fdesk.example%2Fmcp%2Fautomotive&scope=amcp%3Ainventory%3Aread";
    assert_eq!(bench.send(asked("/token", form)).await.status, 200);
}

/// RFC 6749 §2.3.1 escapes id and secret before they are joined.
#[tokio::test]
async fn basic_credentials_are_unescaped() {
    let bench = bench();
    bench.registry.state().clients.push(client("cli a:b", "fds%é+", "north", "amcp:inventory:read"));
    assert_eq!(bench.form_as("cli+a%3Ab", "fds%25%C3%A9%2B", "/token", GRANT).await.status, 200);
    assert_eq!(error(&bench.form_as("cli+a%3Ab", "fds%25%C3%A9+", "/token", GRANT).await, 401), "invalid_client");
}

#[tokio::test]
async fn the_client_id_in_the_form_must_match_http_basic() {
    let bench = bench();
    assert_eq!(bench.form("/token", &format!("{GRANT}&client_id={ID}")).await.status, 200);
    let reply = bench.form("/token", &format!("{GRANT}&client_id={OTHER_ID}")).await;
    let refused = r#"{"error":"invalid_request","error_description":"Omit client_id from the form, or send the same one as in HTTP Basic."}"#;
    assert_eq!(text(&reply), (400, refused));
}

/// [L6] The same bytes and the same lookups, so that an answer does not reveal which clients exist.
#[tokio::test]
async fn unknown_wrong_and_revoked_clients_get_the_same_answer() {
    let bench = bench();
    bench.registry.revoke_client(&ClientId::new(OTHER_ID), Millis(START), String::new()).await.unwrap();
    bench.registry.state().registry_calls.clear();
    for (id, secret) in
        [("cli_nobody", SECRET), (ID, "wrong"), (ID, OTHER_SECRET), (OTHER_ID, OTHER_SECRET), ("", ""), (ID, "")]
    {
        let reply = bench.form_as(id, secret, "/token", GRANT).await;
        assert_eq!(text(&reply), (401, INVALID_CLIENT), "{id}");
        assert_eq!(header(&reply, "WWW-Authenticate"), Some("Basic realm=\"frontdesk\", charset=\"UTF-8\""));
        assert_eq!(header(&reply, "Cache-Control"), Some("no-store"));
        assert_eq!(std::mem::take(&mut bench.registry.state().registry_calls), ["client", "login_record"], "{id}");
    }
}

/// Client assertions are not supported.
#[tokio::test]
async fn a_client_without_credentials_is_refused() {
    let bench = bench();
    let no_secret = format!("{GRANT}&client_id={ID}");
    let no_id = format!("{GRANT}&client_secret={SECRET}");
    let empty = format!("{GRANT}&client_id={ID}&client_secret=");
    let assertion = format!("{GRANT}&client_id={ID}&client_assertion=eyJhbGciOiJub25lIn0..");
    for form in [GRANT, &no_secret, &no_id, &empty, &assertion] {
        assert_eq!(text(&bench.send(asked("/token", form)).await), (401, INVALID_CLIENT), "{form}");
    }
}

#[tokio::test]
async fn a_broken_or_foreign_authorization_header_is_refused() {
    let bench = bench();
    let good = basic(ID, SECRET);
    let tab = good.replace(' ', "\t");
    let twice = good.replace(' ', "  ");
    let newline = format!("{good}\n");
    let headers =
        ["Basic", "Basic ", "Basic ***", "Basic Y2xp", "Basic /w==", "Bearer abc", "Digest x", &tab, &twice, &newline];
    for value in headers {
        let reply = bench.send(OAuthRequest { authorization: &[value], ..asked("/token", GRANT) }).await;
        assert_eq!(text(&reply), (401, INVALID_CLIENT), "{value:?}");
    }
    let lower = good.replace("Basic", "basic");
    assert_eq!(bench.send(OAuthRequest { authorization: &[&lower], ..asked("/token", GRANT) }).await.status, 200);
}

/// [K40, O24] Also if both are valid, or the two headers are equal.
#[tokio::test]
async fn two_credentials_in_one_request_are_refused() {
    let bench = bench();
    let good = basic(ID, SECRET);
    let both = format!("{GRANT}&client_id={ID}&client_secret={SECRET}");
    let assertion = format!("{GRANT}&client_assertion=x");
    let secret_and_assertion = format!("{both}&client_assertion=x");
    let cases: [(&[&str], &str); 6] = [
        (&[&good, &good], GRANT),
        (&[&good, "Bearer x"], GRANT),
        (&[&good], &both),
        (&["Bearer x"], &both),
        (&[&good], &assertion),
        (&[], &secret_and_assertion),
    ];
    for (authorization, form) in cases {
        let reply = bench.send(OAuthRequest { authorization, ..asked("/token", form) }).await;
        assert_eq!(text(&reply), (400, ONE_WAY), "{form}");
    }
    assert!(bench.registry.state().registry_calls.is_empty());
}

/// [O24, K40] Any parameter in a URL is refused and not read.
#[tokio::test]
async fn parameters_in_the_url_are_refused() {
    let bench = bench();
    let good = basic(ID, SECRET);
    for query in ["client_secret=fds_north", "client_id=cli_north", "access_token=x", "Client%5Fsecret=x", "scope=a"] {
        for path in ["/token", "/revoke"] {
            let reply =
                bench.send(OAuthRequest { query: Some(query), authorization: &[&good], ..asked(path, GRANT) }).await;
            assert_eq!(text(&reply), (400, IN_THE_BODY), "{query}");
        }
    }
    let reply = bench.send(OAuthRequest { query: Some(""), authorization: &[&good], ..asked("/token", GRANT) }).await;
    assert_eq!(reply.status, 200);
}

/// [O12] Also with equal values, escaped names and unknown parameters.
#[tokio::test]
async fn a_duplicate_parameter_is_refused() {
    let bench = bench();
    let again = [
        "grant_type=client_credentials",
        "grant_type=password",
        "scope=amcp:leads:read",
        "scope=",
        "%73cope=amcp:leads:read",
        "client_id=cli_north&client_id=cli_north",
        "unknown=1&unknown=2",
    ];
    for again in again {
        let reply = bench.form("/token", &format!("{GRANT}&{again}")).await;
        assert_eq!(text(&reply), (400, ONCE), "{again}");
    }
    let posted = format!("{GRANT}&client_id={ID}&client_secret=wrong&client_secret={SECRET}");
    assert_eq!(text(&bench.send(asked("/token", &posted)).await), (400, ONCE));
}

#[tokio::test]
async fn a_malformed_form_is_refused() {
    let bench = bench();
    for form in ["scope", "a=1&&b=2", "&", "a=1&", "a=%", "a=%4", "a=%4g", "a=%+1", "a=%ff", "%c3=x"] {
        assert_eq!(text(&bench.form("/token", form).await), (400, PAIRS), "{form}");
    }
    let good = basic(ID, SECRET);
    let reply = bench.send(OAuthRequest { body: b"a=\xff", authorization: &[&good], ..asked("/token", "") }).await;
    assert_eq!(text(&reply), (400, PAIRS));
}

#[tokio::test]
async fn unknown_parameters_are_ignored() {
    let bench = bench();
    assert_eq!(bench.form("/token", &format!("{GRANT}&audience=x&a=b=c")).await.status, 200);
}

/// [I22]
#[tokio::test]
async fn only_form_content_types_are_accepted() {
    let bench = bench();
    let good = basic(ID, SECRET);
    for content_type in
        [None, Some(""), Some("application/json"), Some("text/plain"), Some("application/x-www-form-urlencodedx")]
    {
        let reply = bench.send(OAuthRequest { content_type, authorization: &[&good], ..asked("/token", GRANT) }).await;
        let refused = r#"{"error":"invalid_request","error_description":"Send Content-Type: application/x-www-form-urlencoded."}"#;
        assert_eq!(text(&reply), (415, refused), "{content_type:?}");
    }
    for content_type in ["Application/X-WWW-Form-Urlencoded", "application/x-www-form-urlencoded; charset=utf-8"] {
        let content_type = Some(content_type);
        let reply = bench.send(OAuthRequest { content_type, authorization: &[&good], ..asked("/token", GRANT) }).await;
        assert_eq!(reply.status, 200);
    }
}

#[tokio::test]
async fn other_methods_are_refused_and_cors_is_not_allowed() {
    let bench = bench();
    let good = basic(ID, SECRET);
    for method in ["GET", "HEAD", "PUT", "DELETE", "post"] {
        let reply = bench.send(OAuthRequest { method, authorization: &[&good], ..asked("/token", GRANT) }).await;
        assert_eq!((error(&reply, 405).as_str(), header(&reply, "Allow")), ("invalid_request", Some("POST, OPTIONS")));
    }
    let reply = bench.send(OAuthRequest { method: "OPTIONS", ..asked("/token", "") }).await;
    assert_eq!((reply.status, header(&reply, "Allow")), (204, Some("POST, OPTIONS")));
    assert_eq!(header(&reply, "Access-Control-Allow-Origin"), None);
}

/// [X13]
#[tokio::test]
async fn a_rate_limited_client_succeeds_after_retry_after() {
    let bench = bench_with(1000, 2);
    assert_eq!(bench.form("/token", GRANT).await.status, 200);
    assert_eq!(bench.form("/token", GRANT).await.status, 200);
    let reply = bench.form("/token", GRANT).await;
    let refused = r#"{"error":"temporarily_unavailable","error_description":"Too many requests. Retry after the seconds in Retry-After, and reuse a token until it expires."}"#;
    assert_eq!(text(&reply), (429, refused));
    assert_eq!(header(&reply, "Retry-After"), Some("30"));
    let leads = "grant_type=client_credentials&scope=amcp:leads:read";
    assert_eq!(bench.form_as(OTHER_ID, OTHER_SECRET, "/token", leads).await.status, 200);
    bench.advance(29_000);
    assert_eq!(bench.form("/token", GRANT).await.status, 429);
    bench.advance(1_000);
    assert_eq!(bench.form("/token", GRANT).await.status, 200);
}

/// The id of a client must not suffice to lock it out.
#[tokio::test]
async fn wrong_secrets_count_against_the_address_not_the_client() {
    let bench = bench_with(1000, 1);
    let elsewhere = |address: &str| OAuthRequest { address: address.parse().unwrap(), ..asked("/token", GRANT) };
    let wrong = basic(ID, "wrong");
    for _ in 0..10 {
        let reply = bench.send(OAuthRequest { authorization: &[&wrong], ..elsewhere("2001:db8:0:1::1") }).await;
        assert_eq!(reply.status, 401);
    }
    // All addresses of a /64 share a rate limit.
    let reply = bench.send(OAuthRequest { authorization: &[&wrong], ..elsewhere("2001:db8:0:1:ffff::2") }).await;
    assert_eq!((reply.status, header(&reply, "Retry-After")), (429, Some("6")));
    let reply = bench.send(OAuthRequest { authorization: &[&wrong], ..elsewhere("2001:db8:0:2::1") }).await;
    assert_eq!(reply.status, 401);
    assert_eq!(bench.form("/token", GRANT).await.status, 200);
}
