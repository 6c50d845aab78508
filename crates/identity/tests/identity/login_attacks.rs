//! Attacks on login, consent and codes. The numbers in brackets are those of the attack list.

use frontdesk_engine::model::reply::Reply;
use frontdesk_identity::OAuthRequest;
use frontdesk_testkit::TestRandom;

use crate::people::{ALL, NAME, PASSWORD, REDIRECT, VERIFIER, answer, encode, hidden, html, people};
use crate::support::{RESOURCE, asked, error, header};

fn redirect_error(reply: &Reply) -> (String, String) {
    assert_eq!(reply.status, 303, "{}", html(reply));
    assert!(header(reply, "Location").unwrap().starts_with("https://agent.example/cb?error="));
    assert_eq!(answer(reply, "iss").as_deref(), Some("https://desk.example"));
    (answer(reply, "error").unwrap(), answer(reply, "state").unwrap())
}

/// [O1, O2, O3, O4, O5, O13, O14] Each answer names the issuer and repeats the state.
#[tokio::test]
async fn pkce_and_the_code_flow_cannot_be_avoided() {
    let people = people().await;
    let mut browser = people.logged_in().await;
    for (changes, code) in [
        (vec![("code_challenge", "")], "invalid_request"),
        (vec![("code_challenge_method", "plain")], "invalid_request"),
        (vec![("code_challenge_method", "")], "invalid_request"),
        (vec![("code_challenge", "short")], "invalid_request"),
        (vec![("response_type", "token")], "unsupported_response_type"),
        (vec![("response_type", "code token")], "unsupported_response_type"),
        (vec![("response_type", "")], "unsupported_response_type"),
        (vec![("response_mode", "fragment")], "invalid_request"),
        (vec![("request", "eyJhbGciOiJub25lIn0.e30.")], "invalid_request"),
        (vec![("client_secret", "fds_x")], "invalid_request"),
        (vec![("resource", "https://evil.example/")], "invalid_target"),
        (vec![("resource", "https://desk.example")], "invalid_target"),
        (vec![("prompt", "none login")], "invalid_request"),
        (vec![("max_age", "-1")], "invalid_request"),
        (vec![("scope", "amcp:leads:writeX")], "invalid_scope"),
        (vec![("scope", "AMCP:LEADS:READ")], "invalid_scope"),
        (vec![("scope", "amcp:leads:read\tamcp:leads:write")], "invalid_scope"),
        (vec![("scope", "amcp:leads:read  amcp:leads:write")], "invalid_scope"),
    ] {
        let reply = browser.get("/authorize", &people.query(&changes)).await;
        assert_eq!(redirect_error(&reply), (code.to_owned(), "a&b".to_owned()), "{changes:?}");
    }
    let code = browser.code(&people.query(&[])).await;
    let form = people.redemption(&code);
    let without = form.replace(&format!("&code_verifier={VERIFIER}"), "");
    assert_eq!(error(&people.post("/token", &without).await, 400), "invalid_request");
    for wrong in ["x".repeat(43), VERIFIER.to_lowercase(), format!("{VERIFIER}x"), VERIFIER.replace('a', "b")] {
        let reply = people.post("/token", &form.replace(VERIFIER, &wrong)).await;
        assert_eq!(error(&reply, 400), "invalid_grant", "{wrong}");
    }
    assert_eq!(people.post("/token", &form).await.status, 200);
}

/// [O6, O8, O9]
#[tokio::test]
async fn a_code_is_for_one_client_one_place_and_one_minute() {
    let people = people().await;
    let mut browser = people.logged_in().await;
    let mut code = async || browser.code(&people.query(&[("prompt", "consent")])).await;
    let other = people.add_client(REDIRECT, None).await;
    let form = people.redemption(&code().await);
    let changed = |from: &str, to: &str| form.replace(&encode(&[("x", from)])[2..], &encode(&[("x", to)])[2..]);
    for wrong in [
        changed(&people.client, &other),
        changed(REDIRECT, "https://agent.example/other"),
        changed(REDIRECT, "https://agent.example/cb/"),
    ] {
        assert_eq!(error(&people.post("/token", &wrong).await, 400), "invalid_grant");
    }
    let elsewhere = format!("{form}&{}", encode(&[("resource", "https://desk.example/mcp/second")]));
    assert_eq!(error(&people.post("/token", &elsewhere).await, 400), "invalid_target");
    let first = people.post("/token", &form).await;
    assert_eq!(first.status, 200);
    let token = crate::people::Tokens::of(&first).access;
    assert!(people.bench.identify(&token, RESOURCE).await.is_ok());
    assert_eq!(error(&people.post("/token", &form).await, 400), "invalid_grant");
    people.bench.advance(1_000);
    assert!(people.bench.identify(&token, RESOURCE).await.is_err(), "what came of the code must end");
    let form = people.redemption(&code().await);
    people.bench.advance(60_000);
    assert_eq!(error(&people.post("/token", &form).await, 400), "invalid_grant");
}

