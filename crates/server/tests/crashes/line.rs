//! One connection with a token, and the three ways in which a call on it can end.

use serde_json::{Value, json};

use frontdesk_testkit::app::PATH;
use frontdesk_testkit::app::http_client::HttpClient;

pub(crate) struct Line {
    http: HttpClient,
    bearer: String,
}

pub(crate) enum Answer {
    /// The tool's answer, byte for byte.
    Done(String),
    /// Not now; it is said that it may be tried again.
    Later(String),
    /// The connection ended without an answer.
    Cut,
}

impl Line {
    pub(crate) fn new(http: HttpClient, token: &str) -> Line {
        Line { http, bearer: format!("Bearer {token}") }
    }

    /// An answer that is neither a success nor an invitation to try again ends the test.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let call = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
        let headers = [("authorization", self.bearer.as_str()), ("content-type", "application/json")];
        let Ok(response) = self.http.try_request("POST", PATH, &headers, body).await else {
            return Answer::Cut;
        };
        let whole = response.text();
        if whole.contains(r#""retryable":true"#) {
            return Answer::Later(whole.to_owned());
        }
        let parsed: Value = serde_json::from_str(whole).unwrap();
        let text = parsed["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {whole}"));
        assert_eq!(parsed["result"]["isError"], false, "{tool}: {whole}");
        Answer::Done(text.to_owned())
    }
}
