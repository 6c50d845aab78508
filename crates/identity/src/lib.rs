//! Who is calling: the embedded authorization server, which gives clients tokens and later says whose
//! a token is, and a judge of tokens that others have signed. The server knows secrets and tokens only by
//! their hashes, and takes every URL it publishes from the configuration, never from a request.

mod asked;
mod authenticate;
mod cache;
mod client;
mod form;
mod grant;
mod identify;
mod jwt;
mod metadata;
mod refusal;
mod revoke;
mod secret;
mod server;

pub use asked::Asked;
pub use client::{new_client, new_secret};
pub use jwt::{JwtError, JwtJudge, JwtSettings, SigningSecret};
pub use secret::Secret;
pub use server::{EmbeddedServer, Parts, ProtectedResource, Settings};