/// [O10, O11, O12] A page, and never a redirect.
#[tokio::test]
async fn a_wrong_redirect_uri_or_client_is_a_page() {
    let people = people().await;
    let mut browser = people.logged_in().await;
    for uri in [
        "https://agent.example/cb/",
        "https://agent.example/cb?x=1",
        "https://agent.example/cb#x",
        "https://evil@agent.example/cb",
        "https://agent.example@evil.example/cb",
        "https://agent.example/../cb",
        "https://agent.example/%2e%2e/cb",
        "HTTPS://AGENT.EXAMPLE/cb",
        "https:\\\\agent.example/cb",
        "https://agent.example/cb\t",
        "https://agent.example/cb\r\nx: y",
        "https://agent.ex\u{e4}mple/cb",
        "https://sub.agent.example/cb",
        "http://agent.example/cb",
        "http://127.0.0.1/cb",
        "javascript:alert(1)",
        "data:text/html,x",
        "cursor://cb",
        "//agent.example/cb",
        "",
    ] {
        let reply = browser.get("/authorize", &people.query(&[("redirect_uri", uri)])).await;
        assert_eq!((reply.status, header(&reply, "Location")), (400, None), "{uri}");
        assert!(!html(&reply).contains(uri) || uri.is_empty(), "{uri}");
    }
    for query in [
        people.query(&[("client_id", "cli_none")]),
        people.query(&[("client_id", "")]),
        people.query(&[("client_id", "cli_north")]),
        people.query(&[("client_id", "x\0")]),
        format!("{}&state=c", people.query(&[])),
        format!("{}&redirect_uri=https%3A%2F%2Fevil.example", people.query(&[])),
        format!("{}&client_id=other", people.query(&[])),
        format!("{}&resource=a&resource=b", people.query(&[])),
        "%".to_owned(),
        "a".to_owned(),
        String::new(),
    ] {
        let reply = browser.get("/authorize", &query).await;
        assert_eq!((reply.status, header(&reply, "Location")), (400, None), "{query}");
    }
    // After a login and a logout there is no way to another place.
    let page = browser.get("/authorize", &people.query(&[("prompt", "login")])).await;
    for next in ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "account?x"] {
        let fields = [("name", NAME), ("password", PASSWORD), ("next", next)];
        let reply = people.logged_in().await.post("/login", &page, &fields).await;
        assert_eq!(reply.status, 403, "a form of another browser");
        let mut own = people.browser();
        let page = own.get("/account", "").await;
        let reply = own.post("/login", &page, &fields).await;
        assert!(header(&reply, "Location").unwrap().starts_with("/authorize?"), "{next}");
        people.bench.advance(60_000);
    }
}

