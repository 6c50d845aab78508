//! Client certificates: asked for, never required, and only a pinned one is a credential.

use std::fs;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::{HttpClient, HttpResponse};
use rcgen::CertifiedKey;

use crate::stage::{BEARERS, LIST, LIVE, PATH, PartnerServer, json_of};

const PINNED: &str = "[mount.auth]\nlive_tokens = \"live\"\nclient_certificates = [\"pinned.pem\"]\nsandbox_client_certificates = [\"trial.pem\"]\n";

struct ClientIdentity {
    certificate: Vec<u8>,
    key: Vec<u8>,
    pem: String,
}

fn identity() -> ClientIdentity {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["caller.example".to_owned()]).unwrap();
    ClientIdentity { certificate: cert.der().to_vec(), key: signing_key.serialize_der(), pem: cert.pem() }
}

async fn call(server: &PartnerServer, identity: &ClientIdentity, path: &str, headers: &[(&str, &str)]) -> HttpResponse {
    let ca = server.folder.join("data/tls/ca.pem");
    let mut http =
        HttpClient::with_certificate(server.address, &ca, identity.certificate.clone(), identity.key.clone());
    let all: Vec<(&str, &str)> =
        [("content-type", "application/json")].into_iter().chain(headers.iter().copied()).collect();
    http.request("POST", path, &all, LIST).await
}

#[tokio::test]
async fn t_061_a_pinned_certificate_is_a_credential_and_another_is_not() {
    let folder = TestFolder::new();
    let (pinned, trial, other) = (identity(), identity(), identity());
    fs::write(folder.join("pinned.pem"), &pinned.pem).unwrap();
    fs::write(folder.join("trial.pem"), &trial.pem).unwrap();
    let mut server = PartnerServer::of(folder, "", PINNED);
    assert_eq!(call(&server, &pinned, PATH, &[]).await.status, 200);
    assert_eq!(call(&server, &trial, PATH, &[]).await.status, 200);
    let refused = call(&server, &other, PATH, &[]).await;
    assert_eq!((refused.status, &json_of(&refused)["error"]["code"]), (401, &(-32000).into()));
    // It is required of nobody, and another credential outranks it.
    assert_eq!(server.bearer(LIVE, LIST).await.status, 200);
    assert_eq!(server.post(&[], LIST).await.status, 401);
    let wrong = "Bearer wrong-token-0123456789abcdef012345";
    assert_eq!(call(&server, &pinned, PATH, &[("authorization", wrong)]).await.status, 401);
    let right = format!("Bearer {LIVE}");
    assert_eq!(call(&server, &other, PATH, &[("authorization", &right)]).await.status, 200);
    // Elsewhere it opens nothing.
    assert_eq!(call(&server, &pinned, "/mcp/automotive", &[]).await.status, 401);

    // A pin that is removed ends it, also when nobody is asked for a certificate any more.
    fs::write(server.folder.join("pinned.pem"), &other.pem).unwrap();
    server.reload("", PINNED, "partner credentials changed and were reloaded");
    assert_eq!(call(&server, &pinned, PATH, &[]).await.status, 401);
    assert_eq!(call(&server, &other, PATH, &[]).await.status, 200);
    server.reload("", BEARERS, "configuration reloaded");
    assert_eq!(call(&server, &other, PATH, &[]).await.status, 401);
    let records = server.records();
    assert!(records.contains("\"acme:live\"") && records.contains("\"acme:sandbox\""), "{records}");
}

/// The certificate is public: who has it, but not its key, must not get in.
#[tokio::test]
async fn t_061_a_certificate_without_its_key_is_refused_at_the_handshake() {
    let folder = TestFolder::new();
    let (pinned, thief) = (identity(), identity());
    fs::write(folder.join("pinned.pem"), &pinned.pem).unwrap();
    fs::write(folder.join("trial.pem"), &identity().pem).unwrap();
    let server = PartnerServer::of(folder, "", PINNED);
    let ca = server.folder.join("data/tls/ca.pem");
    let headers = [("content-type", "application/json")];
    for (key, gets_in) in [(&pinned.key, true), (&thief.key, false)] {
        let mut http = HttpClient::with_certificate(server.address, &ca, pinned.certificate.clone(), key.clone());
        assert_eq!(http.try_request("POST", PATH, &headers, LIST).await.is_ok(), gets_in);
    }
}

/// T18: the certificate of one partner and the token of another, at the mounts of both.
#[tokio::test]
async fn t_061_a_certificate_and_anothers_token_open_nothing_more() {
    let folder = TestFolder::new();
    let (own, foreign) = (identity(), identity());
    fs::write(folder.join("own.pem"), &own.pem).unwrap();
    fs::write(folder.join("foreign.pem"), &foreign.pem).unwrap();
    let foreign_token = "foreign-token-0123456789abcdef01234567";
    crate::stage::secret(&folder, "foreign", foreign_token);
    crate::stage::secret(&folder, "signing", "notification-key-0123456789abcdef0123");
    let second = crate::notifications::second_mount("signing")
        .replace("live_keys = \"keys\"", "live_tokens = \"foreign\"\nclient_certificates = [\"foreign.pem\"]");
    let auth = "[mount.auth]\nlive_tokens = \"live\"\nclient_certificates = [\"own.pem\"]\n";
    let server = PartnerServer::of(folder, "", &format!("{auth}{second}"));
    let (own_bearer, foreign_bearer) = (format!("Bearer {LIVE}"), format!("Bearer {foreign_token}"));
    let (first, other) = (PATH, "/mcp/second");
    for (path, certificate, token, status) in [
        // Each alone, at its own mount and at the other.
        (first, &own, None, 200),
        (other, &own, None, 401),
        (other, &foreign, None, 200),
        (first, &foreign, None, 401),
        // A certificate of one with the token of the other: the token alone counts, where it is accepted.
        (first, &own, Some(&foreign_bearer), 401),
        (other, &own, Some(&foreign_bearer), 200),
        (first, &foreign, Some(&foreign_bearer), 401),
        (other, &foreign, Some(&own_bearer), 401),
        (first, &foreign, Some(&own_bearer), 200),
    ] {
        let header = token.map(|token| ("authorization", token.as_str()));
        let answer = call(&server, certificate, path, header.as_slice()).await;
        assert_eq!(answer.status, status, "{path} {token:?}");
        // Never under the name of whose certificate it was.
        if let (200, Some(_)) = (status, token) {
            let intent = json_of(&answer)["result"]["tools"][0]["_meta"]["tomo"]["completion_callback"].to_string();
            assert_eq!(intent.contains("second"), path == other, "{intent}");
        }
    }
    let records = server.records();
    assert!(records.contains("\"acme:live\"") && records.contains("\"second:live\""), "{records}");
}
