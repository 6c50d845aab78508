//! What the server publishes about itself: protected resource metadata (RFC 9728) and authorization
//! server metadata (RFC 8414). Written once from the configuration; no request can change a byte.

use std::collections::HashMap;

use bytes::Bytes;
use frontdesk_engine::model::caller::Scope;
use frontdesk_engine::model::reply::Reply;
use serde::Serialize;

use crate::refusal::{Reason, Refusal, json};
use crate::server::{AUTHORIZE, ProtectedResource, REVOKE, TOKEN};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// Clients look in either place, and some below the path of the resource.
const SERVER: [&str; 2] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

const VERBS: &str = "GET, HEAD, OPTIONS";

/// Every published document by its path.
pub(crate) struct Documents(HashMap<String, Bytes>);

impl Documents {
    pub(crate) fn new(issuer: &str, resources: &[ProtectedResource]) -> Documents {
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
        Documents(documents)
    }

    /// The answer at a published path, or `None` if nothing is published there. Any page may read
    /// these documents: they are the same for everybody and name no secret.
    pub(crate) fn answer(&self, method: &str, path: &str) -> Option<Reply> {
        let body = self.0.get(path)?;
        let reply = match method {
            "GET" | "HEAD" => Reply::plain(200, body.clone())
                .header("Content-Type", "application/json")
                .header("Cache-Control", "public, max-age=3600"),
            "OPTIONS" => Reply::empty(204)
                .header("Allow", VERBS)
                .header("Access-Control-Allow-Methods", VERBS)
                // Clients in a browser send this header also when they fetch metadata.
                .header("Access-Control-Allow-Headers", "MCP-Protocol-Version")
                .header("Access-Control-Max-Age", "3600"),
            _ => Refusal::new(Reason::WrongVerb(VERBS), "Metadata is read with GET.").reply(),
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

/// Advertises only what exists. No response type and no code challenge method: nothing interactive is
/// served yet, and a client that needs it must stop here. The authorization endpoint is named all the
/// same, because the official clients refuse a document without one; it exists, and refuses everything.
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
