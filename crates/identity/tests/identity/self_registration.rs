//! Clients that register themselves, that are described by a document, and that prove who they are with a signature.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::http_client::{
    DocumentRequest, HttpClient, HttpError, HttpRequest, HttpResponse, NoHttpClient,
};
use frontdesk_identity::{ClientDocuments, LoginSettings, OAuthRequest, Registration};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::people::{People, REDIRECT, Tokens, encode, html, people, people_with};
use crate::support::{asked, error, header};

const DOCUMENT: &str = "https://agent.example/client.json";

fn open() -> LoginSettings {
    LoginSettings { registration: Registration::On, max_clients: 5, ..LoginSettings::default() }
}

async fn register(people: &People, metadata: &Value) -> frontdesk_engine::model::reply::Reply {
    let body = metadata.to_string();
    people.bench.send(OAuthRequest { content_type: Some("application/json"), ..asked("/register", &body) }).await
}

/// [O26, O31] Off unless it is switched on, and then only with what is useful.
#[tokio::test]
async fn a_client_registers_itself_where_that_is_on() {
    let closed = people().await;
    assert!(closed.bench.server.answer(asked("/register", "{}")).await.is_none());
    let people = people_with(open(), Arc::new(NoHttpClient)).await;
    let metadata = json!({"redirect_uris": ["http://localhost:6274/oauth/callback"], "client_name": "Inspector",
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"], "scope": "amcp:inventory:read", "application_type": "native",
        "logo_uri": "https://evil.example/logo.svg"});
    let reply = register(&people, &metadata).await;
    let answer: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((reply.status, header(&reply, "Cache-Control")), (201, Some("no-store")), "{answer}");
    assert!(answer["client_id"].as_str().unwrap().starts_with("dcr_") && answer.get("client_secret").is_none());
    // What it named as scope is no limit.
    let id = answer["client_id"].as_str().unwrap().to_owned();
    let query = people.query(&[("client_id", &id), ("redirect_uri", "http://localhost:6274/oauth/callback")]);
    let code = people.logged_in().await.code(&query).await;
    let form = people
        .redemption(&code)
        .replace(&encode(&[("x", REDIRECT)])[2..], "http%3A%2F%2Flocalhost%3A6274%2Foauth%2Fcallback");
    let tokens = Tokens::of(&people.post("/token", &form.replace(&people.client, &id)).await);
    assert_eq!(tokens.scope, crate::people::ALL);
    for (bad, code) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({"redirect_uris": []}), "invalid_redirect_uri"),
        (json!({"redirect_uris": ["http://evil.example/cb"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": ["javascript:alert(1)"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": vec![REDIRECT; 1000]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": [REDIRECT], "client_name": "x".repeat(101)}), "invalid_client_metadata"),
        (json!({"redirect_uris": [REDIRECT], "client_name": "a\u{202e}b"}), "invalid_client_metadata"),
        (
            json!({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "tls_client_auth"}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "private_key_jwt"}),
            "invalid_client_metadata",
        ),
        (json!([]), "invalid_client_metadata"),
    ] {
        assert_eq!(error(&register(&people, &bad).await, 400), code, "{bad}");
    }
}

/// [O26] There is an end to it, and what nobody uses goes.
#[tokio::test]
async fn registrations_are_capped_and_expire() {
    let people = people_with(open(), Arc::new(NoHttpClient)).await;
    let metadata = json!({"redirect_uris": [REDIRECT]});
    let mut statuses = Vec::new();
    for _ in 0..6 {
        statuses.push(register(&people, &metadata).await.status);
    }
    // One client is the operator's.
    assert_eq!(statuses, [201, 201, 201, 201, 503, 503]);
    people.bench.advance(24 * 60 * 60 * 1000);
    people.logged_in().await;
    assert_eq!(register(&people, &metadata).await.status, 201);
    let mut limited = 0;
    for _ in 0..40 {
        limited += usize::from(register(&people, &json!({})).await.status == 429);
    }
    assert!(limited >= 15, "{limited}");
}

/// Answers with what a test says, and remembers what was asked for.
struct Documents {
    answer: Mutex<Result<HttpResponse, HttpError>>,
    asked: Mutex<Vec<String>>,
}

impl HttpClient for Documents {
    fn post<'a>(&'a self, _: HttpRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        Box::pin(std::future::ready(Err(HttpError::Refused)))
    }

    fn get<'a>(&'a self, request: DocumentRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        assert_eq!(request.max_response, 5 * 1024);
        self.asked.lock().unwrap().push(request.url);
        Box::pin(std::future::ready(self.answer.lock().unwrap().clone()))
    }
}

