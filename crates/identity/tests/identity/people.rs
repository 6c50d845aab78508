//! A person with a browser, and an agent that wants to act for them.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::caller::{Scopes, TenantId};
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::model::tenant::GroupId;
use frontdesk_engine::ports::http_client::{HttpClient, NoHttpClient};
use frontdesk_engine::seal::sha256;
use frontdesk_identity::{LoginSettings, MembershipScope, NewLoginClient, NewUser, OAuthRequest, UserRole};
use frontdesk_testkit::TestRandom;

use crate::support::{Bench, asked, bench_of, header};

pub(crate) const NAME: &str = "ada@north.example";
pub(crate) const PASSWORD: &str = "correct horse battery";
pub(crate) const REDIRECT: &str = "https://agent.example/cb";
pub(crate) const VERIFIER: &str = "abcdefghijklmnopqrstuvwxyz-0123456789._~ABCDEFG";
pub(crate) const ALL: &str = "amcp:inventory:read amcp:leads:read amcp:leads:write";

/// A server with one user of the tenant `north`, and one client of the operator's.
pub(crate) struct People {
    pub(crate) bench: Bench,
    pub(crate) client: String,
}

pub(crate) async fn people() -> People {
    people_with(LoginSettings::default(), Arc::new(NoHttpClient)).await
}

pub(crate) async fn people_with(login: LoginSettings, http_client: Arc<dyn HttpClient>) -> People {
    let bench = bench_of(1000, 1_000_000, login, Arc::new(TestRandom::distinct()), http_client);
    let people = People { bench, client: String::new() };
    people.add_user(NAME, UserRole::Manager, &["north"]).await;
    let client = people.add_client(REDIRECT, None).await;
    People { client, ..people }
}

impl People {
    pub(crate) async fn add_user(&self, name: &str, role: UserRole, tenants: &[&str]) {
        let tenants = tenants.iter().map(|tenant| TenantId::parse(tenant).unwrap()).collect();
        let memberships = MembershipScope::Some { tenants, groups: Vec::<GroupId>::new() };
        let new = NewUser { name: name.to_owned(), role, memberships, password: Some(PASSWORD.to_owned()) };
        self.bench.server.users().add(new).await.unwrap();
    }

    pub(crate) async fn add_client(&self, redirect: &str, scopes: Option<&str>) -> String {
        let new = NewLoginClient {
            name: "An <agent>".to_owned(),
            redirect_uris: vec![redirect.to_owned()],
            scopes: scopes.map(|scopes| Scopes::parse(scopes).unwrap()),
            has_secret: false,
        };
        self.bench.server.add_login_client(new, |_| "{}".to_owned()).await.unwrap().0.id
    }

    /// The usual request, with these parameters instead or in addition. An empty value leaves one out.
    pub(crate) fn query(&self, changes: &[(&str, &str)]) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(sha256(VERIFIER.as_bytes()));
        let usual = [
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", REDIRECT),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "a&b"),
            ("scope", ALL),
        ];
        let kept = usual.iter().filter(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        encode(&kept.chain(changes).filter(|(_, value)| !value.is_empty()).copied().collect::<Vec<_>>())
    }

    pub(crate) fn browser(&self) -> TestBrowser<'_> {
        TestBrowser { bench: &self.bench, cookie: String::new() }
    }

    /// A browser in which the user has logged in.
    pub(crate) async fn logged_in(&self) -> TestBrowser<'_> {
        self.logged_in_as(NAME).await
    }

    pub(crate) async fn logged_in_as(&self, name: &str) -> TestBrowser<'_> {
        let mut browser = self.browser();
        let page = browser.get("/account", "").await;
        let reply = browser.post("/login", &page, &[("name", name), ("password", PASSWORD), ("next", "account")]).await;
        assert_eq!((reply.status, header(&reply, "Location")), (303, Some("/account")), "{}", html(&reply));
        browser
    }

    /// The code that a user who allows everything gives the client.
    pub(crate) async fn code(&self, changes: &[(&str, &str)]) -> String {
        let mut browser = self.logged_in().await;
        browser.code(&self.query(changes)).await
    }

    pub(crate) fn redemption(&self, code: &str) -> String {
        encode(&[
            ("grant_type", "authorization_code"),
            ("client_id", &self.client),
            ("code", code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ])
    }

    pub(crate) fn refreshing(&self, token: &str) -> String {
        encode(&[("grant_type", "refresh_token"), ("client_id", &self.client), ("refresh_token", token)])
    }

    pub(crate) async fn post(&self, path: &str, form: &str) -> Reply {
        self.bench.send(asked(path, form)).await
    }

    /// The tokens of a user who allows everything.
    pub(crate) async fn tokens(&self) -> Tokens {
        let code = self.code(&[]).await;
        Tokens::of(&self.post("/token", &self.redemption(&code)).await)
    }
}

pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: String,
    pub(crate) scope: String,
}

impl Tokens {
    pub(crate) fn of(reply: &Reply) -> Tokens {
        let answer: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        let text = |name: &str| answer[name].as_str().ok_or_else(|| answer.to_string()).unwrap().to_owned();
        Tokens { access: text("access_token"), refresh: text("refresh_token"), scope: text("scope") }
    }
}

/// Keeps its cookie, and sends what a page has in its hidden fields.
pub(crate) struct TestBrowser<'a> {
    bench: &'a Bench,
    pub(crate) cookie: String,
}

impl TestBrowser<'_> {
    pub(crate) async fn get(&mut self, path: &str, query: &str) -> Reply {
        let query = (!query.is_empty()).then_some(query);
        self.send(OAuthRequest { method: "GET", content_type: None, query, ..asked(path, "") }).await
    }

    /// Sends the form of a page.
    pub(crate) async fn post(&mut self, path: &str, page: &Reply, fields: &[(&str, &str)]) -> Reply {
        let token = hidden(page, "form_token");
        let mut all = vec![("form_token", token.as_str())];
        all.extend_from_slice(fields);
        self.send(asked(path, &encode(&all))).await
    }

    pub(crate) async fn send(&mut self, request: OAuthRequest<'_>) -> Reply {
        let cookie = self.cookie.clone();
        let cookies = [cookie.as_str()];
        let cookies: &[&str] = if cookie.is_empty() { &[] } else { &cookies };
        let reply = self.bench.send(OAuthRequest { cookies, ..request }).await;
        if let Some(set) = header(&reply, "Set-Cookie") {
            self.cookie = set.split(';').next().unwrap().to_owned();
        }
        reply
    }

    /// Allows everything that a request asks for, for the first dealership.
    pub(crate) async fn allow(&mut self, query: &str) -> Reply {
        let page = self.get("/authorize", query).await;
        if page.status == 303 {
            // It was allowed before.
            return page;
        }
        assert_eq!(page.status, 200, "{}", html(&page));
        let text = html(&page);
        let mut fields = vec![("request".to_owned(), query.to_owned()), ("decision".to_owned(), "allow".to_owned())];
        let boxes = text.split("name=\"scope:").skip(1).map(|rest| rest.split('"').next().unwrap());
        fields.extend(boxes.map(|scope| (format!("scope:{scope}"), "on".to_owned())));
        let dealership = text.split("name=\"dealership\" value=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
        let first = || text.split("<option value=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
        fields.push(("dealership".to_owned(), dealership.or_else(first).unwrap().to_owned()));
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.post("/consent", &page, &fields).await
    }

    pub(crate) async fn code(&mut self, query: &str) -> String {
        let reply = self.allow(query).await;
        answer(&reply, "code").ok_or_else(|| html(&reply)).unwrap()
    }
}

/// A parameter of the answer that the browser takes to the client.
pub(crate) fn answer(reply: &Reply, name: &str) -> Option<String> {
    let location = header(reply, "Location")?;
    let (_, query) = location.split_once('?')?;
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value).next()?;
    Some(value.replace('+', " ").replace("%3A", ":").replace("%2F", "/").replace("%26", "&"))
}

pub(crate) fn html(reply: &Reply) -> &str {
    std::str::from_utf8(&reply.body).unwrap()
}

/// The value of a hidden field.
pub(crate) fn hidden(page: &Reply, name: &str) -> String {
    let marker = format!("name=\"{name}\" value=\"");
    let text = html(page);
    let value = text.split(&marker).nth(1).ok_or_else(|| format!("no {name} in {text}")).unwrap();
    value.split('"').next().unwrap().to_owned()
}

pub(crate) fn encode(pairs: &[(&str, &str)]) -> String {
    let escape = |text: &str| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        text.bytes()
            .map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect::<String>()
    };
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect();
    pairs.join("&")
}
