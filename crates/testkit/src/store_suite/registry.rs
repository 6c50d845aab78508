//! Tenants, clients and tokens.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Client, Registry, Tenant, Token};
use frontdesk_engine::{ClientId, Scopes, TenantId};

use super::boats::{BOAT, boat, done, insert, plan};
use super::{StoreUnderTest, north, south};

pub async fn a_tenant_is_added_once(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    let west = TenantId::parse("west").unwrap();
    let tenant = |name: &str| Tenant::new(west.clone(), name);
    assert_eq!(registry.add_tenant(tenant("West Harbour"), note()).await.unwrap(), Changed::Done);
    done(&*subject.store, plan("launch", &west, vec![insert(boat("b1", 7))])).await;
    // A second attempt must not bring a second key: what was sealed stays readable.
    assert_eq!(registry.add_tenant(tenant("Another"), note()).await.unwrap(), Changed::Nothing);
    let full = frontdesk_engine::ports::Disclosure::Full;
    let found = subject.store.get(&west, &BOAT, "b1", full).await.unwrap().unwrap();
    assert_eq!(found.personal.as_deref(), Some(r#"{"owner":"Ada Lovelace"}"#));
    let names: Vec<String> = registry.tenants().await.unwrap().into_iter().map(|tenant| tenant.name).collect();
    assert_eq!(names, ["North Harbour", "South Harbour", "West Harbour"]);
}

pub async fn a_client_is_added_once_and_comes_back_whole(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    assert_eq!(registry.client(&id("agent")).await.unwrap(), None);
    assert_eq!(registry.add_client(client("agent"), note()).await.unwrap(), Changed::Done);
    let other = Client { name: "Other".to_owned(), secret: [9; 32], ..client("agent") };
    assert_eq!(registry.add_client(other, note()).await.unwrap(), Changed::Nothing);
    assert_eq!(registry.client(&id("agent")).await.unwrap(), Some(client("agent")));
    let younger = Client { created_at: Millis(50), ..client("aaa") };
    registry.add_client(younger.clone(), note()).await.unwrap();
    assert_eq!(registry.clients().await.unwrap(), [client("agent"), younger]);
}

pub async fn a_new_secret_ends_the_clients_tokens(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    with_tokens(registry).await;
    assert_eq!(registry.rotate_client(&id("agent"), [7; 32], note()).await.unwrap(), Changed::Done);
    assert_eq!(registry.client(&id("agent")).await.unwrap().unwrap().secret, [7; 32]);
    assert_eq!(alive(registry).await, [3]);
    assert_eq!(registry.rotate_client(&id("nobody"), [7; 32], note()).await.unwrap(), Changed::Nothing);
}

pub async fn a_revoked_client_has_no_tokens_and_stays_revoked(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    with_tokens(registry).await;
    assert_eq!(registry.revoke_client(&id("agent"), Millis(60), note()).await.unwrap(), Changed::Done);
    assert_eq!(alive(registry).await, [3]);
    assert_eq!(registry.revoke_client(&id("agent"), Millis(70), note()).await.unwrap(), Changed::Nothing);
    assert_eq!(registry.rotate_client(&id("agent"), [7; 32], note()).await.unwrap(), Changed::Nothing);
    let revoked = Client { revoked_at: Some(Millis(60)), ..client("agent") };
    assert_eq!(registry.client(&id("agent")).await.unwrap(), Some(revoked));
    assert_eq!(registry.revoke_client(&id("nobody"), Millis(60), note()).await.unwrap(), Changed::Nothing);
}

pub async fn a_token_is_revoked_by_its_own_client_only(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    with_tokens(registry).await;
    assert_eq!(registry.token([1; 32]).await.unwrap(), Some(token(1, "agent", 1_000)));
    assert_eq!(registry.token([9; 32]).await.unwrap(), None);
    assert_eq!(registry.revoke_token([1; 32], &id("other"), note()).await.unwrap(), Changed::Nothing);
    assert_eq!(alive(registry).await, [1, 2, 3]);
    assert_eq!(registry.revoke_token([1; 32], &id("agent"), note()).await.unwrap(), Changed::Done);
    assert_eq!(registry.revoke_token([1; 32], &id("agent"), note()).await.unwrap(), Changed::Nothing);
    assert_eq!(alive(registry).await, [2, 3]);
}

pub async fn a_token_keeps_when_somebody_logged_in_for_it(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    with_tokens(registry).await;
    let login = Token { authenticated_at: Some(1_790_000_000), ..token(4, "agent", 9_000) };
    registry.add_token(login.clone(), Vec::new(), Millis(0), note()).await.unwrap();
    assert_eq!(registry.token([4; 32]).await.unwrap(), Some(login));
    assert_eq!(registry.token([1; 32]).await.unwrap().unwrap().authenticated_at, None);
}

pub async fn expired_tokens_are_swept_when_one_is_added(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    with_tokens(registry).await;
    registry.add_token(token(4, "other", 9_000), Vec::new(), Millis(1_999), note()).await.unwrap();
    assert_eq!(alive(registry).await, [2, 3, 4]);
    registry.add_token(token(5, "other", 9_000), Vec::new(), Millis(2_000), note()).await.unwrap();
    assert_eq!(alive(registry).await, [3, 4, 5]);
}

pub async fn a_change_is_recorded_if_and_only_if_it_happened(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    let west = || Tenant::new(TenantId::parse("west").unwrap(), "West Harbour");
    let agent = id("agent");
    let line = |what: &str| format!(r#"{{"did":"{what}"}}"#);
    for _ in ["done", "nothing left to do"] {
        registry.add_tenant(west(), line("tenant")).await.unwrap();
        registry.add_client(client("agent"), line("client")).await.unwrap();
    }
    registry.add_token(token(1, "agent", 1_000), Vec::new(), Millis(0), line("token")).await.unwrap();
    for _ in ["done", "nothing left to do"] {
        registry.revoke_token([1; 32], &agent, line("end of token")).await.unwrap();
    }
    for _ in ["done", "done again"] {
        registry.rotate_client(&agent, [7; 32], line("rotation")).await.unwrap();
    }
    for _ in ["done", "nothing left to do"] {
        registry.revoke_client(&agent, Millis(60), line("end of client")).await.unwrap();
    }
    registry.rotate_client(&agent, [8; 32], line("rotation")).await.unwrap();
    registry.record_administration(line("export")).await.unwrap();
    let expected = ["tenant", "client", "end of token", "rotation", "rotation", "end of client", "export"];
    assert_eq!(subject.peek.administration(), expected.map(line));
    // There are many tokens, so they are recorded like reads.
    assert_eq!(subject.peek.node(), [line("token")]);
}

/// Tokens 1 and 2 of `agent`, ending at 1000 and 2000, and 3 of `other`, ending at 3000.
pub(super) async fn with_tokens(registry: &dyn Registry) {
    for name in ["agent", "other"] {
        registry.add_client(client(name), note()).await.unwrap();
    }
    for token in [token(1, "agent", 1_000), token(2, "agent", 2_000), token(3, "other", 3_000)] {
        assert_eq!(registry.add_token(token, Vec::new(), Millis(0), note()).await.unwrap(), Changed::Done);
    }
}

async fn alive(registry: &dyn Registry) -> Vec<u8> {
    let mut found = Vec::new();
    for number in 1..=5 {
        if registry.token([number; 32]).await.unwrap().is_some() {
            found.push(number);
        }
    }
    found
}

/// A record for changes whose record is not looked at.
pub(super) fn note() -> String {
    r#"{"changed":"something"}"#.to_owned()
}

pub(super) fn id(name: &str) -> ClientId {
    ClientId::new(name)
}

pub(super) fn client(name: &str) -> Client {
    Client {
        id: id(name),
        name: "An agent".to_owned(),
        secret: [1; 32],
        tenants: vec![south(), north()],
        groups: Vec::new(),
        scopes: Scopes::parse("boats:read boats:write").unwrap(),
        created_at: Millis(40),
        revoked_at: None,
    }
}

pub(super) fn token(number: u8, client: &str, expires_at: i64) -> Token {
    Token {
        hash: [number; 32],
        client: id(client),
        tenants: vec![north()],
        scopes: Scopes::parse("boats:read").unwrap(),
        resource: "https://desk.example/mcp/boats".to_owned(),
        expires_at: Millis(expires_at),
        authenticated_at: None,
    }
}
