//! Completions: what is told of a booking, when, how it is signed, and what each answer leads to. The other side is played
//! here; a clock that stands still makes every attempt visible.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use frontdesk_contracts::partner::{PartnerSettings, PartnerSource};
use frontdesk_contracts::record::{Entity, Integer, Stored as _};
use frontdesk_contracts::tomo::booking::{Booking, BookingStatus};
use frontdesk_engine::TenantId;
use frontdesk_engine::delivery::{
    DELIVERY, DELIVERY_EXPIRES_AT, DeliveryStatus, Replayed, advance, list, replay, replay_all, send_due, test_endpoint,
};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::http_client::{DocumentRequest, HttpClient, HttpError, HttpRequest, HttpResponse};
use frontdesk_engine::seal::signing_key::SigningKey;
use serde_json::{Value, json};

use super::support::{HOTEL, NOW, TestDesk, booking, mount, partner, search};

const DAY: i64 = 86_400_000;
const CALLBACK: &str = "https://tomo.example/api/v1/cpc/mcp_provider/demo_partner";

/// Answers as told, 201 if it was told nothing.
#[derive(Default)]
struct Receiver {
    answers: Mutex<Vec<Result<u16, HttpError>>>,
    requests: Mutex<Vec<HttpRequest>>,
}

impl HttpClient for Receiver {
    fn post<'a>(&'a self, request: HttpRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        self.requests.lock().unwrap().push(request);
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.is_empty() { Ok(201) } else { answers.remove(0) };
        let answer = answer.map(|status| HttpResponse { status, ..HttpResponse::default() });
        Box::pin(std::future::ready(answer))
    }

    fn get<'a>(&'a self, _: DocumentRequest) -> Future<'a, Result<HttpResponse, HttpError>> {
        Box::pin(std::future::ready(Err(HttpError::Refused)))
    }
}

struct Completions {
    desk: TestDesk,
    receiver: Arc<Receiver>,
}

fn tenant() -> TenantId {
    TenantId::parse(HOTEL).unwrap()
}

impl Completions {
    fn new(keys: &[&str]) -> Completions {
        let mut desk = TestDesk::hotels();
        let receiver = Arc::new(Receiver::default());
        desk.desk.http_client = receiver.clone();
        let mut completions = Completions { desk, receiver };
        completions.set_keys(keys);
        completions
    }

    /// As a reload with other keys does.
    fn set_keys(&mut self, keys: &[&str]) {
        self.desk.mount = mount(&settings(keys));
    }

    fn answers(&self, answers: impl IntoIterator<Item = Result<u16, HttpError>>) {
        self.receiver.answers.lock().unwrap().extend(answers);
    }

    /// What a node does once: reads events, and sends what is due. Returns how many attempts were made.
    fn round(&self) -> usize {
        let TestDesk { desk, mount, runtime, .. } = &self.desk;
        runtime.block_on(async {
            advance(desk, mount, &tenant(), 0).await.unwrap();
            send_due(desk, mount, &tenant()).await.unwrap()
        })
    }

    fn requests(&self) -> Vec<HttpRequest> {
        self.receiver.requests.lock().unwrap().clone()
    }

    fn list(&self) -> Vec<Value> {
        let TestDesk { desk, mount, runtime, .. } = &self.desk;
        runtime.block_on(list(desk, mount, &tenant(), None, 100)).unwrap()
    }

    fn booked(&self, key: &str) -> String {
        let mut arguments = search();
        arguments["preferences"] = json!({"min_star_rating": 4});
        let found = self.desk.call("search_availability", arguments);
        let mut create = booking(&found, key);
        create["request_id"] = json!(format!("req-{key}"));
        self.desk.call("create_booking", create)["booking_ref"].as_str().unwrap().to_owned()
    }

    fn cancel(&self, booking: &str) -> Value {
        self.desk.call("cancel_booking", json!({"booking_ref": booking}))
    }

