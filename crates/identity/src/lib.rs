//! Who is calling: the embedded authorization server, at which people log in and decide what a client may do, which issues
//! tokens to clients and later tells whose a token is, and a verifier of tokens that another issuer has signed. The server stores secrets and tokens only as hashes, and
//! takes every URL it publishes from the configuration, never from a request.

mod client;
mod jwt;
mod people;
mod secret;
mod server;

pub use client::{new_client, new_secret};
pub use jwt::{JwtConfigError, JwtSettings, JwtVerifier, SigningSecret};
pub use people::{MembershipScope, NewUser, UserDirectory, UserError, UserRole, UserView};
pub use secret::PlaintextSecret;
pub use server::{
    ClientDocuments, Dependencies, EmbeddedServer, IssuedToken, ListedToken, LoginClientView, LoginSettings,
    NewLoginClient, OAuthRequest, OAuthSettings, OperatorTokenError, OperatorTokenRequest, ProtectedResource,
    Registration, ScopeAccess, ScopeInfo, check_redirect_uri,
};
