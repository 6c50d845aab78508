//! Published metadata: protected resource metadata (RFC 9728) and authorization server metadata (RFC 8414). It is built
//! once from the configuration and does not depend on the request.

use std::collections::HashMap;

use bytes::Bytes;
use frontdesk_engine::model::caller::Scope;
use frontdesk_engine::model::reply::Reply;
use serde::Serialize;

use super::client_assertion::ALGORITHMS;
use super::error::{OAuthError, OAuthErrorKind, json};
use super::{AUTHORIZE, ClientDocuments, OAuthSettings, ProtectedResource, REGISTER, REVOKE, Registration, TOKEN};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// Clients use either path, some with the path of the resource appended.
const SERVER: [&str; 2] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

const METHODS: &str = "GET, HEAD, OPTIONS";

/// Every published document, by path.
pub(crate) struct MetadataDocuments(HashMap<String, Bytes>);

impl MetadataDocuments {
    pub(crate) fn new(settings: &OAuthSettings, resources: &[ProtectedResource]) -> MetadataDocuments {
        let issuer = settings.issuer.as_str();
        let mut documents = HashMap::new();
        let server = json(200, &ServerMetadata::new(settings, resources)).body;
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

/// Exactly what there is: nothing is listed that would not be answered.
#[derive(Serialize)]
struct ServerMetadata<'a> {
    issuer: &'a str,
    authorization_endpoint: String,
    token_endpoint: String,
    revocation_endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_endpoint: Option<String>,
    scopes_supported: Vec<&'a str>,
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 3],
    code_challenge_methods_supported: [&'static str; 1],
    token_endpoint_auth_methods_supported: [&'static str; 4],
    token_endpoint_auth_signing_alg_values_supported: [&'static str; 3],
    revocation_endpoint_auth_methods_supported: [&'static str; 4],
    revocation_endpoint_auth_signing_alg_values_supported: [&'static str; 3],
    authorization_response_iss_parameter_supported: bool,
    client_id_metadata_document_supported: bool,
}

impl ServerMetadata<'_> {
    fn new<'a>(settings: &'a OAuthSettings, resources: &'a [ProtectedResource]) -> ServerMetadata<'a> {
        let issuer = settings.issuer.as_str();
        let mut scopes = Vec::new();
        for scope in resources.iter().flat_map(|resource| &resource.scopes) {
            if !scopes.contains(&scope.as_str()) {
                scopes.push(scope.as_str());
            }
        }
        let methods = ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"];
        ServerMetadata {
            issuer,
            authorization_endpoint: format!("{issuer}{AUTHORIZE}"),
            token_endpoint: format!("{issuer}{TOKEN}"),
            revocation_endpoint: format!("{issuer}{REVOKE}"),
            registration_endpoint: match settings.login.registration {
                Registration::On => Some(format!("{issuer}{REGISTER}")),
                Registration::Off => None,
            },
            scopes_supported: scopes,
            response_types_supported: ["code"],
            response_modes_supported: ["query"],
            grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
            code_challenge_methods_supported: ["S256"],
            token_endpoint_auth_methods_supported: methods,
            token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
            revocation_endpoint_auth_methods_supported: methods,
            revocation_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
            authorization_response_iss_parameter_supported: true,
            client_id_metadata_document_supported: settings.login.client_documents != ClientDocuments::Off,
        }
    }
}
