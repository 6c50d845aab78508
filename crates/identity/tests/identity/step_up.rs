//! Tokens that the operator issues and that count as a login.

use frontdesk_engine::model::caller::{ClientId, Scopes};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::Registry as _;
use frontdesk_engine::seal::sha256;
use frontdesk_identity::{LoginToken, LoginTokenError, LoginTokenRequest};
use frontdesk_testkit::memory_store::ClientChange;

use crate::support::{Bench, GRANT, ID, RESOURCE, SECOND_RESOURCE, START, bench};

async fn issue(bench: &Bench, client: &str, scopes: &str, path: Option<&str>) -> Result<LoginToken, LoginTokenError> {
    let (client, scopes) = (ClientId::new(client), Scopes::parse(scopes).unwrap());
    let request = LoginTokenRequest {
        client: &client,
        scopes: &scopes,
        path,
        record: r#"{"operator":"token.issue"}"#.to_owned(),
        revocation: r#"{"operator":"token.revoke"}"#.to_owned(),
    };
    bench.server.issue_login_token(request).await
}

#[tokio::test]
async fn a_login_token_counts_as_a_login_and_lives_five_minutes() {
    let bench = bench();
    bench.advance(1_999);
    let token = issue(&bench, ID, "amcp:leads:read", None).await.unwrap();
    assert_eq!((token.resource.as_str(), token.scopes.to_string()), (RESOURCE, "amcp:leads:read".to_owned()));
    assert_eq!(token.expires_at, Millis(START + 301_999));
    let caller = bench.identify(token.secret.expose(), RESOURCE).await.unwrap();
    assert_eq!((caller.client.as_str(), caller.scopes.to_string()), (ID, "amcp:leads:read".to_owned()));
    assert_eq!(caller.authenticated_at, Some(START / 1000 + 1));
    assert_eq!(format!("{token:?}").matches("fdt_").count(), 0, "it prints no token");
    let stored = bench.registry.token(sha256(token.secret.expose().as_bytes())).await.unwrap().unwrap();
    assert_eq!(stored.authenticated_at, Some(START / 1000 + 1));
    bench.advance(299_999);
    assert!(bench.identify(token.secret.expose(), RESOURCE).await.is_ok());
    bench.advance(1);
    assert!(bench.identify(token.secret.expose(), RESOURCE).await.is_err());
}

#[tokio::test]
async fn a6_18_client_credentials_never_count_as_a_login() {
    let bench = bench();
    issue(&bench, ID, "amcp:inventory:read", None).await.unwrap();
    let token = bench.token(GRANT).await;
    assert_eq!(bench.identify(&token, RESOURCE).await.unwrap().authenticated_at, None);
    // Nothing that a client sends changes that.
    for more in ["&max_age=0", "&auth_time=1790000000", "&acr_values=step-up", "&step_up=true"] {
        let token = bench.token(&format!("{GRANT}{more}")).await;
        assert_eq!(bench.identify(&token, RESOURCE).await.unwrap().authenticated_at, None, "{more}");
    }
}

#[tokio::test]
async fn a_login_token_is_for_a_registered_client_and_its_scopes() {
    let bench = bench();
    let said = async |client: &str, scopes: &str, path: Option<&str>| {
        issue(&bench, client, scopes, path).await.map(|token| token.resource).map_err(|error| error.to_string())
    };
    let no_client = "there is no active client with this id; `frontdesk client list` shows them";
    assert_eq!(said("cli_none", "amcp:leads:read", None).await, Err(no_client.to_owned()));
    let not_allowed = "the client was not registered for all of these scopes; it has: amcp:inventory:read amcp:leads:read \
                       amcp:leads:write";
    assert_eq!(said(ID, "amcp:leads:read amcp:fni:read", None).await, Err(not_allowed.to_owned()));
    assert_eq!(said(ID, "", None).await, Err(not_allowed.to_owned()));
    let no_path = "no tokens are issued for a mount at this path; there are: /mcp/automotive, /mcp/second";
    assert_eq!(said(ID, "amcp:leads:read", Some("/mcp/none")).await, Err(no_path.to_owned()));
    let no_mount = "no mount has all of these scopes; ask for those of one mount";
    assert_eq!(said(ID, "amcp:leads:write", Some("/mcp/second")).await, Err(no_mount.to_owned()));
    assert_eq!(said(ID, "amcp:leads:read", Some("/mcp/second")).await, Ok(SECOND_RESOURCE.to_owned()));
    bench.registry.revoke_client(&ClientId::new(ID), Millis(START), "{}".to_owned()).await.unwrap();
    assert_eq!(said(ID, "amcp:leads:read", None).await, Err(no_client.to_owned()));
}

#[tokio::test]
async fn a_client_that_ends_meanwhile_gets_no_login_token() {
    for change in [ClientChange::Revoked, ClientChange::Rotated([7; 32])] {
        let bench = bench();
        bench.registry.inject(|faults| faults.before_token = Some(change));
        let refused = issue(&bench, ID, "amcp:leads:read", None).await;
        assert!(matches!(refused, Err(LoginTokenError::UnknownClient)), "{refused:?}");
        assert!(bench.registry.state().tokens.is_empty());
    }
}
