//! Traces: the spans of a call as a collector gets them, whose trace they belong to, and what becomes of calls when the
//! collector is slow, gone or choosy.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use frontdesk_testkit::app::collector::{CollectorMode, TraceCollector};
use frontdesk_testkit::app::http_client::HttpClient;
use frontdesk_testkit::app::{DemoTenant, PATH, TestApp};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const OTHER: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "00f067aa0ba902b7";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn traceparent(trace: &str, flags: &str) -> String {
    format!("00-{trace}-{SPAN}-{flags}")
}

fn traced(collector: &TraceCollector) -> TestApp {
    TestApp::start_with(&[("FRONTDESK_TRACES_ENDPOINT", &collector.endpoint())])
}

fn call(tool: &str, arguments: Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

async fn metrics(desk: &TestApp) -> String {
    let operator = desk.banner["operator_endpoint"].as_str().unwrap().strip_prefix("https://").unwrap();
    HttpClient::new(operator.parse().unwrap(), &desk.ca_file()).get("/metrics").await.text().to_owned()
}

fn value(page: &str, series: &str) -> f64 {
    let found = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("no {series}: {page}"))
}

async fn metric(desk: &TestApp, series: &str) -> f64 {
    value(&metrics(desk).await, series)
}

/// The span with what differs from call to call taken out, once it has been looked at.
fn still(span: &Value) -> Value {
    let number = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
    let (began, ended) = (number("startTimeUnixNano"), number("endTimeUnixNano"));
    // After 2026 began, and in nanoseconds.
    assert!(began > 1_767_225_600_000_000_000 && ended >= began && ended - began < 30_000_000_000, "{span}");
    let id = span["spanId"].as_str().unwrap();
    assert!(id.len() == 16 && id != "0000000000000000", "{span}");
    let mut span = span.clone();
    for (name, word) in [("spanId", "ID"), ("startTimeUnixNano", "BEGAN"), ("endTimeUnixNano", "ENDED")] {
        span[name] = json!(word);
    }
    span
}

#[tokio::test]
async fn a_call_is_one_server_span_with_its_stages() {
    let collector = TraceCollector::start(CollectorMode::Accept);
    let desk = traced(&collector);
    let mut agent = desk.agent().await;
    let headers = [("traceparent", &*traceparent(TRACE, "01")), ("mcp-protocol-version", "2025-11-25")];
    let answer = agent.post(&call("inventory.get", json!({"id": "veh_none"})), &headers).await;
    assert_eq!((answer.status, answer.header("x-trace-id")), (200, Some(TRACE)));

    let spans = collector.trace(TRACE).await;
    let id = spans[0]["spanId"].clone();
    assert_eq!(
        still(&spans[0]).to_string(),
        json!({
            "traceId": TRACE, "spanId": "ID", "parentSpanId": SPAN, "flags": 0x301,
            "name": "tools/call inventory.get", "kind": 2, "startTimeUnixNano": "BEGAN", "endTimeUnixNano": "ENDED",
            "attributes": [
                {"key": "mcp.method.name", "value": {"stringValue": "tools/call"}},
                {"key": "gen_ai.tool.name", "value": {"stringValue": "inventory.get"}},
                {"key": "mcp.protocol.version", "value": {"stringValue": "2025-11-25"}},
                {"key": "frontdesk.contract", "value": {"stringValue": "automotive"}},
                {"key": "frontdesk.era", "value": {"stringValue": "legacy"}},
                {"key": "frontdesk.outcome", "value": {"stringValue": "not_found"}},
                {"key": "error.type", "value": {"stringValue": "inventory.not_found"}},
                {"key": "http.response.status_code", "value": {"intValue": "200"}},
            ],
        })
        .to_string()
    );
    let names: Vec<&Value> = spans[1..].iter().map(|span| &span["name"]).collect();
    assert_eq!(names, ["identify", "perform", "record"]);
    for stage in &spans[1..] {
        assert_eq!(
            still(stage),
            json!({
                "traceId": TRACE, "spanId": "ID", "parentSpanId": id, "flags": 0x101, "name": stage["name"], "kind": 1,
                "startTimeUnixNano": "BEGAN", "endTimeUnixNano": "ENDED", "attributes": [],
            })
        );
        let time = |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
        assert!(time(stage, "startTimeUnixNano") >= time(&spans[0], "startTimeUnixNano"), "{stage}");
        assert!(time(stage, "endTimeUnixNano") <= time(&spans[0], "endTimeUnixNano"), "{stage}");
    }

    let posts = collector.posts();
    let post = posts.first().unwrap();
    assert_eq!((post.method.as_str(), post.path.as_str()), ("POST", "/v1/traces"));
    let header = |wanted: &str| post.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    assert_eq!(header("content-type"), Some("application/json"));
    assert_eq!(header("host"), Some(&*collector.address.to_string()));
    let request: Value = serde_json::from_str(&post.text).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        request["resourceSpans"][0]["resource"],
        json!({"attributes": [
            {"key": "service.name", "value": {"stringValue": "frontdesk"}},
            {"key": "service.version", "value": {"stringValue": version}},
        ]})
    );
    assert_eq!(request["resourceSpans"][0]["scopeSpans"][0]["scope"], json!({"name": "frontdesk", "version": version}));
}