    /// Changes a booking and says so in an event, as a tool does that the booking's shape will have.
    fn change(&self, id: &str, change: impl FnOnce(&mut Booking)) {
        let row = self.desk.store.row(HOTEL, Booking::table(), id).unwrap();
        let stored = frontdesk_engine::model::table::StoredRow {
            id: row.id,
            version: row.version,
            created_at: row.created_at,
            body: row.body,
            masked: row.masked,
            personal: row.personal,
            secret: row.secret,
        };
        let mut booking: Entity<Booking> = Entity::restore(&tenant(), &stored).unwrap();
        change(&mut booking.record);
        booking.version += 1;
        self.desk.store.put(HOTEL, Booking::table(), booking.row("tenant"));
        let cancelled = self.desk.store.inspect(|state| state.events.last().unwrap().clone());
        self.desk.store.inspect(|state| {
            let sequence = state.events.iter().filter(|event| event.tenant == HOTEL).count() + 1;
            let mut event = cancelled;
            event.sequence = sequence;
            event.event.id = id.to_owned();
            state.events.push(event);
        });
    }
}

fn settings(keys: &[&str]) -> PartnerSettings {
    let mut settings = partner("travel.book_hotel", PartnerSource::Own);
    settings.keys.completion = keys.iter().map(|key| SigningKey::new(key.as_bytes().to_vec())).collect();
    settings
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> &'a str {
    request.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str()).unwrap()
}

fn text(request: &HttpRequest) -> String {
    String::from_utf8(request.body.to_vec()).unwrap()
}

#[test]
fn t_140_a_completion_is_posted_as_json_to_the_callback() {
    let all = Completions::new(&["whsec_test"]);
    let id = all.booked("k-1");
    all.cancel(&id);
    assert_eq!(all.round(), 1);
    let [request] = all.requests().try_into().ok().unwrap();
    assert_eq!(request.url, CALLBACK);
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["content-type", "x-tomo-timestamp", "x-tomo-signature"]);
    assert_eq!(header(&request, "content-type"), "application/json");
}

#[test]
fn t_141_t_142_the_timestamp_has_milliseconds_and_is_signed() {
    let all = Completions::new(&["whsec_test"]);
    let id = all.booked("k-1");
    all.change(&id, |booking| {
        booking.status = BookingStatus::Failed;
        booking.ended_at = Some(NOW);
    });
    all.round();
    let [request] = all.requests().try_into().ok().unwrap();
    assert_eq!(header(&request, "x-tomo-timestamp"), NOW.0.to_string());
    let expected = format!(
        r#"{{"intent":"travel.book_hotel","intent_version":"v1.0.0","external_id":"{id}","amount_inr":0,"closed_at":"2026-01-31T09:30:00Z","request_id":"req-k-1","status":"stay_failed","currency":"INR","notes":""}}"#
    );
    assert_eq!(text(&request), expected);
    let signed = SigningKey::new(b"whsec_test".to_vec()).sign(&[format!("{}.{expected}", NOW.0).as_bytes()]);
    let hex: String = signed.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(header(&request, "x-tomo-signature"), format!("sha256={hex}"));
}

#[test]
fn t_143_every_attempt_has_a_fresh_timestamp_and_the_same_body() {
    let all = Completions::new(&["whsec_test"]);
    all.cancel(&all.booked("k-1"));
    all.answers([Ok(500), Err(HttpError::TimedOut), Ok(302)]);
    for _ in 0..4 {
        assert_eq!(all.round(), 1);
        assert_eq!(all.round(), 0, "it waits");
        all.desk.clock.advance(6 * 60 * 1000);
    }
    let requests = all.requests();
    let times: Vec<i64> = requests.iter().map(|request| header(request, "x-tomo-timestamp").parse().unwrap()).collect();
    assert_eq!(times, [0, 1, 2, 3].map(|minutes| NOW.0 + minutes * 6 * 60 * 1000));
    let bodies: BTreeSet<String> = requests.iter().map(text).collect();
    assert_eq!(bodies.len(), 1);
    let signatures: BTreeSet<&str> = requests.iter().map(|request| header(request, "x-tomo-signature")).collect();
    assert_eq!(signatures.len(), 4);
    all.desk.clock.advance(DAY);
    assert_eq!(all.round(), 0, "201 ends it");
}

#[test]
fn t_144_a_refused_signature_alarms_and_loses_nothing() {
    let all = Completions::new(&["whsec_test"]);
    all.cancel(&all.booked("k-1"));
    all.answers(std::iter::repeat_n(Ok(401), 40));
    for _ in 0..40 {
        assert_eq!(all.round(), 1, "it is tried for as long as it takes");
        assert_eq!((&all.list()[0]["status"], &all.list()[0]["last_result"]), (&json!("alarmed"), &json!("401")));
        all.desk.clock.advance(DAY);
    }
    assert_eq!(all.round(), 1);
    assert_eq!(all.list()[0]["status"], "delivered");
}

