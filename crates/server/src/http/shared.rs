//! What somebody has shared by a link opens here without a login, as a page or as JSON. Every link that shows nothing gets
//! the same answer, whatever is wrong with it, and no answer may be stored or indexed.

use ::http::header::ACCEPT;
use ::http::request::Parts;
use ::http::{HeaderMap, Method};
use frontdesk_contracts::shared_page::{READ_TOOL, REFRESH_SECONDS, SharedPage};
use frontdesk_engine::desk::Mount;
use frontdesk_engine::limits::ip_prefix::ip_prefix;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::tool::Outcome;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::serve::own_call::{CallOrigin, OwnTool, call_tool};
use frontdesk_engine::{Fault, FaultKind, Reply};
use serde_json::{Map, Value, json};

use super::page::{escape, guarded_html};
use crate::app::{App, PartnerEndpoint};
use crate::net::Peer;

const PAGE: &str = include_str!("shared.html");

/// Longer ones were not made here.
const MAX_TOKEN: usize = 1_000;

/// A page looks again every few seconds; a household has a few of them open.
const PER_ADDRESS: Budget = Budget { per_minute: 60, burst: 30 };

pub(super) async fn answer(
    app: &App,
    (partner, mount): (&PartnerEndpoint, &Mount),
    token: &str,
    head: &Parts,
    (peer, trace): (&Peer, &Trace),
) -> Reply {
    let format = Format::of(&head.headers);
    let reply = match head.method {
        Method::GET | Method::HEAD => match open(app, (partner, mount), token, (peer, trace)).await {
            Ok(shared) => format.shown(mount.contract.server_info.title, &shared),
            Err(fault) => format.refused(mount.contract.server_info.title, &fault),
        },
        _ => {
            Reply::plain(405, json!({"error": {"code": "method_not_allowed"}}).to_string()).header("allow", "GET, HEAD")
        }
    };
    let reply = reply.header("x-robots-tag", "noindex, nofollow").header("referrer-policy", "no-referrer");
    if head.method == Method::HEAD { Reply { body: Default::default(), ..reply } } else { reply }
}

