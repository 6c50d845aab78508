//! A person logs in, decides what an agent may do, and ends it: the whole way, and what ends with what.

use frontdesk_identity::UserRole;

use crate::people::{ALL, NAME, PASSWORD, REDIRECT, Tokens, VERIFIER, answer, encode, hidden, html, people};
use crate::support::{RESOURCE, SECOND_RESOURCE, asked, error, header, text};

/// [O14, O29, A6-03]
#[tokio::test]
async fn a6_03_a_person_allows_an_agent_which_acts_for_them() {
    let people = people().await;
    let mut browser = people.browser();
    let query = people.query(&[("resource", RESOURCE)]);
    let page = browser.get("/authorize", &query).await;
    assert!(html(&page).contains("<b>An &lt;agent&gt;</b>"), "{}", html(&page));
    let next = query.clone();
    let reply =
        browser.post("/login", &page, &[("name", "ADA@north.example"), ("password", PASSWORD), ("next", &next)]).await;
    let location = header(&reply, "Location").unwrap().to_owned();
    assert!(reply.status == 303 && location.starts_with("/authorize?"), "{location}");
    let page = browser.get("/authorize", location.strip_prefix("/authorize?").unwrap()).await;
    for shown in [
        "Connect An &lt;agent&gt;?",
        "<b id=\"dealership-name\">north</b>",
        "agent.example",
        "words of amcp:leads:write",
    ] {
        assert!(html(&page).contains(shown), "{shown}: {}", html(&page));
    }
    let reply = browser.allow(&query).await;
    assert_eq!(reply.status, 303);
    assert!(header(&reply, "Location").unwrap().starts_with("https://agent.example/cb?code=fdc_"));
    assert_eq!(answer(&reply, "state").as_deref(), Some("a&b"));
    assert_eq!(answer(&reply, "iss").as_deref(), Some("https://desk.example"));
    let code = answer(&reply, "code").unwrap();
    let reply = people.post("/token", &people.redemption(&code)).await;
    assert_eq!((reply.status, header(&reply, "Cache-Control")), (200, Some("no-store")));
    let answered: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((&answered["token_type"], &answered["expires_in"]), (&"Bearer".into(), &300.into()));
    let tokens = Tokens::of(&reply);
    assert_eq!(tokens.scope, ALL);
    let caller = people.bench.identify(&tokens.access, RESOURCE).await.unwrap();
    assert!(caller.subject.starts_with("usr_"), "{}", caller.subject);
    assert_eq!((caller.client.as_str(), caller.tenants[0].as_str()), (people.client.as_str(), "north"));
    assert_eq!((caller.scopes.to_string().as_str(), caller.authenticated_at), (ALL, Some(1_790_000_000)));
    assert!(people.bench.identify(&tokens.access, SECOND_RESOURCE).await.is_err());
    people.bench.advance(300_000);
    assert!(people.bench.identify(&tokens.access, RESOURCE).await.is_err());
}

/// [O22, O23, S7, A6-04]
#[tokio::test]
async fn a_refresh_token_works_once_and_an_old_one_ends_everything() {
    let people = people().await;
    let first = people.tokens().await;
    people.bench.advance(200_000);
    let wider = format!("{}&scope=other%3Aread", people.refreshing(&first.refresh));
    assert_eq!(error(&people.post("/token", &wider).await, 400), "invalid_scope");
    let narrow = format!("{}&scope=amcp%3Aleads%3Aread", people.refreshing(&first.refresh));
    let second = Tokens::of(&people.post("/token", &narrow).await);
    assert_eq!(second.scope, "amcp:leads:read");
    // A narrower token does not narrow the grant.
    let third = Tokens::of(&people.post("/token", &people.refreshing(&second.refresh)).await);
    assert_eq!(third.scope, ALL);
    assert_eq!(people.bench.identify(&third.access, RESOURCE).await.unwrap().authenticated_at, Some(1_790_000_000));
    let other = people.add_client(REDIRECT, None).await;
    let stolen = encode(&[("grant_type", "refresh_token"), ("client_id", &other), ("refresh_token", &third.refresh)]);
    assert_eq!(error(&people.post("/token", &stolen).await, 400), "invalid_grant");
    assert!(people.bench.identify(&third.access, RESOURCE).await.is_ok());
    assert_eq!(error(&people.post("/token", &people.refreshing(&first.refresh)).await, 400), "invalid_grant");
    people.bench.advance(1_000);
    assert!(people.bench.identify(&third.access, RESOURCE).await.is_err());
    assert_eq!(error(&people.post("/token", &people.refreshing(&third.refresh)).await, 400), "invalid_grant");
}

