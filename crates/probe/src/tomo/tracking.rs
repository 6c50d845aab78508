//! What a stream of events must be (§5): progress of this call, then the response as its last message, then its end. One
//! JSON document is as good.

use frontdesk_wire::json;
use serde_json::Value;

use crate::https::StreamEnd;
use crate::rpc::Exchange;

/// Everything that is wrong with the form of an answer to a call with this progress token.
pub(super) fn stream_problems(exchange: &Exchange, token: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if exchange.stream == StreamEnd::NoStream {
        return problems;
    }
    let before = exchange.raw.len().saturating_sub(1);
    let mut last = f64::NEG_INFINITY;
    for message in exchange.raw.iter().take(before) {
        let Ok(message) = json::parse_answer(message) else {
            problems.push("the stream has an event that is not strict JSON".to_owned());
            continue;
        };
        let method = message.get("method").and_then(Value::as_str);
        if message.get("jsonrpc") != Some(&Value::from("2.0")) || method.is_none() {
            problems.push("the stream has an event that is no JSON-RPC message".to_owned());
        }
        if method != Some("notifications/progress") {
            continue;
        }
        if message.pointer("/params/progressToken").and_then(Value::as_str) != Some(token) {
            problems.push("progress came without the progressToken of the call".to_owned());
        }
        match message.pointer("/params/progress").and_then(Value::as_f64) {
            Some(progress) if progress > last => last = progress,
            Some(_) => problems.push("the progress did not grow".to_owned()),
            None => problems.push("progress came without a number".to_owned()),
        }
    }
    if exchange.trailing > 0 {
        problems.push(format!("{} more came after the response, which must be the last message", exchange.trailing));
    }
    if exchange.stream == StreamEnd::KeptOpen {
        problems.push("the stream was not ended after the response".to_owned());
    }
    problems.dedup();
    problems
}

/// How many messages of progress came before the response.
pub(super) fn progress_count(exchange: &Exchange) -> usize {
    if exchange.stream == StreamEnd::NoStream { 0 } else { exchange.raw.len().saturating_sub(1) }
}