async fn open(
    app: &App,
    (partner, mount): (&PartnerEndpoint, &Mount),
    token: &str,
    (peer, trace): (&Peer, &Trace),
) -> Result<Value, Fault> {
    let address = ip_prefix(peer.address).to_string();
    let limited = |seconds| Fault::new(FaultKind::RateLimited, "").retry_after(seconds);
    app.desk.rates.take(&["shared", &partner.path, &address], PER_ADDRESS, app.desk.monotonic()).map_err(limited)?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !(1..=MAX_TOKEN).contains(&token.len()) || !token.bytes().all(is_token) {
        return Err(Fault::not_found());
    }
    let origin =
        CallOrigin { caller: partner.caller("shared"), address: peer.address, trace: trace.clone(), import_id: None };
    let arguments = Map::from_iter([("token".to_owned(), Value::from(token))]);
    let answer = match call_tool(&app.desk, mount, &origin, OwnTool::Operator(READ_TOOL), arguments, None).await? {
        Outcome::Raw { answer, .. } => answer,
        Outcome::One(item) => item.body,
        Outcome::Many(_) => return Err(Fault::internal("a tool of the operator answers with a list")),
    };
    serde_json::from_str(&answer).map_err(|_| Fault::internal("the answer of a tool is no JSON"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Html,
    Json,
}

impl Format {
    /// A page, unless JSON alone is asked for.
    fn of(headers: &HeaderMap) -> Format {
        let accept = || headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let takes = |media: &str| accept().any(|accept| accept.contains(media));
        if takes("application/json") && !takes("text/html") { Format::Json } else { Format::Html }
    }

    fn shown(self, company: &str, shared: &Value) -> Reply {
        match self {
            Format::Json => Reply::plain(200, shared.to_string()),
            Format::Html => {
                let page = SharedPage::of(shared);
                let note = format!("This page looks again every {REFRESH_SECONDS} seconds. It ends with the trip.");
                guarded_html(200, render(company, &page, &note, Refresh::Often))
            }
        }
    }

    /// Whatever is wrong with a link, it is not said.
    fn refused(self, company: &str, fault: &Fault) -> Reply {
        let (status, code, heading) = if fault.kind == FaultKind::RateLimited {
            (429, "rate_limited", "Too many requests. Wait a moment.")
        } else if fault.kind == FaultKind::Unavailable {
            (503, "unavailable", "This page cannot be shown at the moment.")
        } else {
            (404, "not_found", "This link shows nothing, or what it showed is over.")
        };
        let reply = match self {
            Format::Json => Reply::plain(status, json!({"error": {"code": code, "message": heading}}).to_string()),
            Format::Html => {
                let page = SharedPage { heading: heading.to_owned(), rows: Vec::new() };
                guarded_html(status, render(company, &page, "", Refresh::Never))
            }
        };
        match fault.retry_after {
            Some(seconds) => reply.header("retry-after", seconds.to_string()),
            None => reply,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refresh {
    Often,
    Never,
}

fn render(company: &str, page: &SharedPage, note: &str, refresh: Refresh) -> String {
    let row = |(name, value): &(&str, String)| format!("<tr><th>{}</th><td>{}</td></tr>", escape(name), escape(value));
    let rows: String = page.rows.iter().map(row).collect();
    let rows = if rows.is_empty() { rows } else { format!("<table>{rows}</table>") };
    let refresh = match refresh {
        Refresh::Often => format!("<meta http-equiv=\"refresh\" content=\"{REFRESH_SECONDS}\">\n"),
        Refresh::Never => String::new(),
    };
    // What comes from records is put in last, so that it is not searched for places to fill.
    PAGE.replace("{refresh}", &refresh)
        .replace("{note}", note)
        .replace("{title}", &escape(company))
        .replace("{company}", &escape(company))
        .replace("{rows}", &rows)
        .replace("{heading}", &escape(&page.heading))
}

#[cfg(test)]
mod tests {
    use ::http::HeaderMap;
    use ::http::header::ACCEPT;
    use frontdesk_engine::{Fault, FaultKind};
    use serde_json::json;

    use super::Format;

    fn text(reply: &frontdesk_engine::Reply) -> String {
        String::from_utf8(reply.body.to_vec()).unwrap()
    }

    #[test]
    fn a_page_shows_what_is_shared_and_escapes_it() {
        let shared = json!({"message": "A <b>driver</b> & more", "city": "Bengaluru", "driver_name": "Ravi"});
        let reply = Format::Html.shown("Monsoon <Mobility>", &shared);
        let page = text(&reply);
        assert_eq!(reply.status, 200);
        assert!(page.contains("<h1>A &lt;b&gt;driver&lt;/b&gt; &amp; more</h1>"), "{page}");
        assert!(
            page.contains("<th>City</th><td>Bengaluru</td>") && page.contains("Monsoon &lt;Mobility&gt;"),
            "{page}"
        );
        assert!(page.contains("http-equiv=\"refresh\" content=\"10\""), "{page}");
        for absent in ["Ravi", "<script", "http://", "https://", "{"] {
            assert!(!page.split("<body>").nth(1).unwrap().contains(absent), "{absent}: {page}");
        }
        let policy = reply.headers.iter().find(|(name, _)| *name == "content-security-policy").unwrap();
        assert!(policy.1.starts_with("default-src 'none'"), "{policy:?}");
        assert_eq!(text(&Format::Json.shown("Monsoon", &shared)), shared.to_string());
    }

    #[test]
    fn all_links_that_show_nothing_look_the_same() {
        for format in [Format::Html, Format::Json] {
            let missing = format.refused("Monsoon", &Fault::not_found());
            assert_eq!(missing.status, 404);
            for kind in [FaultKind::InvalidArgument, FaultKind::Internal, FaultKind::Forbidden] {
                assert_eq!(format.refused("Monsoon", &Fault::new(kind, "why")), missing);
            }
            assert_eq!(format.refused("Monsoon", &Fault::unavailable("why")).status, 503);
        }
        assert!(!text(&Format::Html.refused("Monsoon", &Fault::not_found())).contains("refresh"));
    }

    #[test]
    fn json_is_for_who_asks_for_it_alone() {
        let of = |accept: &str| Format::of(&HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]));
        assert_eq!(of("application/json"), Format::Json);
        assert_eq!(of("text/html,application/xhtml+xml,application/json;q=0.9"), Format::Html);
        assert_eq!(of("*/*"), Format::Html);
        assert_eq!(Format::of(&HeaderMap::new()), Format::Html);
    }
}