#[tokio::test]
async fn a_call_has_one_trace_id_in_reply_log_audit_and_span() {
    let collector = TraceCollector::start(CollectorMode::Accept);
    let mut desk = traced(&collector);
    let mut agent = desk.agent().await;
    let own =
        agent.post(&call("inventory.list", json!({"limit": 1})), &[]).await.header("x-trace-id").unwrap().to_owned();
    assert!(own.len() == 32 && own.bytes().all(|byte| byte.is_ascii_hexdigit()), "{own}");
    assert_eq!(collector.trace(&own).await[0].get("parentSpanId"), None);

    // A message of the modern era names its trace itself; that of its request is another's.
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "traceparent": traceparent(OTHER, "01")});
    let params = json!({"name": "inventory.list", "arguments": {"limit": 1}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}).to_string();
    let outer = traceparent(TRACE, "01");
    let headers =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "inventory.list")];
    let answer = agent.post(&body, &[&headers[..], &[("traceparent", &outer)]].concat()).await;
    assert_eq!((answer.status, answer.header("x-trace-id")), (200, Some(OTHER)), "{}", answer.text());
    let span = &collector.trace(OTHER).await[0];
    assert_eq!((&span["parentSpanId"], &span["name"]), (&json!(SPAN), &json!("tools/call inventory.list")));
    assert!(
        span["attributes"]
            .as_array()
            .unwrap()
            .contains(&json!({"key": "frontdesk.era", "value": {"stringValue": "modern"}}))
    );
    assert!(collector.spans().iter().all(|span| span["traceId"] != TRACE));

    assert_eq!(desk.stop(), Some(0));
    let (_, records, _) = desk.command(&["audit", "export"]);
    for trace in [&own, OTHER] {
        let field = format!("\"trace\":\"{trace}\"");
        assert_eq!(desk.log().matches(&field).count(), 1, "{}", desk.log());
        assert_eq!(records.matches(&field).count(), 1, "{records}");
    }
}

#[tokio::test]
async fn callers_sample_their_traces_and_the_ratio_new_ones() {
    let collector = TraceCollector::start(CollectorMode::Accept);
    let endpoint = collector.endpoint();
    for sample in ["0.0", "1.0"] {
        let settings = [("FRONTDESK_TRACES_ENDPOINT", endpoint.as_str()), ("FRONTDESK_TRACES_SAMPLE", sample)];
        let mut desk = TestApp::start_with(&settings);
        let mut agent = desk.agent().await;
        let before = collector.spans().len();
        let own = agent.post(PING, &[]).await.header("x-trace-id").unwrap().to_owned();
        let unwanted = format!("{:032x}", u128::from(before as u64) + 1);
        agent.post(PING, &[("traceparent", &traceparent(&unwanted, "00"))]).await;
        let wanted = format!("{:032x}", u128::from(before as u64) + (1 << 64));
        agent.post(PING, &[("traceparent", &traceparent(&wanted, "01"))]).await;
        // All that will ever come has come when the desk has closed.
        assert_eq!(desk.stop(), Some(0));
        let seen = |trace: &str| collector.spans().iter().any(|span| span["traceId"] == trace);
        assert_eq!((seen(&own), seen(&unwanted), seen(&wanted)), (sample == "1.0", false, true), "{sample}");
    }
}

#[tokio::test]
async fn a_stranger_cannot_ask_for_its_trace_to_be_kept() {
    let collector = TraceCollector::start(CollectorMode::Accept);
    let endpoint = collector.endpoint();
    for (sample, kept) in [("0.0", false), ("1.0", true)] {
        let settings = [("FRONTDESK_TRACES_ENDPOINT", endpoint.as_str()), ("FRONTDESK_TRACES_SAMPLE", sample)];
        let mut desk = TestApp::start_with(&settings);
        let before = collector.spans().len();
        for flags in ["00", "01"] {
            let asked = [("traceparent", &*traceparent(TRACE, flags))];
            assert_eq!(desk.stranger().request("POST", PATH, &asked, PING).await.status, 401);
            let form = [("content-type", "application/x-www-form-urlencoded"), asked[0]];
            let login = "grant_type=client_credentials&client_id=nobody&client_secret=wrong";
            assert_eq!(desk.stranger().request("POST", "/token", &form, login).await.status, 401);
        }
        assert_eq!(desk.stop(), Some(0));
        let spans = collector.spans();
        let served = spans[before..].iter().filter(|span| span["traceId"] == TRACE && span["kind"] == 2).count();
        // A stranger's calls to a contract are only counted, and have no span at all.
        assert_eq!(served, if kept { 2 } else { 0 }, "{sample}: {spans:?}");
    }
}