/// [A6-04] Fourteen days unused, ninety days at most.
#[tokio::test]
async fn a_refresh_token_ends_unused_and_in_any_case() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let people = people().await;
    let mut tokens = people.tokens().await;
    for _ in 0..6 {
        people.bench.advance(14 * DAY - 1);
        tokens = Tokens::of(&people.post("/token", &people.refreshing(&tokens.refresh)).await);
    }
    people.bench.advance(7 * DAY);
    assert_eq!(error(&people.post("/token", &people.refreshing(&tokens.refresh)).await, 400), "invalid_grant");
    let tokens = people.tokens().await;
    people.bench.advance(14 * DAY);
    assert_eq!(error(&people.post("/token", &people.refreshing(&tokens.refresh)).await, 400), "invalid_grant");
}

/// [O6, O7] A thousand redemptions at once: one answer has tokens, and the others end them.
#[tokio::test]
async fn of_a_thousand_redemptions_one_succeeds() {
    let people = people().await;
    let code = people.code(&[]).await;
    let form = people.redemption(&code);
    let mut won = Vec::new();
    let racing = (0..1_000).map(|_| people.post("/token", &form));
    for reply in futures(racing).await {
        match reply.status {
            200 => won.push(Tokens::of(&reply)),
            _ => assert_eq!(error(&reply, 400), "invalid_grant"),
        }
    }
    assert_eq!(won.len(), 1);
    people.bench.advance(1_000);
    assert!(people.bench.identify(&won[0].access, RESOURCE).await.is_err());
}

/// [O22] The same for refreshing.
#[tokio::test]
async fn of_a_thousand_refreshes_one_succeeds() {
    let people = people().await;
    let tokens = people.tokens().await;
    let form = people.refreshing(&tokens.refresh);
    let racing = (0..1_000).map(|_| people.post("/token", &form));
    let won = futures(racing).await.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(won, 1);
}

/// All of them, each polled in turn.
async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    let mut done = Vec::new();
    while !all.is_empty() {
        let mut left = Vec::new();
        for mut one in all {
            match std::future::poll_fn(|context| std::task::Poll::Ready(one.as_mut().poll(context))).await {
                std::task::Poll::Ready(output) => done.push(output),
                std::task::Poll::Pending => left.push(one),
            }
        }
        all = left;
        tokio::task::yield_now().await;
    }
    done
}

/// [O30] Revoking either token ends the grant; another client learns and ends nothing.
#[tokio::test]
async fn a_client_revokes_its_own_grant_and_no_other() {
    let people = people().await;
    for which in [0, 1] {
        let tokens = people.tokens().await;
        let token = if which == 0 { &tokens.access } else { &tokens.refresh };
        let other = people.add_client(REDIRECT, None).await;
        let foreign = people.post("/revoke", &encode(&[("client_id", &other), ("token", token)])).await;
        assert_eq!(text(&foreign), (200, ""));
        assert!(people.bench.identify(&tokens.access, RESOURCE).await.is_ok());
        let own = people.post("/revoke", &encode(&[("client_id", &people.client), ("token", token)])).await;
        assert_eq!(own, foreign);
        people.bench.advance(1_000);
        assert!(people.bench.identify(&tokens.access, RESOURCE).await.is_err());
        assert_eq!(error(&people.post("/token", &people.refreshing(&tokens.refresh)).await, 400), "invalid_grant");
    }
}

