//! A full disk, by a limit on the size of the desk's files that anybody may set and lift for their own processes:
//! it is answered as something that passes, nothing is written by half, and work goes on once there is room.

use std::process::Command;

use serde_json::json;

use super::line::Answer;
use super::load::lead;
use super::order_log::{Order, OrderLog};
use super::stage::Stage;
use super::tables::Before;

#[tokio::test]
async fn a_full_disk_is_unavailable_until_there_is_room() {
    let stage = Stage::embedded_and_limitable().await;
    let before = Before::look(&stage.database, &stage.desk);
    let mut order_log = OrderLog::default();
    let mut line = stage.line(0);
    let Answer::Done(stock) = line.call("inventory.list", &json!({"limit": 1})).await else { panic!("no stock") };

    // The log begins anew, some commits fit, and the one that does not is cut off in the middle of a page.
    stage.database.empty_log(&stage.desk);
    limit(&stage, "600001");
    let mut refusal = None;
    for number in 0..400 {
        let order = Order { dealership: 0, tool: "leads.create", arguments: lead(&format!("until-full-{number}")) };
        order_log.send(&order);
        match line.call(order.tool, &order.arguments).await {
            Answer::Done(text) => order_log.answer(order.key(), &text),
            Answer::Later(text) => {
                refusal = Some(text);
                break;
            }
            Answer::Cut => panic!("the desk is gone"),
        }
    }
    let refusal = refusal.unwrap_or_else(|| panic!("it never was full"));
    assert!(refusal.contains(r#""structuredContent":{"error":{"code":"internal.unavailable","message":"The service cannot do this right now; nothing was changed. Try again.","details":{"retryable":true,"retry_after":1},"retry_after":1}},"isError":true"#), "{refusal}");
    assert!(order_log.answered() > 0, "some fitted before it was full");

    // Not even a small record fits any more: everybody's orders are refused alike, and none of them has happened.
    limit(&stage, "1");
    for number in 0..10 {
        let arguments = lead(&format!("while-full-{number}"));
        let order = Order { dealership: number % stage.dealerships(), tool: "leads.create", arguments };
        order_log.send(&order);
        match stage.line(order.dealership).call(order.tool, &order.arguments).await {
            Answer::Later(text) => assert!(text.contains(r#""code":"internal.unavailable""#), "{text}"),
            Answer::Done(text) => panic!("it was answered: {text}"),
            Answer::Cut => panic!("the desk is gone"),
        }
    }
    assert_eq!(stage.database.claims(&stage.desk), before.claims + order_log.answered());

    // Reading goes on, except for what must be on record before it leaves.
    let Answer::Done(still) = line.call("inventory.list", &json!({"limit": 1})).await else { panic!("no stock") };
    assert_eq!(still.split_once("next_cursor").unwrap().0, stock.split_once("next_cursor").unwrap().0);
    let known = order_log.leads().into_iter().next().unwrap();
    let whole = json!({"id": known.split_once(' ').unwrap().0});
    assert!(matches!(line.call("leads.list", &json!({"limit": 1})).await, Answer::Done(_)));
    assert!(matches!(line.call("leads.get", &whole).await, Answer::Later(_)));

    limit(&stage, "unlimited");
    let order_log = stage.repeat(order_log.orders(), order_log).await;
    assert!(matches!(line.call("leads.get", &whole).await, Answer::Done(_)));
    before.and_then(&order_log, &stage.database, &stage.desk);
}

/// No write of the desk goes beyond this many bytes of any file.
fn limit(stage: &Stage, bytes: &str) {
    let mut prlimit = Command::new("prlimit");
    prlimit.arg("--pid").arg(stage.desk.process_id().to_string()).arg(format!("--fsize={bytes}:"));
    assert!(prlimit.status().unwrap().success());
}
