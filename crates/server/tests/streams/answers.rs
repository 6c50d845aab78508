//! What is sent, byte by byte.

use serde_json::Value;

use crate::stage::{EVENTS, ON_CHANGE, PATH, Stage, TOKEN, answer, progress, track};
use frontdesk_engine::desk::Streaming;
use frontdesk_testkit::app::http_client::HttpResponse;

async fn post(stage: &Stage, accept: &str, body: &str) -> HttpResponse {
    let bearer = format!("Bearer {TOKEN}");
    let mut headers =
        vec![("authorization", bearer.as_str()), ("content-type", "application/json"), ("accept", accept)];
    headers.retain(|(_, value)| !value.is_empty());
    stage.client().request("POST", PATH, &headers, body).await
}

#[tokio::test]
async fn t_087_tracking_is_one_progress_message_and_the_answer() {
    let stage = Stage::open(Streaming::default()).await;
    let response = post(&stage, EVENTS, &track("p1")).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.text(), progress(0) + &answer(0));
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
        ("x-accel-buffering", "no"),
        ("x-content-type-options", "nosniff"),
        ("content-length", &response.body.len().to_string()),
    ] {
        assert_eq!(response.header(name), Some(value), "{name}");
    }
    // Every fragment is JSON-RPC, and the last one has the id of the request.
    let fragments: Vec<Value> = response
        .text()
        .split("\n\n")
        .filter_map(|event| event.split_once("data: "))
        .map(|(_, data)| serde_json::from_str(data).unwrap())
        .collect();
    assert!(fragments.iter().all(|fragment| fragment["jsonrpc"] == "2.0"));
    assert_eq!(fragments.last().unwrap()["id"], "c-1");
    assert_eq!((stage.looks(), stage.streams().open()), (1, 0));
    assert!(
        stage.metrics().await.contains("frontdesk_call_seconds_count{contract=\"tomo\",tool=\"track_shipment\"} 1\n")
    );
}

#[tokio::test]
async fn t_087_who_does_not_name_events_gets_one_json_document() {
    let json = answer(0).trim_end().strip_prefix("data: ").unwrap().to_owned();
    for streaming in [Streaming::default(), ON_CHANGE] {
        let stage = Stage::open(streaming).await;
        for accept in ["", "*/*", "application/json", "text/*", "application/json, text/event-stream;q=0"] {
            let response = post(&stage, accept, &track("p1")).await;
            assert_eq!((response.status, response.text()), (200, json.as_str()), "{accept}");
            assert_eq!(response.header("content-type"), Some("application/json"), "{accept}");
        }
    }
}

#[tokio::test]
async fn t_086_other_tools_and_all_faults_are_one_json_document() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let search = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_hotels","arguments":{}}}"#;
    for streaming in [Streaming::default(), ON_CHANGE] {
        let stage = Stage::open(streaming).await;
        for (body, status) in [(list, 200), (search, 400), (&track("none"), 404), ("{", 400)] {
            let response = post(&stage, EVENTS, body).await;
            assert_eq!(response.header("content-type"), Some("application/json"), "{body}");
            assert_eq!(response.status, status, "{body}: {}", response.text());
            assert_eq!(response.json()["jsonrpc"], "2.0");
        }
        let headers = [("content-type", "application/json"), ("accept", EVENTS)];
        let stranger = stage.client().request("POST", PATH, &headers, track("p1")).await;
        assert_eq!((stranger.status, stranger.header("content-type")), (401, Some("application/json")));
    }
}

#[tokio::test]
async fn a_stream_tells_what_happens_and_then_the_connection_goes_on() {
    let stage = Stage::open(ON_CHANGE).await;
    let mut connection = stage.connect().await;
    stage.ask(&mut connection, EVENTS, &track("p1")).await;
    let head = connection.receive_head().await.unwrap();
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("transfer-encoding", "chunked"),
        ("cache-control", "no-store"),
        ("x-accel-buffering", "no"),
    ] {
        assert_eq!((head.status, head.header(name)), (200, Some(value)), "{name}");
    }
    assert_eq!(connection.receive_event().await, progress(0));
    stage.moves_to(1);
    assert_eq!(connection.receive_event().await, progress(1));
    let open = stage.metrics().await;
    assert!(open.contains("frontdesk_streams_open 1\n"), "{open}");
    stage.moves_to(3);
    assert_eq!(connection.receive_event().await, progress(3) + &answer(3));
    assert_eq!(connection.receive_event().await, "", "the last chunk");
    // The next request on the same connection.
    stage.ask(&mut connection, "application/json", &track("p1")).await;
    assert_eq!(connection.receive().await.unwrap().json()["id"], "c-1");
    let page = stage.metrics().await;
    for line in [
        "frontdesk_streams_open 0\n",
        "frontdesk_streams_ended_total{reason=\"complete\"} 1\n",
        "frontdesk_calls_total{contract=\"tomo\",tool=\"track_shipment\",outcome=\"ok\"} 2\n",
        // The stream is no slow call.
        "frontdesk_call_seconds_count{contract=\"tomo\",tool=\"track_shipment\"} 1\n",
    ] {
        assert!(page.contains(line), "{line}{page}");
    }
}

#[tokio::test]
async fn t_113_a_stream_that_stays_open_is_no_slow_look() {
    let stage = Stage::open(ON_CHANGE).await;
    let counted = |page: &str| {
        let name = format!("frontdesk_latency_calls{{mount=\"{PATH}\",kind=\"track\"}} ");
        page.lines().find_map(|line| line.strip_prefix(name.as_str())).unwrap_or_else(|| panic!("{page}")).to_owned()
    };
    let mut connection = stage.open_stream().await;
    stage.moves_to(3);
    assert_eq!(connection.receive_event().await, progress(3) + &answer(3));
    assert_eq!(connection.receive_event().await, "", "the last chunk");
    assert_eq!(counted(&stage.metrics().await), "0");
    // What has ended before anybody looks is answered at once, and so is who does not listen.
    post(&stage, EVENTS, &track("p1")).await;
    post(&stage, "application/json", &track("p1")).await;
    let page = stage.metrics().await;
    assert_eq!(counted(&page), "2");
    assert!(page.contains("frontdesk_calls_total{contract=\"tomo\",tool=\"track_shipment\",outcome=\"ok\"} 3\n"));
}

#[tokio::test]
async fn a_modern_caller_gets_the_same_stream() {
    let stage = Stage::open(Streaming::default()).await;
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"track_shipment","arguments":{"id":"p1"},"_meta":{"progressToken":9,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", EVENTS),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "track_shipment"),
    ];
    let response = stage.client().request("POST", PATH, &headers, body).await;
    assert_eq!(
        response.text(),
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":9,\"progress\":0,\"total\":3,\"message\":\"Stop 0\"}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"id\\\":\\\"p1\\\",\\\"stop\\\":0}\"}],\"structuredContent\":{\"id\":\"p1\",\"stop\":0},\"isError\":false,\"resultType\":\"complete\"}}\n\n"
    );
}
