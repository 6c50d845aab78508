//! How fast calls are over HTTPS against the table of §7, as their caller measures it and as the server says itself.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::process::run_frontdesk;
use serde_json::{Value, json};

use crate::stage::json_of;

const INTENT: &str = "mobility.book_intracity_ride";
const USERS: usize = 4;
const RIDES_OF_A_USER: usize = 60;
/// Calls of each kind.
const CALLS: usize = USERS * RIDES_OF_A_USER;

/// Kind, the tool that stands for it here, and milliseconds at p50, p95 and p99.
const TABLE: [(&str, &str, [u64; 3]); 5] = [
    ("search", "get_ride_estimates", [600, 1500, 3000]),
    ("get", "share_trip_status", [300, 800, 1500]),
    ("create", "book_ride", [2000, 5000, 10_000]),
    ("track", "track_ride", [100, 400, 800]),
    ("cancel", "cancel_ride", [1000, 3000, 5000]),
];

type Times = BTreeMap<&'static str, Vec<Duration>>;

struct User {
    http: HttpClient,
    bearer: String,
    times: Times,
}

impl User {
    fn new(desk: &TestApp) -> User {
        let sandbox = fs::read_to_string(desk.data().join("demo-partner-sandbox.token")).unwrap();
        User {
            http: HttpClient::new(desk.address, &desk.data().join("tls/ca.pem")),
            bearer: format!("Bearer {}", sandbox.trim()),
            times: Times::new(),
        }
    }

    async fn call(&mut self, session: &str, tool: &'static str, mut arguments: Value) -> Value {
        arguments["user_session_id"] = json!(session);
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {"progressToken": session}}});
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("authorization", self.bearer.as_str()),
        ];
        let began = Instant::now();
        let response = self.http.request("POST", &format!("/mcp/tomo/{INTENT}"), &headers, message.to_string()).await;
        self.times.entry(tool).or_default().push(began.elapsed());
        let answer: Value = match response.header("content-type") {
            Some("text/event-stream") => {
                let (_, last) = response.text().trim_end().rsplit_once("data: ").unwrap();
                serde_json::from_str(last).unwrap()
            }
            _ => json_of(&response),
        };
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}"));
        serde_json::from_str(text).unwrap()
    }

    /// What one user does in one session.
    async fn ride(&mut self, session: &str) {
        let place = |lat, lng| json!({"lat": lat, "lng": lng, "address": "Bengaluru"});
        let from_to = json!({"city": "Bengaluru", "pickup": place(12.9756, 77.6068), "drop": place(12.9352, 77.6245)});
        let found = self.call(session, "get_ride_estimates", from_to).await;
        let book = json!({
            "idempotency_key": session, "result_token": found["result_token"],
            "option_id": found["options"][0]["option_id"],
            "rider": {"name": "Asha Menon", "phone": "+919845012345", "email": "asha.menon@example.com"},
        });
        let booked = self.call(session, "book_ride", book).await;
        for tool in ["track_ride", "share_trip_status", "cancel_ride"] {
            self.call(session, tool, json!({"booking_ref": booked["booking_ref"]})).await;
        }
    }

    async fn rides(mut self, name: String) -> Times {
        for number in 0..RIDES_OF_A_USER {
            self.ride(&format!("{name}_{number}")).await;
        }
        self.times
    }
}

/// The percentiles in milliseconds, by tool.
async fn measure(desk: &TestApp) -> BTreeMap<&'static str, [f64; 3]> {
    let users = (0..USERS).map(|number| User::new(desk).rides(format!("user_{number}")));
    let mut all = Times::new();
    for times in futures_util::future::join_all(users).await {
        for (tool, times) in times {
            all.entry(tool).or_default().extend(times);
        }
    }
    all.into_iter().map(|(tool, times)| (tool, percentiles(times))).collect()
}

fn percentiles(mut times: Vec<Duration>) -> [f64; 3] {
    assert_eq!(times.len(), CALLS);
    times.sort();
    [50, 95, 99].map(|percent| times[(CALLS * percent).div_ceil(100) - 1].as_secs_f64() * 1000.0)
}

/// The figures that are above the table.
fn over(measured: &BTreeMap<&'static str, [f64; 3]>) -> Vec<String> {
    let row = |(_, tool, targets): &(&str, &'static str, [u64; 3])| {
        let is_over = measured[tool].iter().zip(targets).any(|(millis, target)| *millis > *target as f64);
        is_over.then(|| format!("{tool}: {:?} of {targets:?} ms", measured[tool]))
    };
    TABLE.iter().filter_map(row).collect()
}

#[tokio::test]
async fn t_110_t_111_t_112_t_113_t_114_calls_keep_to_the_table() {
    let mut desk = TestApp::start();
    let mut measured = measure(&desk).await;
    if !over(&measured).is_empty() {
        // Only a machine that has much else to do is a hundred times slower than it should be.
        desk = TestApp::start();
        measured = measure(&desk).await;
    }
    assert_eq!(over(&measured), [""; 0]);

    let mount = format!("/mcp/tomo/{INTENT}");
    let data = desk.data().display().to_string();
    let status = run_frontdesk(desk.folder.path(), &["tomo", "status", "--mount", &mount, "--json", "--data", &data]);
    assert_eq!(status.code, Some(0), "{status:?}");
    let status: Value = serde_json::from_str(&status.out).unwrap();
    assert_eq!(status[0]["path"], mount);
    let operator = desk.banner["operator_endpoint"].as_str().unwrap().strip_prefix("https://").unwrap();
    let mut operator = HttpClient::new(operator.parse().unwrap(), &desk.data().join("tls/ca.pem"));
    let page = operator.get("/metrics").await.text().to_owned();
    let metric = |name: &str, labels: &str| -> f64 {
        let line = format!("{name}{{mount=\"{mount}\",{labels}}} ");
        let value = page.lines().find_map(|known| known.strip_prefix(line.as_str()));
        value.unwrap_or_else(|| panic!("{line}: {page}")).parse().unwrap()
    };
    for (place, (kind, tool, targets)) in TABLE.into_iter().enumerate() {
        let said = &status[0]["kinds"][place];
        assert_eq!((&said["kind"], &said["calls"]), (&json!(kind), &json!(CALLS)));
        assert_eq!(said["standing"], json!({"state": "good"}));
        assert_eq!(metric("frontdesk_latency_calls", &format!("kind=\"{kind}\"")), CALLS as f64);
        assert_eq!(metric("frontdesk_latency_drop_seconds", &format!("kind=\"{kind}\"")), f64::INFINITY);
        for ((name, quantile), (outside, target)) in
            [("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99")].into_iter().zip(measured[tool].into_iter().zip(targets))
        {
            let labels = format!("kind=\"{kind}\",quantile=\"{quantile}\"");
            let inside = metric("frontdesk_latency_seconds", &labels) * 1000.0;
            // The server counts no more than the caller waits, rounded up by a sixteenth at most.
            assert!(inside > 0.0 && inside <= outside * 17.0 / 16.0, "{tool} {name}: {inside} and {outside}");
            assert_eq!(metric("frontdesk_latency_target_seconds", &labels) * 1000.0, target as f64);
            assert_eq!(said[name], json!({"milliseconds": inside.ceil() as u64, "target": target}));
        }
    }
}