/// [K46] Within a second: the user ends it, the operator disables the user, the client goes, the dealership goes.
#[tokio::test]
async fn whatever_ends_ends_the_tokens_within_a_second() {
    let people = people().await;
    let bench = &people.bench;
    let tokens = people.tokens().await;
    let mut browser = people.logged_in().await;
    let page = browser.get("/account", "").await;
    assert!(html(&page).contains("<h2>An &lt;agent&gt;</h2>"), "{}", html(&page));
    let grant = hidden(&page, "grant");
    people.add_user("eve@north.example", UserRole::Staff, &["north"]).await;
    let mut eve = people.logged_in_as("eve@north.example").await;
    let her_page = eve.get("/account", "").await;
    assert_eq!(eve.post("/account/end", &her_page, &[("grant", &grant)]).await.status, 303);
    bench.advance(1_000);
    assert!(bench.identify(&tokens.access, RESOURCE).await.is_ok(), "somebody else has ended it");
    browser.post("/account/end", &page, &[("grant", &grant)]).await;
    bench.advance(1_000);
    assert!(bench.identify(&tokens.access, RESOURCE).await.is_err());
    assert!(html(&browser.get("/account", "").await).contains("id=\"none\""));

    let tokens = people.tokens().await;
    bench.server.users().disable(NAME).await.unwrap();
    bench.advance(1_000);
    assert!(bench.identify(&tokens.access, RESOURCE).await.is_err());
    assert_eq!(error(&people.post("/token", &people.refreshing(&tokens.refresh)).await, 400), "invalid_grant");
    bench.server.users().enable(NAME).await.unwrap();

    let tokens = people.tokens().await;
    bench.server.remove_login_client(&people.client, "{}".to_owned()).await.unwrap();
    bench.advance(1_000);
    assert!(bench.identify(&tokens.access, RESOURCE).await.is_err());
}

/// [A6-08] Asked is narrowed to what client and user may have, and the answer says so.
#[tokio::test]
async fn scopes_are_narrowed_to_client_and_user() {
    let people = people().await;
    people.add_user("reader@north.example", UserRole::Reader, &["north"]).await;
    let mut reader = people.logged_in_as("reader@north.example").await;
    let code = reader.code(&people.query(&[])).await;
    assert_eq!(
        Tokens::of(&people.post("/token", &people.redemption(&code)).await).scope,
        "amcp:inventory:read amcp:leads:read"
    );
    let reply = reader.get("/authorize", &people.query(&[("scope", "amcp:leads:write")])).await;
    assert_eq!(
        (answer(&reply, "error").as_deref(), answer(&reply, "state").as_deref()),
        (Some("invalid_scope"), Some("a&b"))
    );
    // None asked for: the least.
    let code = reader.code(&people.query(&[("scope", "")])).await;
    assert_eq!(Tokens::of(&people.post("/token", &people.redemption(&code)).await).scope, "amcp:inventory:read");
    let bounded = people.add_client(REDIRECT, Some("amcp:leads:write")).await;
    let code = people.code(&[("client_id", &bounded)]).await;
    let form = people.redemption(&code).replace(&people.client, &bounded);
    assert_eq!(Tokens::of(&people.post("/token", &form).await).scope, "amcp:leads:write");
    // A code is not worth more than was allowed.
    let code = people.code(&[("scope", "amcp:leads:read")]).await;
    let wider = format!("{}&scope=amcp%3Aleads%3Awrite", people.redemption(&code));
    assert_eq!(error(&people.post("/token", &wider).await, 400), "invalid_scope");
}

