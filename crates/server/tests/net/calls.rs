//! What a well-behaved client gets.

use std::sync::atomic::Ordering;

use frontdesk::net::ConnectionLimits;

use crate::test_server::{BIG, BODY_LIMIT, Desk};

#[tokio::test]
async fn several_requests_are_answered_on_one_connection() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut client = desk.client();
    for number in 0..5 {
        let response = client.request("POST", "/echo", &[], format!("body {number}")).await;
        assert_eq!((response.status, response.text()), (200, format!("body {number}").as_str()));
        assert_eq!(client.get("/hello").await.text(), "hello");
    }
    assert_eq!(client.opened, 1);
    assert_eq!((desk.gauges().accepted, desk.gauges().open), (1, 1));
}

#[tokio::test]
async fn requests_sent_together_are_answered_in_order() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut connection = desk.connect().await;
    let two = "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\nfirst\
               GET /hello HTTP/1.1\r\nhost: localhost\r\n\r\n";
    connection.send(two.as_bytes()).await.unwrap();
    assert_eq!(connection.receive().await.unwrap().text(), "first");
    assert_eq!(connection.receive().await.unwrap().text(), "hello");
}

#[tokio::test]
async fn a_chunked_body_is_read_whole() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let headers = [("transfer-encoding", "chunked"), ("expect", "100-continue")];
    let mut client = desk.client();
    let response = client.request("POST", "/echo", &headers, "3\r\none\r\n4\r\n two\r\n0\r\n\r\n").await;
    assert_eq!((response.status, response.text()), (200, "one two"));
    assert_eq!(client.get("/hello").await.text(), "hello");
    assert_eq!(client.opened, 1);
}

#[tokio::test]
async fn a_full_answer_carries_its_length_and_a_stream_is_chunked() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut client = desk.client();
    let full = client.get("/hello").await;
    assert_eq!((full.header("content-length"), full.header("transfer-encoding")), (Some("5"), None));
    let stream = client.get("/stream").await;
    assert_eq!((stream.header("content-length"), stream.header("transfer-encoding")), (None, Some("chunked")));
    assert_eq!(stream.text(), "one two three");
    let head = client.request("HEAD", "/hello", &[], "").await;
    assert_eq!((head.status, head.header("content-length"), head.text()), (200, Some("5"), ""));
    assert_eq!(client.get("/missing").await.status, 404);
    assert_eq!(client.opened, 1);
}

#[tokio::test]
async fn a_large_answer_arrives_whole_before_the_connection_closes() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let response = desk.client().request("GET", "/big", &[("connection", "close")], "").await;
    assert_eq!((response.status, response.body.len()), (200, BIG));
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_by_header_and_by_size() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let exact = vec![b'x'; BODY_LIMIT];
    assert_eq!(desk.client().request("POST", "/echo", &[], &exact).await.body.len(), BODY_LIMIT);

    let announced = (BODY_LIMIT + 1).to_string();
    let mut connection = desk.connect().await;
    let head = format!("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: {announced}\r\n\r\n");
    connection.send(head.as_bytes()).await.unwrap();
    assert_eq!(connection.receive().await.unwrap().status, 413);

    let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", BODY_LIMIT + 1, "x".repeat(BODY_LIMIT + 1));
    let response = desk.client().request("POST", "/echo", &[("transfer-encoding", "chunked")], chunk).await;
    assert_eq!(response.status, 413);
}

#[tokio::test]
async fn a_client_that_is_still_sending_reads_why_it_was_refused() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let body = vec![b'x'; 8 * BODY_LIMIT];
    let response = desk.client().request("POST", "/echo", &[], &body).await;
    assert_eq!(response.status, 413);
    let response = desk.client().request("POST", "/ignore-body", &[], &body).await;
    assert_eq!((response.status, response.text()), (200, "ignored"));
}

#[tokio::test]
async fn a_panic_is_a_500_without_text_and_keeps_the_connection() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut client = desk.client();
    let response = client.get("/panic").await;
    assert_eq!((response.status, response.text()), (500, ""));
    assert_eq!(client.get("/hello").await.text(), "hello");
    assert_eq!((client.opened, desk.gauges().panics), (1, 1));
}

#[tokio::test]
async fn a_client_that_leaves_stops_its_call() {
    let desk = Desk::open(ConnectionLimits::default()).await;
    let mut connection = desk.connect().await;
    connection.send(b"GET /forever HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    desk.until_called().await;
    assert_eq!(desk.calls.abandoned.load(Ordering::SeqCst), 0);
    drop(connection);
    desk.until(|gauges| gauges.open == 0).await;
    assert_eq!(desk.calls.abandoned.load(Ordering::SeqCst), 1);
}
