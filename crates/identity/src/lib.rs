//! Who is calling: the embedded authorization server, which gives clients tokens and later says whose
//! a token is. It knows secrets and tokens only by their hashes, and takes every URL it publishes from
//! the configuration, never from a request.

mod asked;
mod authenticate;
mod cache;
mod client;
mod form;
mod grant;
mod identify;
mod metadata;
mod refusal;
mod revoke;
mod secret;
mod server;

pub use asked::Asked;
pub use client::{new_client, new_secret};
pub use secret::Secret;
pub use server::{EmbeddedServer, Parts, ProtectedResource, Settings};
