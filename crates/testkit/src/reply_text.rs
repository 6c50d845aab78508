//! A reply as one line of text.

use frontdesk_engine::Reply;

/// Status, headers and body, without the header that all replies share.
pub fn reply_text(reply: &Reply) -> String {
    let (shared, own): (Vec<_>, Vec<_>) = reply.headers.iter().partition(|(name, _)| *name == "Cache-Control");
    assert_eq!(shared, [&("Cache-Control", "no-store".into())]);
    let own: String = own.iter().map(|(name, value)| format!(" [{name}: {value}]")).collect();
    format!("{}{own} {}", reply.status, String::from_utf8_lossy(&reply.body))
}
