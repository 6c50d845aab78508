//! Who is calling: the embedded authorization server, which issues tokens to clients and later tells whose a token is,
//! and a verifier of tokens that another issuer has signed. The server stores secrets and tokens only as hashes, and
//! takes every URL it publishes from the configuration, never from a request.

mod client;
mod jwt;
mod secret;
mod server;

pub use client::{new_client, new_secret};
pub use jwt::{JwtConfigError, JwtSettings, JwtVerifier, SigningSecret};
pub use secret::PlaintextSecret;
pub use server::{
    Dependencies, EmbeddedServer, LoginToken, LoginTokenError, LoginTokenRequest, OAuthRequest, OAuthSettings,
    ProtectedResource,
};