#[tokio::test]
async fn a_ratio_takes_its_part() {
    let collector = TraceCollector::start(CollectorMode::Accept);
    let settings = [
        ("FRONTDESK_TRACES_ENDPOINT", &*collector.endpoint()),
        ("FRONTDESK_TRACES_SAMPLE", "0.25"),
        ("FRONTDESK_LIMITS_BURST", "10000"),
    ];
    let mut desk = TestApp::start_with(&settings);
    let mut agent = desk.agent().await;
    for _ in 0..800 {
        agent.post(PING, &[]).await;
    }
    assert_eq!(desk.stop(), Some(0));
    let pings = collector.spans().iter().filter(|span| span["name"] == "ping").count();
    // 200 are expected; fewer than 120 or more than 280 would happen once in ten thousand million times.
    assert!((120..=280).contains(&pings), "{pings} of 800");
}

/// L1 of our list of attacks: of who called and what was said, nothing is in a span.
#[tokio::test]
async fn spans_have_no_tenant_client_address_or_input() {
    let collector = TraceCollector::start(CollectorMode::Accept);
    let mut desk = traced(&collector);
    let (client, secret, dealership) = desk.credentials(DemoTenant::Lakeside);
    let mut agent = desk.agent().await;
    let lead = json!({"contact": {"name": "Canary Person", "email": "canary@example.com"}, "interest": "buy",
        "consent": {"granted": true, "channels": ["email"]}, "idempotency_key": "canary-key"});
    let made = agent.call("leads.create", lead).await;
    agent.call("leads.get", json!({"id": made["id"]})).await;
    agent.call("leads.list", json!({"email": "canary@example.com", "dealership_id": dealership})).await;
    agent.call("inventory.search", json!({"text": "canary-text"})).await;
    agent.call("inventory.search", json!({"canary-argument": 1})).await;
    agent.send("canary/method", json!({"canary": "canary-value"})).await;
    agent.send("tools/call", json!({"name": "canary.tool"})).await;
    agent.send("resources/read", json!({"uri": "amcp://canary/leads"})).await;
    let headers = [("traceparent", "00-canary-canary-01"), ("tracestate", "canary=1"), ("baggage", "canary=1")];
    agent.post(PING, &headers).await;
    desk.request_token("canary", "canary", "canary").await;
    assert_eq!(desk.stop(), Some(0));
    let text = collector.posts().iter().map(|post| format!("{:?}{}", post.headers, post.text)).collect::<String>();
    assert!(text.contains("tools/call leads.create") && text.contains("\"name\":\"unknown\""), "{text}");
    let id = made["id"].as_str().unwrap();
    for word in [client.as_str(), &secret, &agent.token, &dealership, "dlr_", id, "led_", "anary", "\"127.0.0.1\""] {
        assert!(!text.contains(word), "{word}\n{text}");
    }
}

#[tokio::test]
async fn a_call_a_moment_before_the_end_is_sent() {
    let collector = TraceCollector::start(CollectorMode::Accept);
    let mut desk = traced(&collector);
    let mut agent = desk.agent().await;
    agent.post(PING, &[("traceparent", &traceparent(TRACE, "01"))]).await;
    assert_eq!(desk.stop(), Some(0));
    assert!(collector.spans().iter().any(|span| span["traceId"] == TRACE));
}