/// The user may leave out what they like, but not everything.
#[tokio::test]
async fn a_user_may_allow_less_but_not_nothing() {
    let people = people().await;
    let mut browser = people.logged_in().await;
    let query = people.query(&[]);
    let page = browser.get("/authorize", &query).await;
    let fields = [("request", query.as_str()), ("decision", "allow"), ("dealership", "north")];
    let reply = browser.post("/consent", &page, &fields).await;
    assert!(reply.status == 400 && html(&reply).contains("Tick at least one thing"), "{}", html(&reply));
    let wrong = browser
        .post(
            "/consent",
            &page,
            &[("request", &query), ("decision", "allow"), ("dealership", "south"), ("scope:amcp:leads:read", "on")],
        )
        .await;
    assert!(wrong.status == 400 && html(&wrong).contains("Choose a dealership."));
    let reply = browser
        .post(
            "/consent",
            &page,
            &[fields[0], fields[1], fields[2], ("scope:amcp:leads:read", "on"), ("scope:other:read", "on")],
        )
        .await;
    let code = answer(&reply, "code").unwrap();
    assert_eq!(Tokens::of(&people.post("/token", &people.redemption(&code)).await).scope, "amcp:leads:read");
    let reply = browser.post("/consent", &page, &[("request", &query), ("decision", "deny")]).await;
    assert_eq!(answer(&reply, "error").as_deref(), Some("access_denied"));
    assert_eq!(answer(&reply, "iss").as_deref(), Some("https://desk.example"));
}

/// [O19] What was allowed is not asked again; anything else is.
#[tokio::test]
async fn consent_is_remembered_for_exactly_what_was_allowed() {
    let people = people().await;
    people.add_user("two@north.example", UserRole::Manager, &["north", "south"]).await;
    let mut browser = people.logged_in_as("two@north.example").await;
    let read = people.query(&[("scope", "amcp:leads:read")]);
    browser.code(&read).await;
    assert!(answer(&browser.get("/authorize", &read).await, "code").is_some());
    let other = people.add_client(REDIRECT, None).await;
    for asked_again in [
        people.query(&[("scope", "amcp:leads:read amcp:leads:write")]),
        people.query(&[("scope", "amcp:leads:read"), ("client_id", &other)]),
        people.query(&[("scope", "amcp:leads:read"), ("resource", SECOND_RESOURCE)]),
        people.query(&[("scope", "amcp:leads:read"), ("prompt", "consent")]),
    ] {
        let page = browser.get("/authorize", &asked_again).await;
        assert!(page.status == 200 && html(&page).contains("id=\"consent\""), "{asked_again}");
    }
    let none = people.query(&[("scope", "amcp:leads:write"), ("prompt", "none")]);
    assert_eq!(answer(&browser.get("/authorize", &none).await, "error").as_deref(), Some("consent_required"));
    // On this machine any program could have asked, so it is shown each time.
    let local = people.add_client("http://127.0.0.1/cb", None).await;
    let query = people.query(&[("client_id", &local), ("redirect_uri", "http://127.0.0.1:5123/cb")]);
    browser.code(&query).await;
    let page = browser.get("/authorize", &query).await;
    assert!(page.status == 200 && html(&page).contains("id=\"warning\""), "{}", html(&page));
}

/// [O19] It is of one user and one dealership: another user is asked, and so is this one when the dealership has gone.
#[tokio::test]
async fn consent_is_of_one_user_and_one_dealership() {
    let people = people().await;
    people.add_user("two@north.example", UserRole::Manager, &["north", "south"]).await;
    let mut browser = people.logged_in_as("two@north.example").await;
    let query = people.query(&[]);
    browser.code(&query).await;
    let code = answer(&browser.get("/authorize", &query).await, "code").unwrap();
    let tokens = Tokens::of(&people.post("/token", &people.redemption(&code)).await);
    let caller = people.bench.identify(&tokens.access, RESOURCE).await.unwrap();
    assert_eq!(caller.tenants.iter().map(|tenant| tenant.as_str()).collect::<Vec<_>>(), ["north"]);
    let mut other = people.logged_in().await;
    assert!(html(&other.get("/authorize", &query).await).contains("id=\"consent\""));
    people.bench.registry.state().tenants.retain(|tenant| tenant.id.as_str() != "north");
    let page = browser.get("/authorize", &query).await;
    assert!(page.status == 200 && html(&page).contains("id=\"consent\""), "{}", html(&page));
}

