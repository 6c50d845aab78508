//! Which tokens count as a login. Those of people do (`login`); no others.

use frontdesk_engine::model::caller::{ClientId, Scopes};
use frontdesk_identity::OperatorTokenRequest;

use crate::support::{Bench, GRANT, ID, OTHER_ID, RESOURCE, SECOND_RESOURCE, bench};

async fn issue(bench: &Bench, client: &str, scopes: &str, days: u32) -> Result<String, String> {
    let (client, scopes) = (ClientId::new(client), Scopes::parse(scopes).unwrap());
    let record = "{}".to_owned();
    let request = OperatorTokenRequest { client: &client, scopes: &scopes, path: None, days, record };
    let issued = bench.server.issue_operator_token(request).await.map_err(|error| error.to_string())?;
    Ok(issued.secret.expose().to_owned())
}

#[tokio::test]
async fn a6_18_client_credentials_never_count_as_a_login() {
    let bench = bench();
    let token = bench.token(GRANT).await;
    assert_eq!(bench.identify(&token, RESOURCE).await.unwrap().authenticated_at, None);
    // Nothing that a client sends changes that.
    for more in ["&max_age=0", "&auth_time=1790000000", "&acr_values=step-up", "&step_up=true"] {
        let token = bench.token(&format!("{GRANT}{more}")).await;
        assert_eq!(bench.identify(&token, RESOURCE).await.unwrap().authenticated_at, None, "{more}");
    }
}

#[tokio::test]
async fn an_operator_token_lives_for_days_and_is_no_login() {
    let bench = bench();
    let token = issue(&bench, ID, "amcp:leads:read", 30).await.unwrap();
    assert!(token.starts_with("fdo_"), "{token}");
    let caller = bench.identify(&token, RESOURCE).await.unwrap();
    assert_eq!((caller.client.as_str(), &*caller.subject, caller.authenticated_at), (ID, ID, None));
    assert_eq!(caller.scopes.to_string(), "amcp:leads:read");
    assert!(bench.identify(&token, SECOND_RESOURCE).await.is_err());
    bench.advance(30 * 24 * 60 * 60 * 1000 - 1);
    assert!(bench.identify(&token, RESOURCE).await.is_ok());
    bench.advance(1);
    assert!(bench.identify(&token, RESOURCE).await.is_err());
}

#[tokio::test]
async fn an_operator_token_ends_with_its_client_and_by_its_id() {
    let bench = bench();
    let (first, second) = (
        issue(&bench, ID, "amcp:leads:read", 1).await.unwrap(),
        issue(&bench, ID, "amcp:leads:read", 2).await.unwrap(),
    );
    let listed = bench.server.operator_tokens().await.unwrap();
    assert_eq!(listed.len(), 2);
    bench.server.revoke_operator_token(&listed[0].id, "{}".to_owned()).await.unwrap();
    bench.advance(1_000);
    assert!(bench.identify(&first, RESOURCE).await.is_err());
    assert!(bench.identify(&second, RESOURCE).await.is_ok());
    // A new secret of the client ends it.
    bench.registry.state().clients[0].secret = [9; 32];
    bench.advance(1_000);
    assert!(bench.identify(&second, RESOURCE).await.is_err());
}

#[tokio::test]
async fn an_operator_token_is_bounded() {
    let bench = bench();
    let refused = [
        (
            ID,
            "amcp:leads:read",
            31,
            "a token is valid for 1 to 30 days; `token.operator_days` in the configuration says so",
        ),
        (
            ID,
            "amcp:leads:read",
            0,
            "a token is valid for 1 to 30 days; `token.operator_days` in the configuration says so",
        ),
        (
            "cli_none",
            "amcp:leads:read",
            1,
            "there is no active client with this id and a secret; `frontdesk client list` shows them",
        ),
        (
            OTHER_ID,
            "amcp:leads:write",
            1,
            "the client was not registered for all of these scopes; it has: amcp:leads:read",
        ),
    ];
    for (client, scopes, days, message) in refused {
        assert_eq!(issue(&bench, client, scopes, days).await.unwrap_err(), message);
    }
}
