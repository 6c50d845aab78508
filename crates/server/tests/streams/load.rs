//! Many streams, and streams that nobody reads (X9).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use frontdesk::net::ConnectionLimits;
use frontdesk_engine::desk::Streaming;
use frontdesk_testkit::eventually;

use crate::stage::{EVENTS, ON_CHANGE, PATH, Stage, TOKEN, Wishes, track};

const REFUSAL: &str = r#"{"jsonrpc":"2.0","id":"c-1","error":{"code":-32001,"message":"Too many calls; wait before the next one.","data":{"tomo_error_code":"RATE_LIMITED"}}}"#;

#[tokio::test]
async fn streams_beyond_the_limit_are_refused_and_others_are_served() {
    let settings = vec![("FRONTDESK_LIMITS_STREAMS_PER_CLIENT", "8")];
    let stage = Stage::with(Wishes { streaming: ON_CHANGE, settings, ..Wishes::default() }).await;
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(stage.open_stream().await);
    }
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json"), ("accept", EVENTS)];
    let mut client = stage.client();
    for _ in 0..200 {
        let refused = client.request("POST", PATH, &headers, track("p1")).await;
        assert_eq!((refused.status, refused.text(), refused.header("retry-after")), (429, REFUSAL, Some("4")));
    }
    assert_eq!(stage.streams().open(), 8);
    // Who does not listen is served as ever.
    assert_eq!(client.request("POST", PATH, &headers[..2], track("p1")).await.status, 200);
    drop(open.pop());
    eventually("a stream ends", async || stage.streams().open() == 7).await;
    stage.open_stream().await;
}

#[tokio::test]
async fn a_stream_that_nobody_reads_stops_looking_and_is_cut() {
    let write = Duration::from_millis(1500);
    let stage = Stage::with(Wishes {
        streaming: Streaming { longest_pause: Duration::ZERO, ..ON_CHANGE },
        message_bytes: 256 << 10,
        limits: Some(ConnectionLimits { write, ..ConnectionLimits::default() }),
        ..Wishes::default()
    })
    .await;
    let mut connection = stage.connect().await;
    stage.ask(&mut connection, EVENTS, &track("p1")).await;
    // It goes on until the buffers of both systems are full.
    let seen = AtomicUsize::new(0);
    eventually("it stops looking", async || {
        let looks = stage.looks();
        looks > 0 && looks == seen.swap(looks, Ordering::SeqCst)
    })
    .await;
    let looks = stage.looks();
    assert!(looks < 200, "{looks} events of 256 KiB were buffered");
    eventually("it is cut", async || stage.streams().open() == 0).await;
    assert!(stage.looks() <= looks + 2, "{} looks", stage.looks());
}
