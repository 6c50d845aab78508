//! What ends a stream that stays open.

use std::time::Duration;

use frontdesk::net::{DrainResult, ShutdownReason};
use frontdesk_engine::desk::Streaming;
use frontdesk_engine::limits::streams::StreamEnd;
use frontdesk_testkit::eventually;
use tokio::time::Instant;

use crate::stage::{LONG, ON_CHANGE, PATH, Stage, TOKEN, answer, progress};

#[tokio::test]
async fn a_client_that_closes_stops_the_looks() {
    // It looks all the time, so a stream that went on would be seen.
    let stage = Stage::open(Streaming { longest_pause: Duration::from_millis(1), ..ON_CHANGE }).await;
    let connection = stage.open_stream().await;
    eventually("it looks", async || stage.looks() > 3).await;
    drop(connection);
    eventually("the stream ends", async || stage.streams().open() == 0).await;
    assert_eq!(stage.ended(StreamEnd::Closed), 1);
    let looks = stage.looks();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(stage.looks(), looks);
    let page = stage.metrics().await;
    assert!(page.contains("tool=\"track_shipment\",outcome=\"cancelled\"} 1\n"), "{page}");
}

#[tokio::test]
async fn a_client_that_closes_after_sending_more_is_noticed_by_a_comment() {
    let stage = Stage::open(Streaming { heartbeat: Duration::from_millis(20), ..ON_CHANGE }).await;
    let mut connection = stage.open_stream().await;
    // Bytes that wait to be read hide the end of the connection.
    connection.send(b"POST / HTTP/1.1\r\n").await.unwrap();
    drop(connection);
    eventually("the stream ends", async || stage.streams().open() == 0).await;
}

#[tokio::test]
async fn a_silent_stream_is_kept_open_by_comments() {
    let stage = Stage::open(Streaming { heartbeat: Duration::from_millis(20), ..ON_CHANGE }).await;
    let mut connection = stage.open_stream().await;
    for _ in 0..3 {
        assert_eq!(connection.receive_event().await, ": waiting\n\n");
    }
    assert_eq!(stage.looks(), 1);
}

#[tokio::test]
async fn its_caller_cancels_it_on_another_connection() {
    let stage = Stage::open(ON_CHANGE).await;
    let mut connection = stage.open_stream().await;
    let body = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c-1"}}"#;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    assert_eq!(stage.client().request("POST", PATH, &headers, body).await.status, 202);
    assert_eq!(connection.receive_event().await, "", "a cancelled request gets no answer");
    assert_eq!(stage.ended(StreamEnd::Cancelled), 1);
}

#[tokio::test]
async fn a_shutdown_ends_streams_at_once_with_their_answers() {
    let stage = Stage::open(ON_CHANGE).await;
    let mut streams = [stage.open_stream().await, stage.open_stream().await];
    let began = Instant::now();
    stage.shutdown.request(ShutdownReason::Terminate);
    for connection in &mut streams {
        assert_eq!(connection.receive_event().await, answer(0));
        assert_eq!(connection.receive_event().await, "");
    }
    assert_eq!(stage.ended(StreamEnd::Shutdown), 2);
    assert_eq!(stage.serving.await.unwrap(), DrainResult::Finished);
    assert!(began.elapsed() < LONG / 6, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_reload_does_not_break_a_stream() {
    let stage = Stage::open(ON_CHANGE).await;
    let mut connection = stage.open_stream().await;
    let app = stage.app.load_full();
    stage.app.store(app.reloaded(app.config.clone(), Default::default()).into());
    drop(app);
    stage.moves_to(1);
    assert_eq!(connection.receive_event().await, progress(1));
    assert_eq!(stage.streams().open(), 1, "the new app counts it, too");
    stage.moves_to(3);
    assert_eq!(connection.receive_event().await, progress(3) + &answer(3));
}