fn documents(document: &Value) -> Arc<Documents> {
    Arc::new(Documents { answer: Mutex::new(Ok(response(document))), asked: Mutex::default() })
}

fn response(document: &Value) -> HttpResponse {
    HttpResponse {
        status: 200,
        body: document.to_string().into(),
        content_type: Some("application/json; charset=utf-8".to_owned()),
        max_age: Some(600),
    }
}

fn described() -> Value {
    json!({"client_id": DOCUMENT, "client_name": "Agent", "redirect_uris": [REDIRECT]})
}

/// [O27] One that is right is fetched once while it is kept, and says on the page where it is from.
#[tokio::test]
async fn a_client_may_be_described_by_a_document() {
    let http = documents(&described());
    let people = people_with(LoginSettings::default(), http.clone()).await;
    let mut browser = people.logged_in().await;
    let query = people.query(&[("client_id", DOCUMENT)]);
    let page = browser.get("/authorize", &query).await;
    assert!(html(&page).contains("<code id=\"client-origin\">(agent.example)</code>"), "{}", html(&page));
    let code = browser.code(&query).await;
    let form = people.redemption(&code).replace(&people.client, &encode(&[("x", DOCUMENT)])[2..]);
    assert_eq!(people.post("/token", &form).await.status, 200);
    assert_eq!(*http.asked.lock().unwrap(), [DOCUMENT]);
    // Changed redirect URIs take effect when the kept document is too old.
    let changed =
        json!({"client_id": DOCUMENT, "client_name": "Agent", "redirect_uris": ["https://agent.example/new"]});
    *http.answer.lock().unwrap() = Ok(response(&changed));
    people.bench.advance(600_000);
    assert_eq!(browser.get("/authorize", &query).await.status, 400);
}

/// [O27] Whatever is wrong with a document or its address, the client is unknown.
#[tokio::test]
async fn a_wrong_document_is_no_client() {
    let http = documents(&described());
    let people = people_with(LoginSettings::default(), http.clone()).await;
    let mut browser = people.logged_in().await;
    for id in [
        "https://agent.example",
        "https://agent.example/",
        "https://agent.example/client.json#x",
        "https://agent.example/client.json?x",
        "https://user@agent.example/client.json",
        "https://agent.example/../client.json",
        "https://agent.example/%2e%2e/client.json",
        "https://AGENT.example/client.json",
        "https://0x7f.1/client.json",
        "https://2130706433/client.json",
        "http://agent.example/client.json",
    ] {
        assert_eq!(browser.get("/authorize", &people.query(&[("client_id", id)])).await.status, 400, "{id}");
    }
    assert!(http.asked.lock().unwrap().is_empty());
    let with = |name: &str, value: Value| {
        let mut document = described();
        document[name] = value;
        Ok(response(&document))
    };
    for answer in [
        with("client_id", json!("https://agent.example/other.json")),
        with("client_name", json!(null)),
        with("client_name", json!("x".repeat(101))),
        with("redirect_uris", json!(["http://agent.example/cb"])),
        with("client_secret", json!("x")),
        with("client_secret_expires_at", json!(0)),
        with("token_endpoint_auth_method", json!("client_secret_basic")),
        Ok(HttpResponse { content_type: Some("text/html".to_owned()), ..response(&described()) }),
        Ok(HttpResponse { content_type: None, ..response(&described()) }),
        Ok(HttpResponse { status: 302, ..response(&described()) }),
        Ok(HttpResponse { body: b"\x1f\x8b\x08".to_vec().into(), ..response(&described()) }),
        Ok(HttpResponse { body: "{\"client_id\":\"a\",\"client_id\":\"b\"}".into(), ..response(&described()) }),
        Err(HttpError::Refused),
        Err(HttpError::TooLarge),
        Err(HttpError::TimedOut),
    ] {
        *http.answer.lock().unwrap() = answer.clone();
        assert_eq!(
            browser.get("/authorize", &people.query(&[("client_id", DOCUMENT)])).await.status,
            400,
            "{answer:?}"
        );
        people.bench.advance(60_000);
    }
    for policy in [ClientDocuments::Off, ClientDocuments::Hosts(vec!["other.example".to_owned()])] {
        let http = documents(&described());
        let settings = LoginSettings { client_documents: policy, ..LoginSettings::default() };
        let people = people_with(settings, http.clone()).await;
        let query = people.query(&[("client_id", DOCUMENT)]);
        assert_eq!(people.browser().get("/authorize", &query).await.status, 400);
        assert!(http.asked.lock().unwrap().is_empty());
    }
}

