//! New clients and secrets: what is shown, what is stored, what is formatted.

use frontdesk_engine::model::caller::{Scopes, TenantId};
use frontdesk_engine::seal::sha256;
use frontdesk_identity::{new_client, new_secret};

use crate::support::{Counting, START, bench};

#[test]
fn a_new_client_keeps_only_the_hash_of_the_secret_it_shows() {
    let bench = bench();
    let north = TenantId::parse("north").unwrap();
    let scopes = Scopes::parse("amcp:leads:read").unwrap();
    let (client, secret) =
        new_client("North", vec![north.clone()], scopes.clone(), &*bench.clock, &Counting::default());
    assert_eq!(client.id.as_str(), "cli_AQEBAQEBAQEBAQEBAQEBAQ");
    assert_eq!(secret.expose(), "fds_AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI");
    assert_eq!(client.secret, sha256(secret.expose().as_bytes()));
    assert_eq!((client.name.as_str(), client.created_at.0, client.revoked_at), ("North", START, None));
    assert_eq!((client.tenants, client.scopes), (vec![north], scopes));
}

#[test]
fn a_secret_is_formatted_as_stars() {
    let (secret, hash) = new_secret(&Counting::default());
    assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "*** *** Some(***)");
    assert_eq!(secret.hash(), hash);
}
