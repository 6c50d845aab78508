//! Profiles of tenants, and the groups they are in.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::tenant::{
    CountryCode, CurrencyCode, FieldUpdate, GroupId, OpeningHours, ProfileText, Tenant, TenantUpdate, TimeZone,
};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Client, Registry, Token};

use super::registry::{client, note, token};
use super::{StoreUnderTest, north, south};

pub async fn a_profile_is_stored_and_changed_field_by_field(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    let mut west = Tenant::new(west(), "West Harbour");
    west.profile.time_zone = Some(TimeZone::parse("Europe/Berlin").unwrap());
    west.profile.street = Some(ProfileText::parse("Hafenstraße 1").unwrap());
    west.profile.country = Some(CountryCode::parse("DE").unwrap());
    west.profile.opening_hours = Some(OpeningHours::parse(&["mon-fri 09:00-18:00"]).unwrap());
    west.group = GroupId::parse("harbours");
    registry.add_tenant(west.clone(), note()).await.unwrap();
    assert_eq!(registry.tenant(&west.id).await.unwrap(), Some(west.clone()));
    assert!(registry.tenants().await.unwrap().contains(&west));
    let update = TenantUpdate {
        name: Some("Westhafen".to_owned()),
        street: FieldUpdate::Clear,
        currency: FieldUpdate::Set(CurrencyCode::parse("EUR").unwrap()),
        ..TenantUpdate::default()
    };
    assert_eq!(registry.update_tenant(&west.id, update.clone(), note()).await.unwrap(), Changed::Done);
    update.apply(&mut west);
    assert_eq!((west.name.as_str(), &west.profile.street), ("Westhafen", &None));
    assert_eq!(registry.tenant(&west.id).await.unwrap(), Some(west));
    let nobody = TenantId::parse("nobody").unwrap();
    assert_eq!(registry.update_tenant(&nobody, update, note()).await.unwrap(), Changed::Nothing);
    assert_eq!(registry.tenant(&nobody).await.unwrap(), None);
}

pub async fn a_token_is_for_the_tenants_of_its_groups_at_its_issue(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    with_group_client(registry).await;
    // Named ones first, in their order; a tenant that does not exist is left out.
    let named = vec![west(), TenantId::parse("nobody").unwrap()];
    assert_eq!(issued(registry, 1, named.clone()).await, [west(), north()]);
    join(registry, &south(), FieldUpdate::Set(harbours())).await;
    assert_eq!(issued(registry, 2, named.clone()).await, [west(), north(), south()]);
    join(registry, &north(), FieldUpdate::Clear).await;
    assert_eq!(issued(registry, 3, named).await, [west(), south()]);
    assert_eq!(registry.client(&client("fleet").id).await.unwrap().unwrap().groups, [harbours()]);
}

pub async fn a_tenant_that_leaves_a_group_leaves_its_tokens(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    with_group_client(registry).await;
    let named = Client { tenants: vec![north()], ..group_client("named") };
    registry.add_client(named.clone(), note()).await.unwrap();
    issued(registry, 1, vec![west()]).await;
    issued(registry, 2, Vec::new()).await;
    let own = Token { client: named.id.clone(), ..token(3, "named", 9_000) };
    registry.add_token(own, vec![harbours()], Millis(0), note()).await.unwrap();
    join(registry, &north(), FieldUpdate::Set(GroupId::parse("other").unwrap())).await;
    // What was for it alone ends; whoever is registered for the tenant itself keeps it.
    assert_eq!(registry.token([1; 32]).await.unwrap().unwrap().tenants, [west()]);
    assert_eq!(registry.token([2; 32]).await.unwrap(), None);
    assert_eq!(registry.token([3; 32]).await.unwrap().unwrap().tenants, [north()]);
}

pub async fn a_token_without_any_tenant_is_not_stored(subject: &StoreUnderTest) {
    let registry = &*subject.registry;
    registry.add_client(client("agent"), note()).await.unwrap();
    let lost = Token { tenants: vec![west()], ..token(1, "agent", 9_000) };
    let empty = vec![GroupId::parse("empty").unwrap()];
    assert_eq!(registry.add_token(lost, empty, Millis(0), note()).await.unwrap(), Changed::Nothing);
    assert_eq!(registry.token([1; 32]).await.unwrap(), None);
    assert!(subject.peek.node().is_empty(), "nothing happened, so nothing is recorded");
}

/// A client of the group, and `west`, which is in none; `north` is in the group.
async fn with_group_client(registry: &dyn Registry) {
    registry.add_tenant(Tenant::new(west(), "West Harbour"), note()).await.unwrap();
    registry.add_client(group_client("fleet"), note()).await.unwrap();
    join(registry, &north(), FieldUpdate::Set(harbours())).await;
}

fn group_client(name: &str) -> Client {
    Client { tenants: Vec::new(), groups: vec![harbours()], ..client(name) }
}

/// The tenants of a new token of the group's client.
async fn issued(registry: &dyn Registry, number: u8, tenants: Vec<TenantId>) -> Vec<TenantId> {
    let token = Token { tenants, ..token(number, "fleet", 9_000) };
    let hash = token.hash;
    assert_eq!(registry.add_token(token, vec![harbours()], Millis(0), note()).await.unwrap(), Changed::Done);
    registry.token(hash).await.unwrap().unwrap().tenants
}

async fn join(registry: &dyn Registry, tenant: &TenantId, group: FieldUpdate<GroupId>) {
    let update = TenantUpdate { group, ..TenantUpdate::default() };
    assert_eq!(registry.update_tenant(tenant, update, note()).await.unwrap(), Changed::Done);
}

fn harbours() -> GroupId {
    GroupId::parse("harbours").unwrap()
}

fn west() -> TenantId {
    TenantId::parse("west").unwrap()
}
