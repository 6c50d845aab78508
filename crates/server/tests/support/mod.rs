//! What the tests of the server share.

pub(crate) mod chance;
pub(crate) mod client;
pub(crate) mod collector;
pub(crate) mod desk;
pub(crate) mod folder;
