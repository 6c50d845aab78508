//! Connections that come and vanish as fast as they can be made, at every point of a call.

use std::sync::Arc;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::operator::{UNHURRIED, count, until_only};
use frontdesk_testkit::app::http_client::{HttpConnection, trusting};
use frontdesk_testkit::app::{PATH, TestApp};

const STORMERS: usize = 16;
const VISITS: usize = 125;

#[tokio::test(flavor = "multi_thread")]
async fn callers_that_vanish_by_the_thousand_leave_nothing_behind() {
    let desk = TestApp::start_with(&UNHURRIED);
    let mut agent = desk.agent().await;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"leads.list","arguments":{}}}"#;
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        agent.token,
        call.len()
    );
    let (head, tls) = (Arc::new(head), Arc::new(trusting(&desk.ca_file(), rustls::ALL_VERSIONS)));
    let mut stormers = JoinSet::new();
    for stormer in 0..STORMERS {
        let (head, tls, address) = (Arc::clone(&head), Arc::clone(&tls), desk.address);
        stormers.spawn(async move {
            for visit in 0..VISITS {
                // Whether the desk has already cut it is nothing to a caller that leaves.
                let mut socket = TcpStream::connect(address).await.unwrap();
                match (stormer + visit) % 5 {
                    0 => {}
                    1 => socket.write_all(&[0x16, 3, 1, 0, 200, 1]).await.unwrap_or_default(),
                    2 => drop(HttpConnection::over(socket, Arc::clone(&tls), "localhost").await),
                    stage => {
                        if let Ok(mut connection) = HttpConnection::over(socket, Arc::clone(&tls), "localhost").await {
                            connection.send(head.as_bytes()).await.unwrap_or_default();
                            let half = if stage == 3 { call.len() / 2 } else { call.len() };
                            connection.send(&call.as_bytes()[..half]).await.unwrap_or_default();
                        }
                    }
                }
            }
        });
    }
    let mut served = 0;
    while stormers.try_join_next().is_some() || !stormers.is_empty() {
        let page = agent.call("inventory.list", json!({"limit": 1})).await;
        assert_eq!(page["items"][0]["dealership_id"], json!("dlr_lakeside"));
        served += 1;
    }
    assert!(served > 10 && agent.http.opened == 1, "{served} calls over {} connections", agent.http.opened);
    assert!(count(&desk, "frontdesk_connections_accepted_total").await >= 1000);
    // Only the ordinary caller is still there, and its next call is answered.
    until_only(&desk, 1).await;
    agent.call("leads.list", json!({"limit": 1})).await;
    assert_eq!(count(&desk, "frontdesk_panics_total").await, 0);
    assert_eq!(desk.command(&["audit", "verify"]).0, Some(0));
}
