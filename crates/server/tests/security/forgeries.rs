//! Tokens that somebody else made, in the form that other servers sign. Here a token is a secret that was handed out
//! and nothing is read in it, so each of these is only unknown: one answer, and nobody is asked about it.

use std::io::ErrorKind;
use std::net::TcpListener;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::requests::{bare, pings};
use frontdesk_testkit::app::{DemoTenant, EVERYTHING, TestApp};

/// What no forger knows, and what is therefore made up.
const SIGNATURE: &str = "c2lnbmVkIGJ5IG5vYm9keQ";

fn forged(header: &Value, claims: &Value, signature: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{signature}", part(header), part(claims))
}

#[tokio::test]
async fn a_signed_token_is_unknown_here_without_a_look_up() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let (client, secret, dealership) = desk.credentials(DemoTenant::Lakeside);
    let issuer = format!("https://localhost:{}", desk.address.port());
    // Where the forger keeps keys; whoever fetches them is seen.
    let keys = TcpListener::bind("127.0.0.1:0").unwrap();
    keys.set_nonblocking(true).unwrap();
    let elsewhere = format!("http://{}/keys.json", keys.local_addr().unwrap());
    let key = json!({"kty": "oct", "k": URL_SAFE_NO_PAD.encode(&secret)});
    let claims = json!({"iss": issuer, "aud": format!("{issuer}/mcp/automotive"), "sub": client, "client_id": client,
        "scope": EVERYTHING, "dealership_id": dealership, "iat": 1_767_225_600, "exp": 4_102_444_800_u64, "jti": "1"});
    let mut tokens = Vec::new();
    for (header, signature) in [
        (json!({"alg": "none"}), ""),
        (json!({"alg": "nOnE", "typ": "at+jwt"}), ""),
        (json!({"alg": "none"}), SIGNATURE),
        (json!({"alg": "ES256"}), ""),
        (json!({"alg": "HS256"}), SIGNATURE),
        (json!({"alg": "HS256", "kid": ""}), SIGNATURE),
        (json!({"alg": "RS256", "kid": "main"}), SIGNATURE),
        (json!({"alg": "HS256", "jwk": key}), SIGNATURE),
        (json!({"alg": "RS256", "jku": elsewhere}), SIGNATURE),
        (json!({"alg": "RS256", "x5u": elsewhere}), SIGNATURE),
        (json!({"alg": "HS256", "kid": "../../../../dev/null"}), SIGNATURE),
        (json!({"alg": "HS256", "kid": "x' UNION SELECT 'AA' --"}), SIGNATURE),
        (json!({"alg": "HS256", "kid": "k".repeat(6000)}), SIGNATURE),
        (
            json!({"alg": "ES256"}),
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ),
        (json!({"alg": "RS256", "crit": ["unknown"], "unknown": true}), SIGNATURE),
        (json!({"alg": "HS256", "crit": ["b64"], "b64": false}), SIGNATURE),
        (json!({"alg": "RSA-OAEP", "enc": "A256GCM"}), "a.b.c"),
    ] {
        tokens.push(forged(&header, &claims, signature));
    }
    for (claim, value) in [
        ("iss", json!(elsewhere)),
        ("iss", json!([issuer])),
        ("aud", json!([])),
        ("aud", json!(null)),
        ("exp", json!(-1)),
        ("exp", json!("4102444800")),
        ("exp", json!(1e300)),
        ("nbf", json!(4_102_444_800_u64)),
        ("cnf", json!({"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"})),
        ("scope", json!("*")),
    ] {
        let mut claims = claims.clone();
        claims[claim] = value;
        tokens.push(forged(&json!({"alg": "ES256", "typ": "JWT"}), &claims, SIGNATURE));
    }
    // The real token dressed up as one of them, and in padding.
    tokens.push(format!("{}.{}.", forged(&json!({"alg": "none"}), &claims, ""), agent.token));
    tokens.push(format!("{}==", agent.token));

    let unknown = bare(&desk, &[("authorization", "Bearer nobodys")]).await;
    assert_eq!((unknown.status, unknown.json()["error"]["code"].clone()), (401, json!("auth.unauthorized")));
    for token in &tokens {
        let refused = bare(&desk, &[("authorization", &format!("Bearer {token}"))]).await;
        assert_eq!((refused.status, &refused.body), (401, &unknown.body), "{token}");
        assert_eq!(refused.header("www-authenticate"), unknown.header("www-authenticate"), "{token}");
    }
    assert_eq!(keys.accept().err().map(|none| none.kind()), Some(ErrorKind::WouldBlock), "keys were fetched");
    assert_eq!(pings(&mut agent).await, 200);
}
