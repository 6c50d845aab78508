//! Stage 2: nobody learns anything before it is known who asks.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use frontdesk_engine::limits::tally::{TallyCount, TallyKey};
use frontdesk_engine::model::incoming::{Credential, Incoming, RequestBody, Verb};
use frontdesk_engine::model::tool::Future;
use frontdesk_engine::ports::Identity;
use frontdesk_engine::{Caller, Fault, FaultKind};

use crate::support::requests::{held, post, presenting, rpc, with_verb};
use crate::support::{House, READER, heard};

const REFUSED: &str = r#"{"fault":"unauthenticated","at":"transport"}"#;

#[tokio::test]
async fn a_missing_credential_outranks_a_bad_body() {
    let house = House::new();
    for body in ["not json", "[]", r#"{"jsonrpc":"2.0"}"#, &rpc("1", "nonsense", "{}")] {
        assert_eq!(house.serve(presenting(Credential::Missing, body)).await, heard(401, REFUSED));
    }
}

#[tokio::test]
async fn an_unusable_credential_is_refused_without_being_judged() {
    let house = House::new();
    // The identity of this house panics when it is asked about anything but a bearer token.
    assert_eq!(house.serve(presenting(Credential::Unusable, "not json")).await, heard(401, REFUSED));
}

#[tokio::test]
async fn an_unknown_credential_outranks_a_bad_body_and_a_wrong_verb() {
    let house = House::new();
    assert_eq!(house.serve(post("stranger", "not json")).await, heard(401, REFUSED));
    assert_eq!(house.serve(with_verb(Verb::Get, "stranger")).await, heard(401, REFUSED));
    assert_eq!(house.serve(with_verb(Verb::Delete, "stranger")).await, heard(401, REFUSED));
}

#[tokio::test]
async fn a_fault_of_the_transport_comes_out_only_once_the_caller_is_known() {
    let house = House::new();
    let fault = || Fault::new(FaultKind::UnsupportedMediaType, "Send application/json.");
    assert_eq!(house.serve(held("stranger", fault())).await, heard(401, REFUSED));
    assert_eq!(
        house.serve(held(READER, fault())).await,
        heard(
            200,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"Send application/json.","data":{"fault":"wrong_media","at":"transport"}}}"#
        )
    );
}

#[tokio::test]
async fn a_wrong_host_is_refused_before_the_credential_is_judged() {
    let house = House::new();
    let fault = || Fault::new(FaultKind::HostNotAllowed, "This server does not answer to that name.");
    let refused = heard(403, r#"{"fault":"wrong_host","at":"transport"}"#);
    assert_eq!(house.serve(held("stranger", fault())).await, refused);
    assert_eq!(house.serve(held(READER, fault())).await, refused);
}

#[tokio::test]
async fn strangers_are_counted_by_address_and_leave_no_record_each() {
    let house = House::new();
    for _ in 0..3 {
        house.serve(post("stranger", "{}")).await;
    }
    let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    let three = TallyCount { who: TallyKey::Address(address), outcome: "unauthenticated", times: 3 };
    assert_eq!(house.desk.tally.take(), [three]);
    assert_eq!(house.desk.tally.take(), []);
    assert_eq!(house.store.records(), Vec::<String>::new());
    assert_eq!(house.guestbook.outcomes(), [""; 0]);
}

/// Knows nobody, and says why.
struct Grumpy;

impl Identity for Grumpy {
    fn identify<'a>(&'a self, _: &'a Credential, _: &'a str) -> Future<'a, Result<Arc<Caller>, Fault>> {
        Box::pin(async { Err(Fault::new(FaultKind::Unauthenticated, "No.").caused_by("it has not three parts")) })
    }
}

#[tokio::test]
async fn why_a_stranger_was_refused_is_said_once_for_each_address_until_the_counts_are_taken() {
    let house = House::new();
    let house = House { mount: house.mount.with_identity(Arc::new(Grumpy)), ..house };
    let come = async |last: u8| {
        let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, last));
        house.serve(Incoming { address, ..post("stranger", "{}") }).await;
        house.guestbook.causes().len()
    };
    assert_eq!([come(1).await, come(1).await, come(1).await, come(2).await, come(1).await], [1, 1, 1, 2, 2]);
    assert_eq!(house.desk.tally.take().iter().map(|count| count.times).sum::<u64>(), 5);
    assert_eq!(come(1).await, 3);
    assert_eq!(house.guestbook.causes()[0], "it has not three parts");
}

#[tokio::test]
async fn known_callers_are_not_counted_as_strangers() {
    let house = House::new();
    house.serve(post(READER, "not json")).await;
    assert_eq!(house.desk.tally.take(), []);
}

#[tokio::test]
async fn a_flood_from_many_addresses_is_counted_in_bounded_memory() {
    let house = House::new();
    for number in 0..5000_u32 {
        let address = IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + number));
        house.serve(Incoming { address, ..post("stranger", "{}") }).await;
    }
    let counted = house.desk.tally.take();
    assert_eq!(counted.len(), 4097);
    assert_eq!(counted.iter().map(|count| count.times).sum::<u64>(), 5000);
    let further = counted.iter().find(|count| count.who == TallyKey::Others).map(|count| count.times);
    assert_eq!(further, Some(5000 - 4096));
}

#[tokio::test]
async fn the_body_of_a_stranger_is_not_read() {
    let house = House::new();
    let unread = || RequestBody::from_future(async { panic!("somebody read it") });
    house.serve(Incoming { body: unread(), ..post("stranger", "") }).await;
    house.serve(Incoming { body: unread(), ..presenting(Credential::Missing, "") }).await;
    house.serve(Incoming { body: unread(), ..held(READER, Fault::new(FaultKind::UnsupportedMediaType, "No.")) }).await;
}

#[tokio::test]
async fn addresses_of_one_ipv6_network_are_one_stranger() {
    let house = House::new();
    for address in ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"] {
        house.serve(Incoming { address: address.parse().unwrap(), ..post("stranger", "{}") }).await;
    }
    let mut counted: Vec<u64> = house.desk.tally.take().iter().map(|count| count.times).collect();
    counted.sort_unstable();
    assert_eq!(counted, [1, 2]);
}
