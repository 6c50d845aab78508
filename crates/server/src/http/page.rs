//! The front page: how to connect, which contracts are mounted, and on a demo a search to try.

use frontdesk_engine::desk::Mount;
use frontdesk_engine::model::mount_policy::MountStatus;
use frontdesk_engine::model::reply::Reply;
use frontdesk_engine::model::tool::ToolSpec;

use crate::app::App;
use crate::config::CertificateConfig;
use crate::connect::{self, Installation, NetworkReach, StdioArguments};
use crate::data_dir;

const PAGE: &str = include_str!("page.html");
const MOUNT: &str = include_str!("mount.html");
/// The style of every page here, which loads nothing.
pub(super) const STYLE: &str = include_str!("page.css");

/// Where the CA file of a development certificate can be loaded from.
pub(super) const CA_PATH: &str = "/ca.pem";
/// How it is saved.
const CA_NAME: &str = "frontdesk-ca.pem";

pub(super) fn front_page(app: &App) -> Reply {
    let shown = || app.mounts.iter().map(|(_, mount)| mount).filter(|mount| is_served(mount));
    let mounts: Vec<String> = shown().map(|mount| contract(app, mount)).collect();
    let first = shown().find(|mount| app.issues_tokens_for(mount));
    let endpoint = first.map(|mount| mount.resource.clone()).unwrap_or_default();
    let clients = first.map(|mount| clients(app, mount)).unwrap_or_default();
    let ca = match app.config.certificate {
        CertificateConfig::Development => format!(
            "<p>Its certificate comes from a CA of its own: <a href=\"{CA_PATH}\" download=\"{CA_NAME}\">download the CA \
             file</a> and save it as <code>{CA_NAME}</code> where you paste these.</p>"
        ),
        CertificateConfig::Files { .. } => String::new(),
    };
    let search = app
        .demo_search
        .get()
        .map(|search| format!("<section class=\"try\">\n<h2>Try a search</h2>\n{}\n</section>", search.form_html()));
    let page = PAGE
        .replace("{style}", STYLE)
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{endpoint}", &escape(&endpoint))
        .replace("{ca}", &ca)
        .replace("{clients}", &clients)
        .replace("{search}", &search.unwrap_or_default())
        .replace("{mounts}", &mounts.concat());
    html(page)
}

/// What to paste into each client. The page is public: it names no folder and no client of this installation.
fn clients(app: &App, mount: &Mount) -> String {
    let ca_file = match app.config.certificate {
        CertificateConfig::Development => Some(CA_NAME.to_owned()),
        CertificateConfig::Files { .. } => None,
    };
    let installation = Installation {
        name: Installation::name_of(None),
        url: mount.resource.clone(),
        public_url: app.config.public_url.to_string(),
        reach: if ca_file.is_some() { NetworkReach::Local } else { NetworkReach::of(app.config.public_url.host()) },
        ca_file,
        client_id: "YOUR_CLIENT_ID".to_owned(),
        scopes: mount.contract.ordinary_scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
        program: "frontdesk".to_owned(),
        stdio: StdioArguments { flag: "--data", path: "/path/to/frontdesk-data".to_owned(), contract: None },
    };
    connect::CLIENTS.iter().map(|client| connect::html(client, &installation, escape)).collect()
}

/// The CA file, only where clients need it.
pub(super) fn ca_file(app: &App) -> Option<Reply> {
    match app.config.certificate {
        CertificateConfig::Development => {
            let text = std::fs::read_to_string(data_dir::tls_dir(&app.config.data).join("ca.pem")).ok()?;
            let reply = Reply::plain(200, text).header("content-type", "application/x-pem-file");
            Some(reply.header("content-disposition", format!("attachment; filename=\"{CA_NAME}\"")))
        }
        CertificateConfig::Files { .. } => None,
    }
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
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
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

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
