//! A person at a browser: logs in, allows an agent everything that it asks for, and the agent gets its tokens.

use serde_json::Value;

use super::TestApp;
use super::agent::TestAgent;
use super::http_client::{HttpClient, HttpResponse};

/// Appendix B of RFC 7636.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "https://agent.example/cb";

/// Keeps its cookie, and sends what a page has in its hidden fields.
pub struct TestBrowser {
    pub http: HttpClient,
    pub cookie: String,
}

impl TestBrowser {
    pub async fn get(&mut self, path: &str) -> HttpResponse {
        let cookie = self.cookie.clone();
        let headers: &[(&str, &str)] = if cookie.is_empty() { &[] } else { &[("cookie", &cookie)] };
        let response = self.http.request("GET", path, headers, "").await;
        self.keep_cookie(&response);
        response
    }

    /// Sends the form of a page, as Chromium does.
    pub async fn submit(&mut self, path: &str, page: &HttpResponse, fields: &[(&str, &str)]) -> HttpResponse {
        let token = hidden(page.text(), "form_token");
        let mut all = vec![("form_token", token.as_str())];
        all.extend_from_slice(fields);
        let cookie = self.cookie.clone();
        let headers = [
            ("cookie", cookie.as_str()),
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", "null"),
            ("sec-fetch-site", "same-origin"),
        ];
        let response = self.http.request("POST", path, &headers, form(&all)).await;
        self.keep_cookie(&response);
        response
    }

    fn keep_cookie(&mut self, response: &HttpResponse) {
        if let Some(set) = response.header("set-cookie") {
            self.cookie = set.split(';').next().unwrap().to_owned();
        }
    }

    /// Logs in for a request to authorize a client; the consent page.
    pub async fn log_in(&mut self, name: &str, password: &str, query: &str) -> HttpResponse {
        let page = self.get(&format!("/authorize?{query}")).await;
        assert_eq!(page.status, 200, "{}", page.text());
        let fields = [("name", name), ("password", password), ("next", query)];
        let response = self.submit("/login", &page, &fields).await;
        assert_eq!(response.status, 303, "{}", response.text());
        let location = response.header("location").unwrap().to_owned();
        self.get(&location).await
    }

    /// Allows everything that the consent page offers, for this dealership; the code.
    pub async fn allow(&mut self, page: &HttpResponse, query: &str, dealership: &str) -> String {
        let text = page.text();
        let boxes = text.split("name=\"scope:").skip(1).map(|rest| rest.split('"').next().unwrap());
        let boxes: Vec<String> = boxes.map(|scope| format!("scope:{scope}")).collect();
        let mut fields = vec![("request", query), ("decision", "allow"), ("dealership", dealership)];
        fields.extend(boxes.iter().map(|name| (name.as_str(), "on")));
        let response = self.submit("/consent", page, &fields).await;
        assert_eq!(response.status, 303, "{}", response.text());
        let location = response.header("location").unwrap();
        let code = location.split("code=").nth(1).unwrap_or_else(|| panic!("{location}"));
        code.split('&').next().unwrap().to_owned()
    }
}

impl TestApp {
    pub fn browser(&self) -> TestBrowser {
        TestBrowser { http: self.stranger(), cookie: String::new() }
    }

    /// Name and password of the user of the demo.
    pub fn demo_user(&self) -> (String, String) {
        let text = |name: &str| self.banner["user"][name].as_str().unwrap().to_owned();
        (text("name"), text("password"))
    }

    /// Adds a client that acts for people; its id.
    pub fn add_login_client(&self) -> String {
        let (code, out, errors) =
            self.command(&["client", "add", "--json", "--name", "an agent", "--redirect-uri", REDIRECT]);
        assert_eq!(code, Some(0), "{errors}");
        let added: Value = serde_json::from_str(&out).unwrap();
        added["id"].as_str().unwrap().to_owned()
    }

    /// The answer of the token endpoint after the user of the demo has logged in and allowed these scopes.
    pub async fn log_in(&self, client: &str, dealership: &str, scopes: &str) -> Value {
        let query = authorization(client, scopes);
        let (name, password) = self.demo_user();
        let mut browser = self.browser();
        let page = browser.log_in(&name, &password, &query).await;
        let code = browser.allow(&page, &query, dealership).await;
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", &code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        let response = self.post_form("/token", &fields).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    pub async fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> HttpResponse {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.stranger().request("POST", path, &headers, form(fields)).await
    }

    /// An agent with these scopes for somebody who has just logged in.
    pub async fn agent_after_login(&self, dealership: &str, scopes: &str) -> TestAgent {
        let client = self.add_login_client();
        let tokens = self.log_in(&client, dealership, scopes).await;
        let token = tokens["access_token"].as_str().unwrap().to_owned();
        TestAgent::new(self.stranger(), token, dealership.to_owned())
    }
}

/// The query of a request to authorize a client.
pub fn authorization(client: &str, scopes: &str) -> String {
    form(&[
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("state", "s"),
        ("scope", scopes),
    ])
}

/// The value of a hidden field.
fn hidden(page: &str, name: &str) -> String {
    let marker = format!("name=\"{name}\" value=\"");
    let value = page.split(&marker).nth(1).unwrap_or_else(|| panic!("no {name} in {page}"));
    value.split('"').next().unwrap().to_owned()
}

fn form(fields: &[(&str, &str)]) -> String {
    let escape = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let letters = text.bytes().map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        });
        letters.collect::<String>()
    };
    let pairs: Vec<String> = fields.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect();
    pairs.join("&")
}
