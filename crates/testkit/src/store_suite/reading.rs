//! Looking up one row: only the tenant's own, and personal data only when it is asked for in full.

use frontdesk_engine::TenantId;
use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::OnConflict;
use frontdesk_engine::model::table::{Cell, Row, StoredRow};
use frontdesk_engine::ports::Disclosure;

use super::boats::{BOAT, add, boat, claim, done, ids, personal, plain, plan, query, update, with};
use super::{StoreUnderTest, north, south};

pub async fn a_row_is_masked_unless_disclosure_is_full(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let masked = subject.store.get(&north(), &BOAT, "b1", Disclosure::Masked).await.unwrap().unwrap();
    assert_eq!(
        (masked.id.as_str(), masked.version, masked.created_at, masked.body.as_str(), masked.masked.as_deref()),
        ("b1", 1, 1_000, r#"{"id":"b1","length":7}"#, Some(r#"{"owner":"A***"}"#))
    );
    assert_eq!(masked.personal, None);
    let full = subject.store.get(&north(), &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
    assert_eq!(full.personal.as_deref(), Some(r#"{"owner":"Ada Lovelace"}"#));
}

pub async fn write_only_values_come_only_to_be_changed(subject: &StoreUnderTest) {
    let store = &*subject.store;
    let pin = || Some(r#"{"pin":"0451"}"#.to_owned());
    let change = |version: i64, secret| {
        update(Row { version: version + 1, secret, ..boat("b1", 7) }, version, OnConflict::Retry)
    };
    // Also a row that has nothing personal.
    let bare = Row { secret: pin(), masked: None, personal: None, ..boat("b2", 8) };
    add(store, &north(), [Row { secret: pin(), ..boat("b1", 7) }, bare]).await;
    for id in ["b1", "b2"] {
        for (disclosure, expected) in
            [(Disclosure::Masked, None), (Disclosure::Full, None), (Disclosure::ToChange, pin())]
        {
            let found = store.get(&north(), &BOAT, id, disclosure).await.unwrap().unwrap();
            assert_eq!(found.secret, expected, "{id} {disclosure:?}");
            assert_eq!(found.personal.is_some(), disclosure != Disclosure::Masked && id == "b1", "{disclosure:?}");
        }
        assert_eq!(find(subject, &north(), &format!("H-{id}")).await.unwrap().secret, None);
    }
    let rows = store.page(&north(), query(Vec::new())).await.unwrap().rows;
    assert!(rows.len() == 2 && !rows.concat().contains("0451"), "{rows:?}");
    // It is kept by a writer that passes it again, and gone if it does not.
    for (version, secret) in [(1, pin()), (2, None)] {
        done(store, plan("change", &north(), vec![change(version, secret.clone())])).await;
        let found = store.get(&north(), &BOAT, "b1", Disclosure::ToChange).await.unwrap().unwrap();
        assert_eq!((found.version, found.secret), (version + 1, secret));
    }
}

pub async fn an_unknown_id_is_not_found(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    assert!(subject.store.get(&north(), &BOAT, "b2", Disclosure::Full).await.unwrap().is_none());
    assert!(find(subject, &north(), "H-b2").await.is_none());
    assert!(subject.store.find(&north(), &BOAT, "hull", Cell::Null).await.unwrap().is_none());
}

pub async fn equal_ids_and_values_of_two_tenants_stay_apart(subject: &StoreUnderTest) {
    let store = &*subject.store;
    add(store, &north(), [titled("b1", "north"), titled("n2", "north")]).await;
    add(store, &south(), [titled("b1", "south"), titled("s2", "south")]).await;
    // Of the boats with one id only the northern one has won a race.
    let winner = Row {
        version: 2,
        search_terms: vec![plain("sail"), personal("lovelace"), plain("won")],
        ..titled("b1", "north")
    };
    let step = update(winner, 1, OnConflict::Retry);
    done(store, plan("race", &north(), vec![step])).await;
    assert_eq!(ids(store, &north(), vec![Filter::SearchTerms(vec![plain("won")])]).await, ["b1"]);
    assert_eq!(ids(store, &south(), vec![Filter::SearchTerms(vec![plain("won")])]).await, [""; 0]);
    for (tenant, other, own) in [(north(), "s2", "n2"), (south(), "n2", "s2")] {
        let body = format!(r#"{{"of":"{tenant}"}}"#);
        let got = store.get(&tenant, &BOAT, "b1", Disclosure::Full).await.unwrap().unwrap();
        assert_eq!(got.body, body);
        assert!(store.get(&tenant, &BOAT, other, Disclosure::Full).await.unwrap().is_none());
        assert_eq!(find(subject, &tenant, "H-b1").await.unwrap().body, body);
        assert!(find(subject, &tenant, &format!("H-{other}")).await.is_none());

        let filters = [
            Filter::Equals("harbour", Cell::Text("kiel".to_owned())),
            Filter::Equals("owner", Cell::Digest("ada@example.com".to_owned())),
            Filter::AtLeast("length", 0),
            Filter::AnyOf("hull", vec![Cell::Text("H-b1".to_owned()), Cell::Text(format!("H-{own}"))]),
            Filter::SearchTerms(vec![plain("sail")]),
            Filter::SearchTerms(vec![personal("lovelace")]),
        ];
        for filter in filters {
            assert_eq!(ids(store, &tenant, vec![filter.clone()]).await, ["b1", own], "{tenant} by {filter:?}");
        }
        let page = store.page(&tenant, query(Vec::new())).await.unwrap();
        let whole = format!(r#"{{"of":"{tenant}","owner":"A***"}}"#);
        assert_eq!(page.rows, [whole.clone(), whole]);
    }
}

pub async fn a_unique_value_finds_its_row_masked(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7), boat("b2", 8)]).await;
    let found = find(subject, &north(), "H-b2").await.unwrap();
    assert_eq!((found.id.as_str(), found.version, found.body.as_str()), ("b2", 1, r#"{"id":"b2","length":8}"#));
    assert_eq!(found.masked.as_deref(), Some(r#"{"owner":"A***"}"#));
    assert_eq!(found.personal, None);
}

pub async fn an_unknown_tenant_has_nothing(subject: &StoreUnderTest) {
    add(&*subject.store, &north(), [boat("b1", 7)]).await;
    let nobody = TenantId::parse("nobody").unwrap();
    assert!(subject.store.get(&nobody, &BOAT, "b1", Disclosure::Full).await.unwrap().is_none());
    assert!(find(subject, &nobody, "H-b1").await.is_none());
    assert_eq!(ids(&*subject.store, &nobody, vec![Filter::SearchTerms(vec![personal("lovelace")])]).await, [""; 0]);
    assert_eq!(ids(&*subject.store, &nobody, Vec::new()).await, [""; 0]);
    assert!(subject.store.find_claim(&nobody, &claim("key", 1)).await.is_err());
}

async fn find(subject: &StoreUnderTest, tenant: &TenantId, hull: &str) -> Option<StoredRow> {
    subject.store.find(tenant, &BOAT, "hull", Cell::Text(hull.to_owned())).await.unwrap()
}

fn titled(id: &str, tenant: &str) -> Row {
    let row = with(boat(id, 7), "hull", Cell::Text(format!("H-{id}")));
    Row { body: format!(r#"{{"of":"{tenant}"}}"#), ..row }
}