/// [S5, A6-18] `max_age` and `prompt=login` ask for the password again; the time of the login is that of the token.
#[tokio::test]
async fn a_recent_login_can_be_asked_for() {
    let people = people().await;
    let mut browser = people.logged_in().await;
    people.bench.advance(200_000);
    for again in [("max_age", "199"), ("prompt", "login")] {
        let page = browser.get("/authorize", &people.query(&[again])).await;
        assert!(html(&page).contains("id=\"login\""), "{again:?}");
    }
    assert!(html(&browser.get("/authorize", &people.query(&[("max_age", "200")])).await).contains("id=\"consent\""));
    let query = people.query(&[("max_age", "100"), ("prompt", "login consent")]);
    let page = browser.get("/authorize", &query).await;
    let before = browser.cookie.clone();
    let reply = browser.post("/login", &page, &[("name", NAME), ("password", PASSWORD), ("next", &query)]).await;
    assert_ne!(browser.cookie, before);
    let location = header(&reply, "Location").unwrap().to_owned();
    assert!(
        !location.contains("max_age") && !location.contains("login") && location.contains("prompt=consent"),
        "{location}"
    );
    let code = browser.code(location.strip_prefix("/authorize?").unwrap()).await;
    let tokens = Tokens::of(&people.post("/token", &people.redemption(&code)).await);
    assert_eq!(people.bench.identify(&tokens.access, RESOURCE).await.unwrap().authenticated_at, Some(1_790_000_200));
    let none = people.browser().get("/authorize", &people.query(&[("prompt", "none")])).await;
    assert_eq!(answer(&none, "error").as_deref(), Some("login_required"));
}

/// [O32] A link works once, and a message preview does not use it up.
#[tokio::test]
async fn a_one_time_link_works_once() {
    let people = people().await;
    let (_, secret) = people.bench.server.users().reset(NAME).await.unwrap();
    let path = format!("/setup/{}", secret.expose());
    let mut browser = people.browser();
    assert_eq!(people.browser().get(&path, "").await.status, 200);
    let page = browser.get(&path, "").await;
    let short = browser.post(&path, &page, &[("password", "short"), ("repeated", "short")]).await;
    assert!(short.status == 400 && html(&short).contains("at least 12 characters"), "{}", html(&short));
    let typo =
        browser.post(&path, &page, &[("password", "a new long password"), ("repeated", "a new long passwort")]).await;
    assert!(typo.status == 400 && html(&typo).contains("not the same"));
    let fields = [("password", "a new long password"), ("repeated", "a new long password")];
    assert_eq!(browser.post(&path, &page, &fields).await.status, 303);
    assert_eq!(browser.post(&path, &page, &fields).await.status, 404);
    assert_eq!(people.browser().get(&path, "").await.status, 404);
    let page = browser.get("/account", "").await;
    let with = |password: &'static str| [("name", NAME), ("password", password), ("next", "account")];
    assert_eq!(browser.post("/login", &page, &with(PASSWORD)).await.status, 400);
    assert_eq!(browser.post("/login", &page, &with("a new long password")).await.status, 303);
    // After a day it is too old.
    let (_, secret) = people.bench.server.users().reset(NAME).await.unwrap();
    people.bench.advance(24 * 60 * 60 * 1000);
    assert_eq!(people.browser().get(&format!("/setup/{}", secret.expose()), "").await.status, 404);
}

/// Audit: who logged in, what was allowed, to whom; no secret and no name.
#[tokio::test]
async fn logins_and_grants_are_recorded_without_names_and_secrets() {
    let people = people().await;
    let tokens = people.tokens().await;
    people.post("/token", &people.refreshing(&tokens.refresh)).await;
    let state = people.bench.registry.state();
    let all: Vec<String> =
        state.administration.iter().cloned().chain(state.records.iter().map(|(line, _)| line.clone())).collect();
    for method in
        ["\"method\":\"login\"", "\"method\":\"consent\"", "\"method\":\"token\"", "\"operator\":\"user.add\""]
    {
        assert!(all.iter().any(|line| line.contains(method)), "{method}: {all:?}");
    }
    for secret in [NAME, PASSWORD, VERIFIER, "fdu_", "fdr_", "fdc_", "An <agent>"] {
        assert!(!all.iter().any(|line| line.contains(secret)), "{secret}");
    }
    drop(state);
    let _ = asked("/", "");
}
