//! Replies in tests: to dispatched messages, and as one line of text.

use frontdesk_engine::Reply;
use frontdesk_engine::dispatch::{CallAnswer, DispatchReply, DispatchStatus, MAX_ATTEMPTS, Reused};
use frontdesk_wire::answer::quote;

pub fn dispatch_reply(reply: &DispatchReply<'_>) -> Reply {
    let (status, word) = match reply.status {
        DispatchStatus::Accepted => (202, "accepted"),
        DispatchStatus::Completed => (200, "completed"),
        DispatchStatus::Failed => (200, "failed"),
    };
    let or_null = |text: Option<&str>| text.map_or_else(|| "null".to_owned(), quote);
    let mut body = format!(
        r#"{{"status":"{word}","task_id":{},"trace_id":{},"idempotency_key":{},"reused":{}"#,
        or_null(reply.task_id),
        quote(reply.trace_id),
        or_null(reply.key),
        reply.reused == Reused::Yes,
    );
    if let Some(CallAnswer { http_status, trace_id, response }) = reply.answer {
        body += &format!(
            r#","result":{{"http_status":{http_status},"session_id":"","trace_id":{},"response":{response}}}"#,
            quote(trace_id)
        );
    }
    if reply.status == DispatchStatus::Failed {
        let (code, message) = match reply.answer {
            None => (
                "attempts_exhausted",
                format!("It was begun {MAX_ATTEMPTS} times and not completed. Send it under another key."),
            ),
            Some(_) => (
                "time_exhausted",
                "It could not be done for as long as an answer is kept. Send it under another key.".to_owned(),
            ),
        };
        body += &format!(r#","error":{{"code":"{code}","message":{}}}"#, quote(&message));
    }
    body.push('}');
    Reply::plain(status, body)
}

/// Status, headers and body, without the header that all replies share.
pub fn reply_text(reply: &Reply) -> String {
    let (shared, own): (Vec<_>, Vec<_>) = reply.headers.iter().partition(|(name, _)| *name == "Cache-Control");
    assert_eq!(shared, [&("Cache-Control", "no-store".into())]);
    let own: String = own.iter().map(|(name, value)| format!(" [{name}: {value}]")).collect();
    format!("{}{own} {}", reply.status, String::from_utf8_lossy(&reply.body))
}