/// [O15, O16] A form without its token, with that of another browser, or from another site changes nothing.
#[tokio::test]
async fn forms_of_other_sites_are_refused() {
    let people = people().await;
    let mut browser = people.logged_in().await;
    let query = people.query(&[]);
    let page = browser.get("/authorize", &query).await;
    let mut stranger = people.browser();
    let foreign = hidden(&stranger.get("/account", "").await, "form_token");
    let own = hidden(&page, "form_token");
    let consent =
        [("request", query.as_str()), ("decision", "allow"), ("dealership", "north"), ("scope:amcp:leads:read", "on")];
    let before = people.bench.registry.state().login_records.len();
    for (path, fields) in [
        ("/consent", &consent[..]),
        ("/login", &[("name", NAME), ("password", PASSWORD), ("next", "account")]),
        ("/logout", &[]),
        ("/account/end", &[("grant", "grt_x")]),
    ] {
        for token in ["", "x", &foreign] {
            let mut all = vec![("form_token", token)];
            all.extend_from_slice(fields);
            let reply = browser.send(asked(path, &encode(&all))).await;
            assert_eq!(reply.status, 403, "{path} {token}");
        }
        let mut all = vec![("form_token", own.as_str())];
        all.extend_from_slice(fields);
        let body = encode(&all);
        for site in ["cross-site", "same-site", "none"] {
            let reply = browser.send(OAuthRequest { fetch_site: Some(site), ..asked(path, &body) }).await;
            assert_eq!(reply.status, 403, "{path} {site}");
        }
        let reply = browser.send(OAuthRequest { content_type: Some("text/plain"), ..asked(path, &body) }).await;
        assert_eq!(reply.status, 400, "{path} as text");
        // Without the cookie the token is worth nothing.
        assert_eq!(people.browser().send(asked(path, &body)).await.status, 403, "{path} without a cookie");
    }
    assert_eq!(people.bench.registry.state().login_records.len(), before);
    assert!(html(&browser.get("/account", "").await).contains("ada@north.example"), "still logged in");
}

/// [O17, O18, O20]
#[tokio::test]
async fn pages_are_guarded_and_escape_what_they_show() {
    let people = people().await;
    let mut browser = people.browser();
    let evil = "\"><script>alert(1)</script>{token}";
    let query = people.query(&[("state", evil), ("scope", &format!("{ALL} {}", "<script>"))]);
    let login = browser.get("/authorize", &query).await;
    let set = header(&login, "Set-Cookie").unwrap().to_owned();
    assert!(set.starts_with("__Host-frontdesk=") && set.ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax"), "{set}");
    let wrong = browser.post("/login", &login, &[("name", evil), ("password", "x"), ("next", &query)]).await;
    let before = browser.cookie.clone();
    browser.post("/login", &login, &[("name", NAME), ("password", PASSWORD), ("next", &query)]).await;
    assert_ne!(browser.cookie, before, "a session has a cookie of its own");
    let consent = browser.get("/authorize", &query).await;
    let account = browser.get("/account", "").await;
    let broken = browser.get("/authorize", "client_id=%22%3E%3Cscript%3E").await;
    let link = browser.get("/setup/x", "").await;
    for (page, status) in [(login, 200), (wrong, 400), (consent, 200), (account, 200), (broken, 400), (link, 404)] {
        assert_eq!(page.status, status);
        assert!(!html(&page).contains("<script"), "{}", html(&page));
        let policy = header(&page, "Content-Security-Policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; style-src 'self'; img-src 'none'; form-action 'self'"),
            "{policy}"
        );
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(header(&page, "X-Frame-Options"), Some("DENY"));
        assert_eq!(header(&page, "Referrer-Policy"), Some("no-referrer"));
        assert_eq!(header(&page, "Cache-Control"), Some("no-store"));
        assert_eq!(header(&page, "Content-Type"), Some("text/html; charset=utf-8"));
    }
    let mut fixed = people.browser();
    fixed.cookie = "__Host-frontdesk=chosen-by-somebody-else".to_owned();
    assert!(header(&fixed.get("/account", "").await, "Set-Cookie").is_some(), "a cookie that is not ours is replaced");
}

/// [O21] The same answer for every wrong login, and no more than a few of them.
#[tokio::test]
async fn guesses_are_limited_by_name_and_address() {
    let people = people().await;
    let mut browser = people.browser();
    let page = browser.get("/account", "").await;
    let mut guess = async |name: &str| {
        browser.post("/login", &page, &[("name", name), ("password", "wrong"), ("next", "account")]).await
    };
    let known = guess(NAME).await;
    let unknown = guess("nobody@north.example").await;
    assert_eq!((known.status, html(&known)), (400, html(&unknown)));
    assert!(html(&known).contains("The name or the password is not right."));
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(guess(NAME).await.status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 400).count(), 9, "{statuses:?}");
    let limited = guess(NAME).await;
    assert_eq!(limited.status, 429);
    assert!(header(&limited, "Retry-After").unwrap().parse::<u64>().unwrap() <= 12);
    // Upper case is the same name; another name goes on until the address has had enough.
    assert_eq!(guess("ADA@NORTH.EXAMPLE").await.status, 429);
    assert_eq!(guess("other@north.example").await.status, 400);
}