#[test]
fn t_145_while_a_key_is_replaced_the_older_one_is_tried_at_once() {
    let mut all = Completions::new(&["new-key", "old-key"]);
    all.cancel(&all.booked("k-1"));
    all.answers([Ok(401), Ok(201)]);
    assert_eq!(all.round(), 1);
    let requests = all.requests();
    let of = |key: &str, request: &HttpRequest| {
        let parts = format!("{}.{}", header(request, "x-tomo-timestamp"), text(request));
        let signed = SigningKey::new(key.as_bytes().to_vec()).sign(&[parts.as_bytes()]);
        let hex: String = signed.iter().map(|byte| format!("{byte:02x}")).collect();
        header(request, "x-tomo-signature") == format!("sha256={hex}")
    };
    assert_eq!(requests.len(), 2);
    assert!(of("new-key", &requests[0]) && of("old-key", &requests[1]));
    assert_eq!(all.list()[0]["status"], "delivered");
    // Without a key nothing is sent, and nothing is lost.
    all.set_keys(&[]);
    let id = all.booked("k-2");
    all.cancel(&id);
    assert_eq!(all.round(), 0);
    assert_eq!((&all.list()[0]["subject"], &all.list()[0]["status"]), (&json!(id), &json!("pending")));
    all.set_keys(&["another"]);
    assert_eq!(all.round(), 1);
    assert!(of("another", all.requests().last().unwrap()));
}

#[test]
fn t_146_each_final_state_is_told_once_and_no_other() {
    let all = Completions::new(&["whsec_test"]);
    let ids: Vec<String> = (0..3).map(|number| all.booked(&format!("k-{number}"))).collect();
    let dates = json!({"check_in": "2027-03-11", "check_out": "2027-03-13"});
    all.desk.call("modify_booking", json!({"booking_ref": ids[0], "dates": dates}));
    assert_eq!(all.round(), 0, "booked and changed, but not ended");
    all.cancel(&ids[0]);
    all.change(&ids[1], |booking| booking.status = BookingStatus::Completed);
    all.change(&ids[2], |booking| booking.status = BookingStatus::Failed);
    all.round();
    // Whatever happens to a booking later, TOMO is not told again.
    all.change(&ids[1], |booking| booking.status = BookingStatus::Cancelled);
    all.cancel(&ids[0]);
    all.desk.clock.advance(DAY);
    assert_eq!(all.round(), 0);
    let told: Vec<(String, String)> = all
        .requests()
        .iter()
        .map(|request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            (body["external_id"].as_str().unwrap().to_owned(), body["status"].as_str().unwrap().to_owned())
        })
        .collect();
    let expected = ids.iter().cloned().zip(["stay_cancelled", "stay_completed", "stay_failed"].map(str::to_owned));
    assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), expected.collect());
    let tried = all.desk.call_as("tomo:sandbox", "search_availability", search());
    let tried = all.desk.call_as("tomo:sandbox", "create_booking", booking(&tried, "k-s"));
    all.desk.call_as("tomo:sandbox", "cancel_booking", json!({"booking_ref": tried["booking_ref"]}));
    assert_eq!(all.round(), 0, "the sandbox is nobody's revenue");
}

#[test]
fn t_147_a_completion_has_exactly_nine_fields() {
    let all = Completions::new(&["whsec_test"]);
    let id = all.booked("k-1");
    all.change(&id, |booking| {
        booking.request_id = None;
        booking.status = BookingStatus::Completed;
        booking.ended_at = Some(Millis(1_804_667_400_000));
        booking.net_inr = Some(Integer::clamped(9_200));
    });
    all.round();
    let body: Value = serde_json::from_slice(&all.requests()[0].body).unwrap();
    assert_eq!(
        body,
        json!({
            "intent": "travel.book_hotel", "intent_version": "v1.0.0", "external_id": id, "amount_inr": 9200,
            "closed_at": "2027-03-10T08:30:00Z", "request_id": "", "status": "stay_completed", "currency": "INR",
            "notes": "",
        })
    );
}

