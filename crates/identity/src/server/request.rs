//! A request to the authorization server, as plain values. It has no Host and no forwarded header, so that no answer can
//! depend on one.

use std::net::IpAddr;

use frontdesk_engine::model::trace::Trace;

pub struct OAuthRequest<'a> {
    pub method: &'a str,
    /// Not decoded, without a query and without a trailing slash.
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub content_type: Option<&'a str>,
    /// All values of `Authorization`, in order: two are an error, so none may be dropped.
    pub authorization: &'a [&'a str],
    /// All values of `Cookie`.
    pub cookies: &'a [&'a str],
    /// `Sec-Fetch-Site`: whether a page of another site has caused the request, as far as the browser says.
    pub fetch_site: Option<&'a str>,
    /// The transport has already limited its size.
    pub body: &'a [u8],
    pub address: IpAddr,
    pub trace: &'a Trace,
}

impl std::fmt::Debug for OAuthRequest<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Query, header and body can contain a credential.
        out.debug_struct("OAuthRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("trace", &self.trace.id)
            .finish_non_exhaustive()
    }
}

impl OAuthRequest<'_> {
    /// A form, with or without parameters such as a charset.
    pub(crate) fn is_form(&self) -> bool {
        let essence = self.content_type.and_then(|value| value.split(';').next());
        essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
    }
}
