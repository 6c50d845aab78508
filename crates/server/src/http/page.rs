//! The front page: what this is, which contracts are mounted, and how to connect.

use frontdesk_engine::desk::Mount;
use frontdesk_engine::model::mount_policy::MountStatus;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::model::tool::ToolSpec;

use crate::app::App;
use crate::config::CertificateConfig;

const PAGE: &str = include_str!("page.html");
const MOUNT: &str = include_str!("mount.html");

pub(super) fn front_page(app: &App) -> Reply {
    let shown = || app.mounts.iter().map(|(_, mount)| mount).filter(|mount| is_served(mount));
    let mounts: Vec<String> = shown().map(|mount| contract(app, mount)).collect();
    let scopes = shown().next().map(scopes).unwrap_or_default();
    let trust = match app.config.certificate {
        CertificateConfig::Development => "--cacert frontdesk-data/tls/ca.pem ",
        CertificateConfig::Files { .. } => "",
    };
    let page = PAGE
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{mounts}", &mounts.concat())
        .replace("{trust}", trust)
        .replace("{scopes}", &escape(&scopes))
        .replace("{public_url}", &escape(&app.config.public_url.to_string()));
    html(page)
}

/// A page that loads nothing, runs no script and stands in no frame.
pub(super) fn html(page: String) -> Reply {
    guarded_html(200, page).header("cache-control", "no-cache")
}

/// The same, not to be stored at all.
pub(super) fn guarded_html(status: u16, page: String) -> Reply {
    Reply::plain(status, page)
        .header("content-type", "text/html; charset=utf-8")
        .header(
            "content-security-policy",
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
        )
        .header("x-frame-options", "DENY")
        .header("referrer-policy", "no-referrer")
}

/// Mounts that the operator has disabled are not listed.
fn is_served(mount: &Mount) -> bool {
    mount.policy.as_ref().is_none_or(|policy| policy.status == MountStatus::Served)
}

fn contract(app: &App, mount: &Mount) -> String {
    let denied = |spec: &ToolSpec| mount.policy.as_ref().is_some_and(|policy| policy.denies_tool(spec.name));
    let listed = mount.contract.tools.iter().map(|tool| &tool.spec).filter(|spec| !denied(spec));
    let tools: Vec<String> = listed.map(row).collect();
    let rest = mount.prefix.iter().flat_map(|prefix| [format!("{prefix}/docs"), format!("{prefix}/openapi.json")]);
    let paths = mount.contract.documents.iter().map(|(path, _)| (*path).to_owned()).chain(rest);
    let documents: Vec<String> = paths.map(|path| format!("<a href=\"{path}\">{path}</a>")).collect();
    let token = if app.issues_tokens_for(mount) {
        format!("Request its tokens with <code>-d resource={}</code>", escape(&mount.resource))
    } else {
        "This server issues no tokens for it.".to_owned()
    };
    MOUNT
        .replace("{token}", &token)
        .replace("{title}", &escape(mount.contract.server_info.title))
        .replace("{endpoint}", &escape(&mount.resource))
        .replace("{documents}", &documents.join(" "))
        .replace("{tools}", &tools.concat())
}

fn row(spec: &ToolSpec) -> String {
    format!(
        "<tr><td><code>{}</code></td><td>{}</td><td><code>{}</code></td></tr>",
        spec.name,
        escape(spec.title),
        scope_words(spec)
    )
}

/// The scopes with which some call of the tool is possible.
fn scope_words(spec: &ToolSpec) -> String {
    let scopes: Vec<&str> = spec.scope.all().map(|scope| scope.as_str()).collect();
    scopes.join(" or ")
}

fn scopes(mount: &Mount) -> String {
    let all: Vec<&str> = mount.contract.scopes.iter().map(|scope| scope.as_str()).collect();
    all.join(" ")
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