#[test]
fn t_148_the_amount_is_net_and_in_whole_rupees() {
    let amount = |change: fn(&mut Booking)| {
        let all = Completions::new(&["whsec_test"]);
        let id = all.booked("k-1");
        all.change(&id, change);
        all.round();
        let body: Value = serde_json::from_slice(&all.requests()[0].body).unwrap();
        assert!(body["amount_inr"].is_i64(), "{body}");
        body["amount_inr"].as_i64().unwrap()
    };
    assert_eq!(
        amount(|booking| {
            booking.status = BookingStatus::Completed;
            booking.net_inr = Some(Integer::clamped(9_200));
        }),
        9_200,
        "without the tax of 1104"
    );
    assert_eq!(
        amount(|booking| {
            booking.status = BookingStatus::Cancelled;
            booking.refund_inr = Some(Integer::clamped(5_152));
        }),
        5_152,
        "what is kept of 10304"
    );
    assert_eq!(amount(|booking| booking.status = BookingStatus::Failed), 0);
}

/// As callers and notifications end bookings: a price of 9200 and 12 percent of tax.
#[test]
fn t_148_what_is_kept_and_what_was_carried_out_count_without_tax() {
    // One day and a half before the guest may come, and after the guest has left.
    let (before, after) = ("2027-03-08T20:30:00Z", "2027-03-13T06:30:00Z");
    let amount = |at: &str, end: &dyn Fn(&Completions, &str)| {
        let all = Completions::new(&["whsec_test"]);
        let id = all.booked("k-1");
        all.desk.clock.set(Millis::parse(at).unwrap().0);
        end(&all, &id);
        all.round();
        let body: Value = serde_json::from_slice(&all.requests()[0].body).unwrap();
        (body["status"].as_str().unwrap().to_owned(), body["amount_inr"].clone())
    };
    let advance = |all: &Completions, id: &str, stage: &str| {
        all.desk.advance(json!({"booking_ref": id, "stage": stage})).unwrap();
    };
    assert_eq!(
        amount(before, &|all, id| {
            let cancelled = all.cancel(id);
            assert_eq!(cancelled["cancellation_fee_inr"], 7_728);
        }),
        ("stay_cancelled".to_owned(), json!(6_900))
    );
    assert_eq!(amount(after, &|all, id| advance(all, id, "completed")), ("stay_completed".to_owned(), json!(9_200)));
    assert_eq!(amount(after, &|all, id| advance(all, id, "no_show")), ("stay_cancelled".to_owned(), json!(9_200)));
    assert_eq!(amount(before, &|all, id| advance(all, id, "cancelled")), ("stay_cancelled".to_owned(), json!(0)));
    assert_eq!(amount(before, &|all, id| advance(all, id, "failed")), ("stay_failed".to_owned(), json!(0)));
}

#[test]
fn t_149_anything_but_201_is_tried_again_until_it_is_a_dead_letter() {
    for status in [200, 202, 301, 400, 403, 404, 429, 500, 503] {
        let all = Completions::new(&["whsec_test"]);
        all.cancel(&all.booked("k-1"));
        all.answers([Ok(status)]);
        all.round();
        assert_eq!(all.list()[0]["status"], "pending", "{status}");
        all.desk.clock.advance(DAY);
        assert_eq!((all.round(), all.list()[0]["status"].as_str()), (1, Some("delivered")), "{status}");
    }
    let all = Completions::new(&["whsec_test"]);
    all.cancel(&all.booked("k-1"));
    all.answers([Ok(409)]);
    all.round();
    assert_eq!(all.list()[0]["status"], "delivered", "TOMO has it already");

    let all = Completions::new(&["whsec_test"]);
    all.cancel(&all.booked("k-1"));
    all.answers(std::iter::repeat_n(Ok(503), 19));
    let (mut tries, mut waited) = (0, Vec::new());
    while all.list().first().is_none_or(|first| first["status"] != "dead") {
        tries += all.round();
        let due = all.list()[0]["next_try_at"].as_str().map(|at| Millis::parse(at).unwrap().0);
        waited.extend(due.map(|due| due - all.desk.desk.now().0));
        all.desk.clock.advance(waited.last().copied().unwrap_or_default());
    }
    assert_eq!(tries, 19);
    let bounds = [(3_750, 6_250), (22_500, 37_500), (90_000, 150_000)];
    assert!(waited.iter().zip(bounds).all(|(wait, (least, most))| (least..=most).contains(wait)), "{waited:?}");
    assert!(*waited.last().unwrap() >= 4 * 3_600_000, "hours at the end: {waited:?}");
    all.desk.clock.advance(10 * DAY);
    assert_eq!(all.round(), 0, "a dead letter waits for the operator");
    let TestDesk { desk, mount, runtime, .. } = &all.desk;
    assert_eq!(runtime.block_on(replay_all(desk, mount, &tenant())).unwrap(), 1);
    assert_eq!((all.round(), all.list()[0]["status"].as_str()), (1, Some("delivered")));
    let id = all.list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(runtime.block_on(replay(desk, mount, &tenant(), &id)).unwrap(), Replayed::Delivered);
    assert_eq!(runtime.block_on(replay(desk, mount, &tenant(), "dlv_none")).unwrap(), Replayed::Unknown);
    assert_eq!(all.requests().iter().map(text).collect::<BTreeSet<_>>().len(), 1);
}

