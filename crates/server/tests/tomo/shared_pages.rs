//! Pages of what was shared by a link: no login, no trace, and nothing to learn from a wrong link.

use frontdesk_testkit::app::TestApp;
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
        assert_eq!(
            policy,
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        );
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

const RIDES: &str = "/mcp/tomo/mobility.book_intracity_ride";

async fn call(desk: &TestApp, tool: &str, arguments: Value) -> Value {
    let token = std::fs::read_to_string(desk.data().join("demo-partner-live.token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let params = json!({"name": tool, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let answer = json_of(&desk.stranger().request("POST", RIDES, &headers, body).await);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}"));
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn t_039_a_shared_trip_opens_without_a_login_and_ends_with_the_trip() {
    let desk = TestApp::start();
    let place = |lat: f64, lng: f64, address: &str| json!({"lat": lat, "lng": lng, "address": address});
    let places = json!({"city": "Bengaluru", "pickup": place(12.9756, 77.6068, "Pickup Lane 7"),
        "drop": place(12.9352, 77.6245, "Drop Street 9")});
    let found = call(&desk, "get_ride_estimates", places).await;
    let booking = json!({"idempotency_key": "k-1", "result_token": found["result_token"],
        "option_id": found["options"][0]["option_id"], "rider": {"name": "Asha Rao", "phone": "+919812345678"}});
    let ride = call(&desk, "book_ride", booking).await;
    let reference = json!({"booking_ref": ride["booking_ref"]});
    let shared = call(&desk, "share_trip_status", reference.clone()).await;
    let url = shared["share_url"].as_str().unwrap();
    let path = &url[url.find("/mcp/").unwrap()..];

    // Nobody but who has the link: no credential, no cookie.
    let mut http = desk.stranger();
    let page = http.request("GET", path, &[], "").await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("Bengaluru") && page.text().contains("It ends with the trip."), "{}", page.text());
    let json = http.request("GET", path, &[("accept", "application/json")], "").await;
    let trip = json_of(&json);
    let mut members: Vec<&String> = trip.as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["city", "eta_minutes", "expires_at", "message", "stage", "vehicle_class"]);
    let driver = &ride["driver"];
    let personal = ["Asha", "98123", "Pickup Lane", "Drop Street", "12.97", "77.60", "12.93", "77.62"]
        .into_iter()
        .chain([driver["first_name"].as_str().unwrap(), driver["plate"].as_str().unwrap()])
        .chain([ride["booking_ref"].as_str().unwrap()]);
    for word in personal {
        assert!(!page.text().contains(word) && !json.text().contains(word), "{word}: {}", page.text());
    }
    for (name, value) in [("cache-control", "no-store"), ("x-robots-tag", "noindex, nofollow")] {
        assert_eq!((page.header(name), json.header(name)), (Some(value), Some(value)));
    }
    // One letter of it changed, and at another mount, it is no link.
    let last = path.len() - 10;
    let other = if &path[last..=last] == "A" { "B" } else { "A" };
    let changed = format!("{}{other}{}", &path[..last], &path[last + 1..]);
    let elsewhere = path.replace("mobility.book_intracity_ride", "travel.book_hotel");
    for wrong in [changed.as_str(), elsewhere.as_str()] {
        assert_eq!(http.request("GET", wrong, &[], "").await.status, 404, "{wrong}");
    }

    call(&desk, "cancel_ride", reference).await;
    let over = http.request("GET", path, &[], "").await;
    assert_eq!(over.status, 404);
    assert!(over.text().contains("This link shows nothing, or what it showed is over."));
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
