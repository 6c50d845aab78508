//! Published metadata: protected resource metadata (RFC 9728) and authorization server metadata (RFC 8414). It is built
//! once from the configuration and does not depend on the request.

use std::collections::HashMap;

use bytes::Bytes;
use frontdesk_engine::model::caller::Scope;
use frontdesk_engine::model::reply::Reply;
use serde::Serialize;

use super::error::{OAuthError, OAuthErrorKind, json};
use super::{AUTHORIZE, ProtectedResource, REVOKE, TOKEN};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// Clients use either path, some with the path of the resource appended.
const SERVER: [&str; 2] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

const METHODS: &str = "GET, HEAD, OPTIONS";

/// Every published document, by path.
pub(crate) struct MetadataDocuments(HashMap<String, Bytes>);

impl MetadataDocuments {
    pub(crate) fn new(issuer: &str, resources: &[ProtectedResource]) -> MetadataDocuments {
        let mut documents = HashMap::new();
        let server = json(200, &ServerMetadata::new(issuer, resources)).body;
        for place in SERVER {
            documents.insert(place.to_owned(), server.clone());
        }
        for resource in resources {
            let about = json(200, &ResourceMetadata::new(issuer, resource)).body;
            documents.entry(RESOURCE.to_owned()).or_insert_with(|| about.clone());
            documents.insert(format!("{RESOURCE}{}", resource.path), about);
            for place in SERVER {
                documents.insert(format!("{place}{}", resource.path), server.clone());
            }
        }
        MetadataDocuments(documents)
    }

    /// The answer at a published path; `None` for any other path. Every origin may read these documents: they are the
    /// same for all clients and contain no secret.
    pub(crate) fn answer(&self, method: &str, path: &str) -> Option<Reply> {
        let body = self.0.get(path)?;
        let reply = match method {
            "GET" | "HEAD" => Reply::plain(200, body.clone())
                .header("Content-Type", "application/json")
                .header("Cache-Control", "public, max-age=3600"),
            "OPTIONS" => Reply::empty(204)
                .header("Allow", METHODS)
                .header("Access-Control-Allow-Methods", METHODS)
                // Browser clients send this header when they fetch metadata, too.
                .header("Access-Control-Allow-Headers", "MCP-Protocol-Version")
                .header("Access-Control-Max-Age", "3600"),
            _ => OAuthError::new(OAuthErrorKind::MethodNotAllowed(METHODS), "Send a GET request.").reply(),
        };
        Some(reply.header("Access-Control-Allow-Origin", "*"))
    }
}

#[derive(Serialize)]
struct ResourceMetadata<'a> {
    resource: &'a str,
    authorization_servers: [&'a str; 1],
    scopes_supported: Vec<&'a str>,
    bearer_methods_supported: [&'static str; 1],
    resource_name: &'a str,
}

impl ResourceMetadata<'_> {
    fn new<'a>(issuer: &'a str, resource: &'a ProtectedResource) -> ResourceMetadata<'a> {
        ResourceMetadata {
            resource: &resource.url,
            authorization_servers: [issuer],
            scopes_supported: resource.scopes.iter().map(Scope::as_str).collect(),
            bearer_methods_supported: ["header"],
            resource_name: &resource.name,
        }
    }
}

/// No response type and no code challenge method: no interactive flow is supported, and a client that needs one must
/// stop here. The authorization endpoint is listed because the official clients reject a document without one; it exists,
/// and answers every request with an error.
#[derive(Serialize)]
struct ServerMetadata<'a> {
    issuer: &'a str,
    authorization_endpoint: String,
    token_endpoint: String,
    revocation_endpoint: String,
    scopes_supported: Vec<&'a str>,
    response_types_supported: [&'static str; 0],
    grant_types_supported: [&'static str; 1],
    token_endpoint_auth_methods_supported: [&'static str; 2],
    revocation_endpoint_auth_methods_supported: [&'static str; 2],
}

impl ServerMetadata<'_> {
    fn new<'a>(issuer: &'a str, resources: &'a [ProtectedResource]) -> ServerMetadata<'a> {
        let mut scopes = Vec::new();
        for scope in resources.iter().flat_map(|resource| &resource.scopes) {
            if !scopes.contains(&scope.as_str()) {
                scopes.push(scope.as_str());
            }
        }
        let methods = ["client_secret_basic", "client_secret_post"];
        ServerMetadata {
            issuer,
            authorization_endpoint: format!("{issuer}{AUTHORIZE}"),
            token_endpoint: format!("{issuer}{TOKEN}"),
            revocation_endpoint: format!("{issuer}{REVOKE}"),
            scopes_supported: scopes,
            response_types_supported: [],
            grant_types_supported: ["client_credentials"],
            token_endpoint_auth_methods_supported: methods,
            revocation_endpoint_auth_methods_supported: methods,
        }
    }
}