#[tokio::test]
async fn a_hanging_collector_slows_no_call_and_drops_are_counted() {
    let collector = TraceCollector::start(CollectorMode::Hang);
    let mut desk = TestApp::start_with(&[
        ("FRONTDESK_TRACES_ENDPOINT", &*collector.endpoint()),
        ("FRONTDESK_LIMITS_BURST", "1000000"),
        ("FRONTDESK_DEADLINES_DRAIN_SECONDS", "1"),
    ]);
    let mut agent = desk.agent().await;
    let mut took = Vec::new();
    let messages: Vec<Value> = (0..64).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).collect();
    let batch = json!(messages).to_string();
    for _ in 0..80 {
        let began = Instant::now();
        let answer = agent.post(&batch, &[("mcp-protocol-version", "2025-03-26")]).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        took.push(began.elapsed());
    }
    // Whoever waited for the collector would wait for five seconds. The machine itself may be late, but not most times.
    took.sort();
    assert!(took[40] < Duration::from_secs(4), "half of the calls waited {:?}", took[40]);
    // 80 batches and the token. A batch that is just given up is in neither number for a moment.
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let page = metrics(&desk).await;
        let full = value(&page, r#"frontdesk_traces_lost_total{reason="full"}"#);
        let waiting = value(&page, "frontdesk_traces_queue");
        let gone = value(&page, r#"frontdesk_traces_lost_total{reason="collector"}"#);
        assert!(full > 0.0, "{full}");
        if full + waiting + gone == 80.0 * 64.0 + 1.0 {
            break;
        }
        assert!(Instant::now() < deadline, "{full} and {waiting} and {gone}");
    }
    assert_eq!(metric(&desk, "frontdesk_traces_sent_total").await, 0.0);
    let asked = Instant::now();
    assert_eq!(desk.stop(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(20), "it took {:?}", asked.elapsed());
    assert!(desk.log().contains("shutdown: traces not delivered"), "{}", desk.log().lines().last().unwrap());
}

#[tokio::test]
async fn an_unreachable_collector_and_its_return_are_logged_once() {
    let collector = TraceCollector::start(CollectorMode::Status(401));
    let desk = traced(&collector);
    let mut agent = desk.agent().await;
    let lost = r#"frontdesk_traces_lost_total{reason="collector"}"#;
    for wanted in [2.0, 3.0] {
        assert_eq!(agent.post(PING, &[]).await.status, 200);
        let deadline = Instant::now() + Duration::from_secs(60);
        while metric(&desk, lost).await < wanted {
            assert!(Instant::now() < deadline, "{}", desk.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    collector.set_mode(CollectorMode::Accept);
    agent.post(PING, &[("traceparent", &traceparent(TRACE, "01"))]).await;
    collector.trace(TRACE).await;
    let deadline = Instant::now() + Duration::from_secs(60);
    while !desk.log().contains("trace export recovered") {
        assert!(Instant::now() < deadline, "{}", desk.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let said = format!("the collector\",\"error\":\"{} answered 401\"", collector.endpoint());
    assert_eq!(desk.log().matches(&said).count(), 1, "{}", desk.log());
    assert_eq!(metric(&desk, "frontdesk_traces_sent_total").await, 1.0);
}

#[tokio::test]
async fn a_busy_collector_is_asked_again_and_gets_the_same_spans() {
    let collector = TraceCollector::start(CollectorMode::Status(503));
    let desk = traced(&collector);
    let mut agent = desk.agent().await;
    agent.post(PING, &[("traceparent", &traceparent(TRACE, "01"))]).await;
    let deadline = Instant::now() + Duration::from_secs(60);
    while collector.refused() == 0 {
        assert!(Instant::now() < deadline, "{}", desk.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    collector.set_mode(CollectorMode::Accept);
    assert_eq!(collector.trace(TRACE).await[0]["name"], "ping");
    assert_eq!(metric(&desk, r#"frontdesk_traces_lost_total{reason="collector"}"#).await, 0.0);
    assert!(!desk.log().contains("trace export failed"), "{}", desk.log());
}

#[tokio::test]
async fn a_collector_with_a_long_reply_has_accepted_the_spans() {
    let collector = TraceCollector::start(CollectorMode::LongReply);
    let mut desk = traced(&collector);
    let mut agent = desk.agent().await;
    agent.post(PING, &[("traceparent", &traceparent(TRACE, "01"))]).await;
    collector.trace(TRACE).await;
    assert_eq!(desk.stop(), Some(0));
    assert!(!desk.log().contains("trace export failed"), "{}", desk.log());
    let pings = collector.spans().iter().filter(|span| span["traceId"] == TRACE && span["name"] == "ping").count();
    assert_eq!(pings, 1, "they were sent again");
}

#[tokio::test]
async fn nobody_listening_does_not_keep_a_desk_from_serving_or_ending() {
    // Bound and not listened on, so that nobody else gets it meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let unused = socket.local_addr().unwrap();
    let mut desk = TestApp::start_with(&[("FRONTDESK_TRACES_ENDPOINT", &format!("http://{unused}"))]);
    let mut agent = desk.agent().await;
    assert_eq!(agent.post(PING, &[]).await.status, 200);
    assert_eq!(desk.stranger().request("POST", PATH, &[], PING).await.status, 401);
    let asked = Instant::now();
    assert_eq!(desk.stop(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(20), "it took {:?}", asked.elapsed());
    assert!(desk.log().contains(&format!("http://{unused} cannot be reached (")), "{}", desk.log());
}