/// A session ends half an hour after it was last used, and after twelve hours in any case.
#[tokio::test]
async fn a_session_ends_when_it_is_not_used() {
    let people = people().await;
    let mut browser = people.logged_in().await;
    for _ in 0..20 {
        people.bench.advance(29 * 60_000);
        assert!(html(&browser.get("/account", "").await).contains("id=\"logout\""));
    }
    people.bench.advance(30 * 60_000);
    assert!(html(&browser.get("/account", "").await).contains("id=\"login\""));
    let mut browser = people.logged_in().await;
    for minutes in 0..(12 * 60 / 29 + 1) {
        people.bench.advance(29 * 60_000);
        let is_in = html(&browser.get("/account", "").await).contains("id=\"logout\"");
        assert_eq!(is_in, (minutes + 1) * 29 < 12 * 60, "{minutes}");
    }
    let mut browser = people.logged_in().await;
    let page = browser.get("/account", "").await;
    let cookie = browser.cookie.clone();
    browser.post("/logout", &page, &[]).await;
    browser.cookie = cookie;
    assert!(html(&browser.get("/account", "").await).contains("id=\"login\""), "the session has ended at the server");
}

/// [O12, O24] Twenty thousand requests made of parts that mean something: no answer is a failure of the server.
#[tokio::test]
async fn no_request_makes_the_server_fail() {
    let people = people().await;
    let random = TestRandom::seeded(20);
    let mut browser = people.logged_in().await;
    let page = browser.get("/account", "").await;
    let token = hidden(&page, "form_token");
    let names = [
        "client_id",
        "redirect_uri",
        "response_type",
        "code_challenge",
        "code_challenge_method",
        "scope",
        "state",
        "resource",
        "prompt",
        "max_age",
        "form_token",
        "request",
        "next",
        "decision",
        "dealership",
        "grant",
        "code",
        "code_verifier",
        "grant_type",
        "refresh_token",
        "client_secret",
        "client_assertion",
        "client_assertion_type",
        "token",
        "scope:amcp:leads:read",
    ];
    let usual = people.query(&[]);
    let values = [
        people.client.as_str(),
        REDIRECT,
        "code",
        "S256",
        ALL,
        "north",
        "",
        "\0",
        "%00",
        "\u{202e}",
        "<script>",
        "none",
        "0",
        "99999999999999999999",
        "https://127.0.0.1/x",
        "https://a.example/client.json",
        &token,
        &usual,
        "authorization_code",
        "refresh_token",
        "eyJhbGciOiJub25lIn0.eyJpc3MiOiJhIiwic3ViIjoiYSJ9.",
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    ];
    let paths = [
        "/authorize",
        "/login",
        "/consent",
        "/account",
        "/account/end",
        "/logout",
        "/setup/x",
        "/token",
        "/revoke",
        "/register",
    ];
    let setup = format!("/setup/{}", "A".repeat(43));
    for number in 0..20_000 {
        let path = if random.percent(5) { &setup } else { *random.pick(&paths) };
        // A login costs a good part of a second, and is limited anyway.
        let fields: Vec<(&str, &str)> =
            (0..random.below(8)).map(|_| (*random.pick(&names), *random.pick(&values))).collect();
        let mut text = if random.percent(30) { format!("{usual}&{}", encode(&fields)) } else { encode(&fields) };
        if random.percent(10) {
            text = text.replace("%", "%%");
        }
        let method = *random.pick(&["GET", "POST", "POST", "HEAD", "PUT"]);
        let query = (method != "POST" || random.percent(10)).then_some(text.as_str());
        let request = OAuthRequest { method, query, ..asked(path, if method == "POST" { &text } else { "" }) };
        if let Some(reply) = people.bench.server.answer(OAuthRequest { cookies: &[&browser.cookie], ..request }).await {
            assert!(reply.status < 500, "{number}: {method} {path} {text}: {}", html(&reply));
        }
    }
}
