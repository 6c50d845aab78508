//! Pages of what was shared by a link: no login, no trace, and nothing to learn from a wrong link.

use serde_json::{Value, json};

use crate::stage::{BEARERS, PATH, PartnerServer, json_of};

#[tokio::test]
async fn a_link_that_leads_nowhere_gets_one_page_that_nobody_may_keep() {
    let server = PartnerServer::open("", BEARERS);
    let mut http = server.http();
    let mut pages = Vec::new();
    let long = "a".repeat(1_001);
    for token in ["abc", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "a.b", "a/b", "%00", long.as_str()] {
        let page = http.request("GET", &format!("{PATH}/trips/{token}"), &[], "").await;
        assert_eq!(page.status, 404, "{token}");
        let policy = page.header("content-security-policy").unwrap().to_owned();
        assert_eq!(policy, "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'");
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("x-robots-tag", "noindex, nofollow"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(page.header(name), Some(value), "{name}");
        }
        pages.push(page.text().to_owned());
    }
    pages.dedup();
    assert_eq!(pages.len(), 1, "all of them look the same");
    assert!(pages[0].contains("This link shows nothing, or what it showed is over."));
    assert!(!pages[0].contains("<script") && !pages[0].contains("http://") && !pages[0].contains("https://"));

    let page = http.request("GET", &format!("{PATH}/trips/abc"), &[("accept", "application/json")], "").await;
    let message = "This link shows nothing, or what it showed is over.";
    assert_eq!((page.status, json_of(&page)), (404, json!({"error": {"code": "not_found", "message": message}})));
    assert_eq!(page.header("x-robots-tag"), Some("noindex, nofollow"));
    let head = http.request("HEAD", &format!("{PATH}/trips/abc"), &[], "").await;
    assert_eq!((head.status, head.text()), (404, ""));
    let posted = http.request("POST", &format!("{PATH}/trips/abc"), &[], "{}").await;
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD")));
    // Elsewhere there is no such page.
    let other: Value = json_of(&http.request("GET", "/mcp/automotive/trips/abc", &[], "").await);
    assert_eq!(other["error"]["code"], "request.refused");
}

#[tokio::test]
async fn one_address_cannot_guess_links_for_long() {
    let server = PartnerServer::open("", BEARERS);
    let mut http = server.http();
    for guess in 0..500 {
        let page = http.request("GET", &format!("{PATH}/trips/guess{guess}"), &[], "").await;
        if page.status == 429 {
            assert!(page.header("retry-after").is_some());
            return;
        }
        assert_eq!(page.status, 404);
    }
    panic!("nothing was limited");
}