#[test]
fn a_delivery_that_was_deleted_is_not_owed_again() {
    let all = Completions::new(&["whsec_test"]);
    all.cancel(&all.booked("k-1"));
    all.round();
    all.desk.store.delete_rows(&DELIVERY, DELIVERY_EXPIRES_AT, Millis(NOW.0 + 29 * DAY));
    assert_eq!(all.list().len(), 1);
    all.desk.store.delete_rows(&DELIVERY, DELIVERY_EXPIRES_AT, Millis(NOW.0 + 31 * DAY));
    assert_eq!(all.list().len(), 0);
    // Even if all events are read again.
    all.desk.store.inspect(|state| state.rows.retain(|key, _| key.1 != "delivery_cursor"));
    assert_eq!((all.round(), all.requests().len()), (0, 1));
}

#[test]
fn what_is_sent_is_sealed_and_in_no_record() {
    let all = Completions::new(&["whsec_test"]);
    all.cancel(&all.booked("k-1"));
    all.round();
    let id = all.list()[0]["id"].as_str().unwrap().to_owned();
    let row = all.desk.store.row(HOTEL, &DELIVERY, &id).unwrap();
    assert!(row.secret.unwrap().contains("amount_inr"));
    assert!(!row.body.contains("amount_inr") && !row.body.contains("req-k-1"), "{}", row.body);
    let audit = all.desk.store.audit().join("\n");
    assert!(audit.contains("\"deliver\"") && audit.contains(&id), "{audit}");
    assert!(!audit.contains("amount_inr") && !audit.contains("whsec_test") && !audit.contains("sha256="), "{audit}");
}

#[test]
fn another_partners_bookings_and_intents_are_not_reported() {
    let all = Completions::new(&["whsec_test"]);
    let (other, old) = (all.booked("k-1"), all.booked("k-2"));
    all.change(&other, |booking| {
        booking.partner_id = Some("another".into());
        booking.status = BookingStatus::Completed;
    });
    assert_eq!(all.round(), 0);
    all.change(&other, |booking| {
        booking.partner_id = Some("demo_partner".into());
        booking.intent = "marketplace.buy_used_car".into();
    });
    assert_eq!(all.round(), 0);
    all.change(&old, |booking| {
        booking.partner_id = None;
        booking.status = BookingStatus::Completed;
    });
    assert_eq!(all.round(), 1, "one of an earlier release is this partner's");
}

#[test]
fn an_endpoint_can_be_tried_without_an_order() {
    let all = Completions::new(&["new", "old"]);
    all.answers([Ok(401), Ok(201)]);
    let TestDesk { desk, mount, runtime, .. } = &all.desk;
    let tested = runtime.block_on(test_endpoint(desk, mount, &tenant())).unwrap();
    assert_eq!(tested.result, "201");
    let body: Value = serde_json::from_slice(&all.requests()[1].body).unwrap();
    assert_eq!(body.as_object().unwrap().len(), 9);
    assert_eq!((&body["amount_inr"], &body["external_id"]), (&json!(0), &json!(tested.subject)));
    assert!(all.list().is_empty());
    assert_eq!(DeliveryStatus::ALL.len(), 4);
}
