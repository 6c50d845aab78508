//! Addresses behind a proxy: a trusted one says who is calling, and nobody else can.

use frontdesk_testkit::app::{DemoTenant, READ_STOCK, TestApp};

const SLOW: (&str, &str) = ("FRONTDESK_LIMITS_TOKEN_REQUESTS_PER_MINUTE", "1");

async fn login(desk: &TestApp, secret: &str, forwarded: (&str, &str)) -> u16 {
    let (id, _, _) = desk.credentials(DemoTenant::Lakeside);
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}&scope={READ_STOCK}");
    let headers = [forwarded, ("content-type", "application/x-www-form-urlencoded")];
    desk.stranger().request("POST", "/token", &headers, form).await.status
}

/// [X12]
#[tokio::test]
async fn behind_a_trusted_proxy_each_address_fails_for_itself() {
    let mut desk = TestApp::start_with(&[SLOW, ("FRONTDESK_TRUSTED_PROXIES", "127.0.0.0/8")]);
    let (_, secret, _) = desk.credentials(DemoTenant::Lakeside);
    for number in 0..11 {
        // What the client itself writes in front of it changes nothing.
        let forged = format!("203.0.113.{number}, 192.0.2.1");
        let expected = if number < 10 { 401 } else { 429 };
        assert_eq!(login(&desk, "wrong", ("x-forwarded-for", &forged)).await, expected);
    }
    assert_eq!(login(&desk, "wrong", ("forwarded", "for=192.0.2.1;proto=https")).await, 429);
    assert_eq!(login(&desk, "wrong", ("x-forwarded-for", "192.0.2.2")).await, 401);
    assert_eq!(login(&desk, &secret, ("x-forwarded-for", "192.0.2.1")).await, 200);
    // The record of the token and the counted refusals name the client's address, not the proxy's.
    desk.stop();
    let (_, audit, _) = desk.command(&["audit", "export"]);
    assert!(audit.contains("192.0.2.1") && audit.contains("192.0.2.2"), "{audit}");
    assert!(!audit.contains("127.0.0.1"), "{audit}");
}

/// [X12]
#[tokio::test]
async fn without_a_trusted_proxy_nobody_names_an_address() {
    let desk = TestApp::start_with(&[SLOW, ("FRONTDESK_TRUSTED_PROXIES", "10.0.0.0/8")]);
    for number in 0..11 {
        let forged = format!("192.0.2.{number}");
        let expected = if number < 10 { 401 } else { 429 };
        assert_eq!(login(&desk, "wrong", ("x-forwarded-for", &forged)).await, expected);
    }
}
