//! A request to the authorization server, as plain values. It carries no Host and no forwarded
//! header, so that nothing published or decided here can depend on one.

use std::net::IpAddr;

use frontdesk_engine::model::trace::Trace;

pub struct Asked<'a> {
    pub method: &'a str,
    /// As received: no decoding, no query.
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub content_type: Option<&'a str>,
    /// Every `Authorization` header value, in order: two are a refusal, so none may be dropped.
    pub authorization: &'a [&'a str],
    /// Already capped by whoever received it.
    pub body: &'a [u8],
    pub address: IpAddr,
    pub trace: &'a Trace,
}

impl std::fmt::Debug for Asked<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Query, header and body may hold a credential.
        out.debug_struct("Asked")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("trace", &self.trace.id)
            .finish_non_exhaustive()
    }
}

impl Asked<'_> {
    /// A form, with or without parameters such as a charset.
    pub(crate) fn is_form(&self) -> bool {
        let essence = self.content_type.and_then(|value| value.split(';').next());
        essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
    }
}
