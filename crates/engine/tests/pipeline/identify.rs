//! Stage 2: nobody learns anything before it is known who asks.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use frontdesk_engine::limits::tally::{TallyCount, TallyKey};
use frontdesk_engine::model::incoming::{Credential, Incoming, RequestBody, Verb};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::{Caller, Fault, FaultKind};

use crate::support::requests::{held, post, presenting, rpc, with_verb};
use crate::support::{READER, TestDesk, heard};

const REFUSED: &str = r#"{"fault":"unauthenticated","at":"transport"}"#;

#[tokio::test]
async fn a_missing_credential_outranks_a_bad_body() {
    let test = TestDesk::new();
    for body in ["not json", "[]", r#"{"jsonrpc":"2.0"}"#, &rpc("1", "nonsense", "{}")] {
        assert_eq!(test.serve(presenting(Credential::Missing, body)).await, heard(401, REFUSED));
    }
}

#[tokio::test]
async fn an_unusable_credential_is_refused_without_being_judged() {
    let test = TestDesk::new();
    // The identity of this test panics when it is asked about anything but a bearer token.
    assert_eq!(test.serve(presenting(Credential::Unusable, "not json")).await, heard(401, REFUSED));
}

#[tokio::test]
async fn an_unknown_credential_outranks_a_bad_body_and_a_wrong_verb() {
    let test = TestDesk::new();
    assert_eq!(test.serve(post("stranger", "not json")).await, heard(401, REFUSED));
    assert_eq!(test.serve(with_verb(Verb::Get, "stranger")).await, heard(401, REFUSED));
    assert_eq!(test.serve(with_verb(Verb::Delete, "stranger")).await, heard(401, REFUSED));
}

#[tokio::test]
async fn transport_faults_are_reported_only_to_known_callers() {
    let test = TestDesk::new();
    let fault = || Fault::new(FaultKind::UnsupportedMediaType, "Send application/json.");
    assert_eq!(test.serve(held("stranger", fault())).await, heard(401, REFUSED));
    assert_eq!(
        test.serve(held(READER, fault())).await,
        heard(
            200,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"Send application/json.","data":{"fault":"wrong_media","at":"transport"}}}"#
        )
    );
}

#[tokio::test]
async fn a_wrong_host_is_refused_before_the_credential_is_judged() {
    let test = TestDesk::new();
    let fault = || Fault::new(FaultKind::HostNotAllowed, "This server does not answer to that name.");
    let refused = heard(403, r#"{"fault":"wrong_host","at":"transport"}"#);
    assert_eq!(test.serve(held("stranger", fault())).await, refused);
    assert_eq!(test.serve(held(READER, fault())).await, refused);
}

#[tokio::test]
async fn strangers_are_counted_by_address_and_leave_no_record_each() {
    let test = TestDesk::new();
    for _ in 0..3 {
        test.serve(post("stranger", "{}")).await;
    }
    let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    let three = TallyCount { who: TallyKey::Address(address), outcome: "unauthenticated", times: 3 };
    assert_eq!(test.desk.tally.take(), [three]);
    assert_eq!(test.desk.tally.take(), []);
    assert_eq!(test.records(), Vec::<String>::new());
    assert_eq!(test.calls.outcomes(), [""; 0]);
}

/// Knows nobody, and says why.
struct Grumpy;

impl Identity for Grumpy {
    fn identify<'a>(&'a self, _: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(async { Err(Fault::new(FaultKind::Unauthenticated, "No.").caused_by("it has not three parts")) })
    }
}

#[tokio::test]
async fn a_refusal_cause_is_logged_once_per_address() {
    let test = TestDesk::new();
    let test = TestDesk { mount: test.mount.with_identity(Arc::new(Grumpy)), ..test };
    let come = async |last: u8| {
        let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, last));
        test.serve(Incoming { address, ..post("stranger", "{}") }).await;
        test.calls.causes().len()
    };
    assert_eq!([come(1).await, come(1).await, come(1).await, come(2).await, come(1).await], [1, 1, 1, 2, 2]);
    assert_eq!(test.desk.tally.take().iter().map(|count| count.times).sum::<u64>(), 5);
    assert_eq!(come(1).await, 3);
    assert_eq!(test.calls.causes()[0], "it has not three parts");
}

#[tokio::test]
async fn known_callers_are_not_counted_as_strangers() {
    let test = TestDesk::new();
    test.serve(post(READER, "not json")).await;
    assert_eq!(test.desk.tally.take(), []);
}

#[tokio::test]
async fn a_flood_from_many_addresses_is_counted_in_bounded_memory() {
    let test = TestDesk::new();
    for number in 0..5000_u32 {
        let address = IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + number));
        test.serve(Incoming { address, ..post("stranger", "{}") }).await;
    }
    let counted = test.desk.tally.take();
    assert_eq!(counted.len(), 4097);
    assert_eq!(counted.iter().map(|count| count.times).sum::<u64>(), 5000);
    let further = counted.iter().find(|count| count.who == TallyKey::Others).map(|count| count.times);
    assert_eq!(further, Some(5000 - 4096));
}

#[tokio::test]
async fn the_body_of_a_stranger_is_not_read() {
    let test = TestDesk::new();
    let unread = || RequestBody::from_future(async { panic!("somebody read it") });
    test.serve(Incoming { body: unread(), ..post("stranger", "") }).await;
    test.serve(Incoming { body: unread(), ..presenting(Credential::Missing, "") }).await;
    test.serve(Incoming { body: unread(), ..held(READER, Fault::new(FaultKind::UnsupportedMediaType, "No.")) }).await;
}

#[tokio::test]
async fn addresses_of_one_ipv6_network_are_one_stranger() {
    let test = TestDesk::new();
    for address in ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"] {
        test.serve(Incoming { address: address.parse().unwrap(), ..post("stranger", "{}") }).await;
    }
    let mut counted: Vec<u64> = test.desk.tally.take().iter().map(|count| count.times).collect();
    counted.sort_unstable();
    assert_eq!(counted, [1, 2]);
}
