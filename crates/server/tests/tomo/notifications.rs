//! Notifications of a business's own systems: only a signed one counts, and it counts once.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::TestApp;
use frontdesk_testkit::app::http_client::{HttpClient, HttpResponse};
use frontdesk_testkit::app::process::run_frontdesk;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::stage::{BEARERS, PartnerServer, json_of, secret};

const KEY: &str = "notification-key-0123456789abcdef0123";
const OLD_KEY: &str = "notification-key-before-0123456789abc";
const KEYS: &str = "[mount.notifications]\nkeys = \"signing\"\n";
const PATH: &str = "/mcp/hotel/notifications";

#[expect(clippy::disallowed_methods, reason = "the sender has a clock of its own")]
fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn signature(key: &str, timestamp: &str, body: &str) -> String {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(format!("{timestamp}.{body}").as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

async fn send(http: &mut HttpClient, path: &str, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let all: Vec<(&str, &str)> =
        [("content-type", "application/json")].into_iter().chain(headers.iter().copied()).collect();
    http.request("POST", path, &all, body).await
}

/// Sent now, signed with this key.
async fn signed(http: &mut HttpClient, path: &str, key: &str, body: &str) -> HttpResponse {
    let timestamp = now().to_string();
    let signature = signature(key, &timestamp, body);
    send(http, path, &[("x-frontdesk-timestamp", &timestamp), ("x-frontdesk-signature", &signature)], body).await
}

fn about(id: &str, booking: &Value, stage: &str) -> String {
    json!({"id": id, "booking_ref": booking["booking_ref"], "stage": stage}).to_string()
}

const UNSIGNED: &str = r#"{"error":{"code":"unauthenticated","message":"The notification is not signed with a key of this endpoint, or not within the last five minutes."}}"#;

#[tokio::test]
async fn t_150_a_notification_without_a_valid_signature_is_refused() {
    let folder = TestFolder::new();
    secret(&folder, "signing", &format!("{KEY}\n{OLD_KEY}"));
    let mut server = PartnerServer::of(folder, "", &format!("{BEARERS}{KEYS}"));
    let mut http = server.http();
    let body = r#"{"id":"n-1","booking_ref":"bkg_none","stage":"completed"}"#;
    // What is signed right is looked at: with either key, whatever the media type.
    for key in [KEY, OLD_KEY] {
        let answer = signed(&mut http, PATH, key, body).await;
        assert_eq!((answer.status, json_of(&answer)["error"]["code"].clone()), (404, json!("not_found")));
    }
    let time = |offset: i64| (now() + offset).to_string();
    let (fresh, stale, early) = (time(0), time(-301_000), time(302_000));
    let right = signature(KEY, &fresh, body);
    let refused = [
        vec![],
        vec![("x-frontdesk-timestamp", fresh.clone())],
        vec![("x-frontdesk-signature", right.clone())],
        vec![("x-frontdesk-timestamp", stale.clone()), ("x-frontdesk-signature", signature(KEY, &stale, body))],
        vec![("x-frontdesk-timestamp", early.clone()), ("x-frontdesk-signature", signature(KEY, &early, body))],
        vec![("x-frontdesk-timestamp", fresh.clone()), ("x-frontdesk-signature", signature(KEY, &fresh, "{}"))],
        vec![
            ("x-frontdesk-timestamp", fresh.clone()),
            ("x-frontdesk-signature", signature("another-key-0123456789abcdef01234567", &fresh, body)),
        ],
        vec![
            ("x-frontdesk-timestamp", fresh.clone()),
            ("x-frontdesk-timestamp", fresh.clone()),
            ("x-frontdesk-signature", right.clone()),
        ],
        vec![("x-tomo-timestamp", fresh.clone()), ("x-tomo-signature", right.clone())],
        vec![("authorization", format!("Bearer {}", crate::stage::LIVE))],
    ];
    for headers in refused {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = send(&mut http, PATH, &headers, body).await;
        assert_eq!((answer.status, answer.text()), (401, UNSIGNED), "{headers:?}");
    }
    // A key that is removed ends at once.
    secret(&server.folder, "signing", KEY);
    server.reload("", &format!("{BEARERS}{KEYS}"), "partner credentials changed and were reloaded");
    let mut http = server.http();
    assert_eq!(signed(&mut http, PATH, OLD_KEY, body).await.text(), UNSIGNED);
    assert_eq!(signed(&mut http, PATH, KEY, body).await.status, 404);
    // Without a file of keys there is nobody to believe.
    server.reload("", BEARERS, "configuration reloaded");
    let mut http = server.http();
    assert_eq!(signed(&mut http, PATH, KEY, body).await.text(), UNSIGNED);
    let records = server.records();
    assert!(records.contains("acme:notifications"), "{records}");
    assert!(!records.contains(KEY) && !records.contains(OLD_KEY), "keys are nowhere");
}

#[tokio::test]
async fn t_150_the_key_of_another_mount_is_refused() {
    let folder = TestFolder::new();
    secret(&folder, "signing", KEY);
    secret(&folder, "other", OLD_KEY);
    let server = PartnerServer::of(folder, "", &format!("{BEARERS}{KEYS}{}", second_mount("other")));
    let mut http = server.http();
    let body = r#"{"id":"n-1","booking_ref":"bkg_none","stage":"completed"}"#;
    for (path, key, status) in [
        (PATH, KEY, 404),
        (PATH, OLD_KEY, 401),
        ("/mcp/second/notifications", OLD_KEY, 404),
        ("/mcp/second/notifications", KEY, 401),
    ] {
        assert_eq!(signed(&mut http, path, key, body).await.status, status, "{path}");
    }
    assert_eq!(signed(&mut http, "/mcp/automotive/notifications", KEY, body).await.status, 404);
}

/// A second partner, of another business.
pub(crate) fn second_mount(keys: &str) -> String {
    format!(
        "[[mount]]\ncontract = \"tomo\"\npath = \"/mcp/second\"\ntenant = \"second\"\nintents = [\"travel.book_hotel\"]\n\
         [mount.partner]\nid = \"second\"\ncompany = \"Second\"\n\
         signals = {{ time = 0.6, taste = 0.8, budget = 0.5, safety = 0.7 }}\nservice_area = [\"Bengaluru\"]\n\
         pricing_band = \"good\"\ncallback = \"https://tomo.example/api/v1/cpc/mcp_provider/second\"\n\
         [mount.auth]\nlive_keys = \"keys\"\n[mount.notifications]\nkeys = \"{keys}\"\n"
    )
}

#[tokio::test]
async fn what_is_wrong_with_a_notification_is_said_without_its_values() {
    let folder = TestFolder::new();
    secret(&folder, "signing", KEY);
    let server = PartnerServer::of(folder, "", &format!("{BEARERS}{KEYS}"));
    let mut http = server.http();
    let mut refused = async |body: &str| {
        let answer = signed(&mut http, PATH, KEY, body).await;
        let error = json_of(&answer)["error"].clone();
        assert!(!answer.text().contains("Asha"), "{}", answer.text());
        (answer.status, error["code"].clone(), error["field"].clone())
    };
    let invalid = |field: Value| (422, json!("invalid"), field);
    assert_eq!(refused("Asha").await, invalid(json!(null)));
    assert_eq!(refused("[]").await, invalid(json!(null)));
    assert_eq!(refused(r#"{"id":"Asha","id":"n-2"}"#).await, invalid(json!(null)));
    assert_eq!(refused(r#"{"id":"n-1","booking_ref":"b","stage":"x","Asha":1}"#).await, invalid(json!(null)));
    assert_eq!(refused(r#"{"booking_ref":"b","stage":"x"}"#).await, invalid(json!("id")));
    assert_eq!(refused(r#"{"id":"Asha Rao","booking_ref":"b","stage":"x"}"#).await, invalid(json!("id")));
    assert_eq!(refused(r#"{"id":"n-1","stage":"Asha"}"#).await, invalid(json!("booking_ref")));
    assert_eq!(refused(r#"{"id":"n-1","booking_ref":"b"}"#).await, invalid(json!("stage")));
    let at = r#"{"id":"n-1","booking_ref":"b","stage":"x","at":"Asha"}"#;
    assert_eq!(refused(at).await, invalid(json!("at")));
    let large = format!(r#"{{"id":"n-1","booking_ref":"b","stage":"x","details":{{"a":"{}"}}}}"#, "x".repeat(65_536));
    let answer = signed(&mut server.http(), PATH, KEY, &large).await;
    assert_eq!((answer.status, json_of(&answer)["error"]["code"].clone()), (413, json!("too_large")));
    let get = server.http().request("GET", PATH, &[], "").await;
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
}

/// The demo's hotels, and what its notifications are signed with.
struct Hotels {
    desk: TestApp,
    key: String,
}

const DEMO: &str = "/mcp/tomo/travel.book_hotel";
const DEMO_NOTIFICATIONS: &str = "/mcp/tomo/travel.book_hotel/notifications";

impl Hotels {
    fn start() -> Hotels {
        Hotels::of(TestApp::start())
    }

    fn of(desk: TestApp) -> Hotels {
        let key = fs::read_to_string(desk.data().join("demo-partner-notifications.token")).unwrap();
        Hotels { key: key.trim().to_owned(), desk }
    }

    fn http(&self) -> HttpClient {
        HttpClient::new(self.desk.address, &self.desk.data().join("tls/ca.pem"))
    }

    async fn call(&self, tool: &str, arguments: &Value) -> Value {
        let token = fs::read_to_string(self.desk.data().join("demo-partner-live.token")).unwrap();
        let bearer = format!("Bearer {}", token.trim());
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}});
        let answer = send(&mut self.http(), DEMO, &[("authorization", &bearer)], &message.to_string()).await;
        let text = json_of(&answer)["result"]["content"][0]["text"].as_str().map(str::to_owned);
        serde_json::from_str(&text.unwrap_or_else(|| panic!("{}", answer.text()))).unwrap()
    }

    /// The arguments that book a stay, and the booking.
    async fn book(&self) -> (Value, Value) {
        let day = |days: i64| {
            let at = frontdesk_engine::model::timestamp::Millis(now() + days * 86_400_000).to_rfc3339();
            at[..10].to_owned()
        };
        let search = json!({"destination": {"city": "Bengaluru", "country_code": "IN"},
            "dates": {"check_in": day(1), "check_out": day(3)}, "party": {"adults": 2, "rooms": 1}});
        let found = self.call("search_availability", &search).await;
        let listing = &found["listings"][0];
        let order = json!({"idempotency_key": "book-1", "result_token": found["result_token"],
            "listing_id": listing["listing_id"], "room_id": listing["room_options"][0]["room_id"],
            "guest": {"name": "Asha Rao", "phone": "+919812345678", "email": "asha.rao@example.com"}});
        let booked = self.call("create_booking", &order).await;
        (order, booked)
    }

    async fn notify(&self, body: &str) -> (u16, Value) {
        let answer = signed(&mut self.http(), DEMO_NOTIFICATIONS, &self.key, body).await;
        (answer.status, json_of(&answer))
    }
}

#[tokio::test]
async fn t_150_a_signed_notification_moves_a_booking_exactly_once() {
    let hotels = Hotels::start();
    let (order, booked) = hotels.book().await;
    assert_eq!(booked["status"], "confirmed");
    let cancelled = about("n-1", &booked, "cancelled");
    let expected = json!({"booking_ref": booked["booking_ref"], "status": "cancelled", "stage": "cancelled"});
    assert_eq!(hotels.notify(&cancelled).await, (200, expected.clone()));
    assert_eq!(hotels.notify(&cancelled).await, (200, expected.clone()), "the same id again answers the same");
    assert_eq!(hotels.call("create_booking", &order).await["status"], "cancelled");
    // The same id about something else, and another stage of what has ended.
    let (status, answer) = hotels.notify(&about("n-1", &booked, "failed")).await;
    assert_eq!((status, &answer["error"]["code"]), (409, &json!("conflict")));
    let (status, answer) = hotels.notify(&about("n-2", &booked, "failed")).await;
    assert_eq!((status, &answer["error"]["code"]), (409, &json!("closed")));
    let (status, answer) = hotels.notify(&about("n-3", &json!({"booking_ref": "bkg_none"}), "failed")).await;
    assert_eq!((status, &answer["error"]["code"]), (404, &json!("not_found")));

    // It is so after a crash, too, and an id that was used before is still known.
    let hotels = Hotels::of(hotels.desk.crash_and_restart());
    assert_eq!(hotels.notify(&cancelled).await, (200, expected));
    assert_eq!(hotels.call("create_booking", &order).await["status"], "cancelled");
    let data = hotels.desk.data();
    drop(hotels.http());
    let audit = run_frontdesk(data.parent().unwrap(), &["audit", "export", "--data", data.to_str().unwrap()]);
    assert!(audit.out.contains("demo_partner:notifications") && audit.out.contains("advance_booking"), "{audit:?}");
    assert!(!audit.out.contains("Asha") && !audit.out.contains(&hotels.key), "{audit:?}");
}

#[tokio::test]
async fn the_operator_advances_a_booking_of_the_running_server() {
    let hotels = Hotels::start();
    let (order, booked) = hotels.book().await;
    let data = hotels.desk.data();
    let data = data.to_str().unwrap();
    let id = booked["booking_ref"].as_str().unwrap();
    let run = |arguments: &[&str]| {
        let all: Vec<&str> = ["tomo", "advance"].iter().chain(arguments).copied().chain(["--data", data]).collect();
        run_frontdesk(hotels.desk.data().parent().unwrap(), &all)
    };
    let refused = run(&[id, "delivered"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("stage: one of these is expected: checked_in, completed, no_show"), "{refused:?}");
    let missing = run(&["bkg_none", "completed"]);
    assert!(missing.err.contains("No booking with this booking_ref exists here."), "{missing:?}");
    let elsewhere = run(&[id, "cancelled", "--mount", "/mcp/other"]);
    assert!(
        elsewhere.err.contains("no mount of tomo is there; there are: /mcp/tomo/travel.book_hotel"),
        "{elsewhere:?}"
    );
    let done = run(&[id, "cancelled", "--detail", "refund_inr=100", "--json"]);
    let expected = json!({"booking_ref": id, "status": "cancelled", "stage": "cancelled"});
    assert_eq!((done.code, serde_json::from_str::<Value>(&done.out).ok()), (Some(0), Some(expected)), "{done:?}");
    let again = run(&[id, "cancelled", "--mount", DEMO]);
    assert_eq!(again.out.trim(), format!("{id} has come to cancelled and is cancelled."), "{again:?}");
    assert_eq!(hotels.call("create_booking", &order).await["status"], "cancelled");
}

#[tokio::test]
async fn one_address_cannot_flood_the_endpoint() {
    let server = PartnerServer::open("", BEARERS);
    let mut http = server.http();
    for _ in 0..2_000 {
        let answer = send(&mut http, PATH, &[], "{}").await;
        if answer.status == 429 {
            assert!(answer.header("retry-after").is_some());
            return;
        }
        assert_eq!(answer.status, 401);
    }
    panic!("nothing was limited");
}
