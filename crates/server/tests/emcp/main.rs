//! The eMCP toolset over real HTTPS, clause by clause: the shipped binary, a made-up site, and callers whose tokens the
//! site signs. What the tools find is tried row by row in `contracts`; here is what a caller can see of it from outside.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

#[expect(dead_code, reason = "the store's own tests use more of it")]
#[path = "../../../store/tests/site_db/mariadb.rs"]
mod mariadb;
#[expect(dead_code, reason = "the store's own tests use more of it")]
#[path = "../../../store/tests/postgres/server.rs"]
mod server;
#[expect(dead_code, reason = "the tests of commands use more of it")]
#[path = "../commands/started.rs"]
mod started;
#[expect(dead_code, reason = "each test binary uses its own part of the support")]
#[path = "../support/mod.rs"]
mod support;
#[expect(dead_code, reason = "the store's own tests use more of it")]
#[path = "../../../store/tests/site_db/three.rs"]
mod three;

mod databases;
mod dispatching;
mod entrance;
mod greeting;
mod guide;
mod limits;
mod order;
mod published;
mod secrets;
mod stage;
mod statements;
mod transport;