struct SigningClient {
    key: EcdsaKeyPair,
    random: SystemRandom,
}

impl SigningClient {
    fn new() -> SigningClient {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap();
        SigningClient { key, random }
    }

    fn jwks(&self) -> Value {
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "one", "use": "sig", "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y)}]})
    }

    fn assertion(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let signature = self.key.sign(&self.random, signed.as_bytes()).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

/// [O24, O25]
#[tokio::test]
async fn a_signed_assertion_is_for_us_now_and_once() {
    let people = people_with(open(), Arc::new(NoHttpClient)).await;
    let signer = SigningClient::new();
    let metadata =
        json!({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "private_key_jwt", "jwks": signer.jwks()});
    let answer: Value = serde_json::from_slice(&register(&people, &metadata).await.body).unwrap();
    let id = answer["client_id"].as_str().unwrap().to_owned();
    let now = 1_790_000_000;
    let claims =
        json!({"iss": id, "sub": id, "aud": "https://desk.example/token", "exp": now + 300, "iat": now, "jti": "one"});
    let header = json!({"alg": "ES256", "kid": "one", "typ": "JWT"});
    let redeem = async |assertion: &str, more: &[(&str, &str)]| {
        let mut fields = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", "x"),
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", assertion),
        ];
        fields.extend_from_slice(more);
        people.post("/token", &encode(&fields)).await
    };
    let good = signer.assertion(&header, &claims);
    // The client is known: only its refresh token is not.
    assert_eq!(error(&redeem(&good, &[]).await, 400), "invalid_grant");
    assert_eq!(error(&redeem(&good, &[]).await, 401), "invalid_client", "it was used");
    let changed = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims["jti"] = json!(format!("{name}{value}"));
        claims[name] = value;
        signer.assertion(&header, &claims)
    };
    let other = SigningClient::new();
    let none = format!(
        "{}.",
        good.rsplit_once('.')
            .unwrap()
            .0
            .replace(&URL_SAFE_NO_PAD.encode(header.to_string()), &URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#))
    );
    let fresh = json!({"iss": id, "sub": id, "aud": "https://desk.example", "exp": now + 60, "jti": "two"});
    for (what, wrong) in [
        ("aud", changed("aud", json!("https://evil.example/token"))),
        ("aud", changed("aud", json!(["https://desk.example/token", "https://evil.example"]))),
        ("aud", changed("aud", json!("https://desk.example/tokens"))),
        ("exp", changed("exp", json!(now + 331))),
        ("exp", changed("exp", json!(now - 31))),
        ("exp", changed("exp", json!("soon"))),
        ("nbf", changed("nbf", json!(now + 60))),
        ("iss", changed("iss", json!("dcr_other"))),
        ("sub", changed("sub", json!("dcr_other"))),
        ("jti", changed("jti", json!(null))),
        ("none", none),
        ("HS256", signer.assertion(&json!({"alg": "HS256"}), &fresh)),
        ("RS256", signer.assertion(&json!({"alg": "RS256"}), &fresh)),
        ("crit", signer.assertion(&json!({"alg": "ES256", "crit": ["b64"]}), &fresh)),
        ("jwk", signer.assertion(&json!({"alg": "ES256", "jwk": {}}), &fresh)),
        ("kid", signer.assertion(&json!({"alg": "ES256", "kid": "two"}), &fresh)),
        ("key", other.assertion(&header, &fresh)),
        ("text", "a.b.c".to_owned()),
    ] {
        assert_eq!(error(&redeem(&wrong, &[]).await, 401), "invalid_client", "{what}");
    }
    let two = [("client_id", id.as_str()), ("client_secret", "x")];
    assert_eq!(error(&redeem(&signer.assertion(&header, &fresh), &two).await, 400), "invalid_request");
    // A client with keys has no other way in.
    let public = encode(&[("grant_type", "refresh_token"), ("refresh_token", "x"), ("client_id", &id)]);
    assert_eq!(error(&people.post("/token", &public).await, 401), "invalid_client");
    assert_eq!(error(&redeem(&signer.assertion(&header, &fresh), &[]).await, 400), "invalid_grant");
}
