//! Which mount answers at which path.

use frontdesk_contracts::openapi;
use frontdesk_engine::Reply;
use frontdesk_engine::desk::Mount;

use super::partners::PartnerEndpoint;
use crate::http::api_page;

/// The path below a mount that accepts dispatched requests.
const DISPATCH: &str = "/dispatch";

/// The mounts by their paths.
#[derive(Default)]
pub struct Router {
    exact: Vec<(String, Mount)>,
    fallbacks: Vec<(String, Mount)>,
    documents: Vec<ApiDocument>,
    partners: Vec<PartnerEndpoint>,
}

/// A description of a mount's routes that everybody may read.
pub(crate) struct ApiDocument {
    path: String,
    text: String,
    format: ApiFormat,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ApiFormat {
    OpenApi,
    Page,
}

impl ApiDocument {
    pub(crate) fn reply(&self) -> Reply {
        match self.format {
            ApiFormat::OpenApi => Reply::plain(200, self.text.clone())
                .header("access-control-allow-origin", "*")
                .header("cache-control", "public, max-age=3600"),
            ApiFormat::Page => api_page::reply(&self.text),
        }
    }
}

impl Router {
    /// Mounts at exact paths, in the order in which they are listed.
    pub fn new(exact: Vec<(String, Mount)>) -> Router {
        Router { exact, fallbacks: Vec::new(), documents: Vec::new(), partners: Vec::new() }
    }

    /// Routes every path one segment below the base that has no exact match to this mount, which is not listed.
    pub fn with_fallback(mut self, base: String, mount: Mount) -> Router {
        self.fallbacks.push((base, mount));
        self
    }

    /// Describes the routes of every mount that has a prefix, as OpenAPI and as a page.
    pub fn with_documents(mut self, token_url: &str) -> Router {
        for (_, mount) in &self.exact {
            let Some(prefix) = &mount.prefix else { continue };
            let document = openapi::document(&mount.contract, prefix, token_url);
            let page = api_page::render(&document);
            let open_api = (format!("{prefix}/openapi.json"), document.to_string(), ApiFormat::OpenApi);
            for (path, text, format) in [open_api, (format!("{prefix}/docs"), page, ApiFormat::Page)] {
                self.documents.push(ApiDocument { path, text, format });
            }
        }
        self
    }

    pub(crate) fn with_partners(self, partners: Vec<PartnerEndpoint>) -> Router {
        Router { partners, ..self }
    }

    /// The partners, each with its mount.
    pub(crate) fn partners(&self) -> impl Iterator<Item = (&PartnerEndpoint, &Mount)> {
        self.partners.iter().filter_map(|partner| Some((partner, self.find(&partner.path)?)))
    }

    /// The partner whose mount is above this path, and the rest of the path.
    pub(crate) fn find_partner<'p>(&self, path: &'p str) -> Option<(&PartnerEndpoint, &Mount, &'p str)> {
        self.partners().find_map(|(partner, mount)| {
            let rest = path.strip_prefix(&partner.path)?.strip_prefix('/')?;
            Some((partner, mount, rest))
        })
    }

    pub(crate) fn document(&self, path: &str) -> Option<&ApiDocument> {
        self.documents.iter().find(|document| document.path == path)
    }

    pub fn find(&self, path: &str) -> Option<&Mount> {
        let exact = self.exact.iter().find(|(mounted, _)| mounted == path);
        let fallback = || self.fallbacks.iter().find(|(base, _)| is_one_below(base, path));
        exact.or_else(fallback).map(|(_, mount)| mount)
    }

    /// The mount whose dispatch endpoint has this path. Only mounts with a policy have one, and a mount at exactly this path
    /// takes precedence.
    pub fn find_dispatch(&self, path: &str) -> Option<&Mount> {
        if self.exact.iter().any(|(mounted, _)| mounted == path) {
            return None;
        }
        self.find(path.strip_suffix(DISPATCH)?).filter(|mount| mount.policy.is_some())
    }

    /// The mount whose routes are below this path, and the length of their prefix.
    pub fn find_route(&self, path: &str) -> Option<(&Mount, usize)> {
        self.exact.iter().find_map(|(_, mount)| {
            let prefix = mount.prefix.as_deref()?;
            let below = path.strip_prefix(prefix)?;
            below.starts_with('/').then_some((mount, prefix.len()))
        })
    }

    /// What was measured at a path goes on there.
    pub(super) fn keep_service_levels(&mut self, before: &Router) {
        for (path, mount) in &mut self.exact {
            if let Some((_, earlier)) = before.exact.iter().find(|(mounted, _)| mounted == path) {
                mount.service_level = earlier.service_level.with_targets(&mount.contract.latency_targets);
            }
        }
    }

    /// The mounts with exact paths.
    pub fn iter(&self) -> impl Iterator<Item = &(String, Mount)> {
        self.exact.iter()
    }

    pub fn get(&self, index: usize) -> Option<&(String, Mount)> {
        self.exact.get(index)
    }
}

fn is_one_below(base: &str, path: &str) -> bool {
    let rest = path.strip_prefix(base).and_then(|rest| rest.strip_prefix('/'));
    rest.is_some_and(|segment| !segment.is_empty() && !segment.contains('/'))
}
