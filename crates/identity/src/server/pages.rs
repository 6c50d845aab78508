//! The pages: plain HTML that loads one style sheet, runs no script, stands in no frame and is stored nowhere. Whatever
//! comes from outside is escaped.

use std::borrow::Cow;

use frontdesk_engine::model::reply::Reply;

const SHELL: &str = include_str!("pages/shell.html");
const LOGIN: &str = include_str!("pages/login.html");
const CONSENT: &str = include_str!("pages/consent.html");
const ACCOUNT: &str = include_str!("pages/account.html");
const SETUP: &str = include_str!("pages/setup.html");
const STYLE: &str = include_str!("pages/style.css");

pub(crate) const STYLE_PATH: &str = "/frontdesk.css";

/// Fills the places `{name}` of a template in one pass: what is put in is not searched for places again.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut page = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        page.push_str(before);
        let place = values.iter().find_map(|(name, value)| {
            let after = from.strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?;
            Some((value, after))
        });
        match place {
            Some((value, after)) => {
                page.push_str(value);
                rest = after;
            }
            None => {
                page.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    page.push_str(rest);
    page
}

pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// `targets` are the places, beside this server, that a browser may be sent to after a form of this page.
fn page(status: u16, title: &str, body: &str, targets: &[String]) -> Reply {
    let targets: String = targets.iter().map(|target| format!(" {target}")).collect();
    let policy = format!(
        "default-src 'none'; style-src 'self'; img-src 'none'; form-action 'self'{targets}; frame-ancestors 'none'; \
         base-uri 'none'"
    );
    html(status, fill(SHELL, &[("title", &escape(title)), ("body", body)])).header("Content-Security-Policy", policy)
}

fn html(status: u16, text: String) -> Reply {
    Reply::plain(status, text)
        .header("Content-Type", "text/html; charset=utf-8")
        .header("X-Frame-Options", "DENY")
        .header("Referrer-Policy", "no-referrer")
        .header("Cache-Control", "no-store")
        .header("Cross-Origin-Opener-Policy", "same-origin")
}

/// A page that only says something.
pub(crate) fn message(status: u16, title: &str, text: &str) -> Reply {
    let body = format!("<section class=\"card\"><h2>{}</h2><p>{}</p></section>", escape(title), escape(text));
    page(status, title, &body, &[])
}

pub(crate) fn style() -> Reply {
    Reply::plain(200, STYLE)
        .header("Content-Type", "text/css; charset=utf-8")
        .header("Cache-Control", "public, max-age=3600")
}

/// Sends the browser on. Not 307: that would repeat a form.
pub(crate) fn see_other(location: String) -> Reply {
    Reply::empty(303)
        .header("Location", location)
        .header("Cache-Control", "no-store")
        .header("Referrer-Policy", "no-referrer")
}

pub(crate) struct LoginPage<'a> {
    pub(crate) status: u16,
    pub(crate) form_token: &'a str,
    /// Where to go after the login.
    pub(crate) next: &'a str,
    /// Who asks, if a client does.
    pub(crate) client: Option<&'a str>,
    pub(crate) problem: Option<&'a str>,
    pub(crate) targets: &'a [String],
}

pub(crate) fn login(login: &LoginPage<'_>) -> Reply {
    let who: Cow<'_, str> = match login.client {
        Some(client) => format!("<p class=\"lede\">to connect <b>{}</b></p>", escape(client)).into(),
        None => "<p class=\"lede\">to see your connected agents</p>".into(),
    };
    let values = [
        ("who", who.as_ref()),
        ("problem", &problem(login.problem)),
        ("token", login.form_token),
        ("next", &escape(login.next)),
    ];
    page(login.status, "Log in", &fill(LOGIN, &values), login.targets)
}

pub(crate) struct ScopeChoice {
    pub(crate) scope: String,
    pub(crate) words: String,
    pub(crate) is_chosen: bool,
    pub(crate) is_sensitive: bool,
}

pub(crate) struct ConsentPage<'a> {
    pub(crate) status: u16,
    pub(crate) form_token: &'a str,
    pub(crate) request: &'a str,
    pub(crate) user: &'a str,
    pub(crate) client: &'a str,
    /// Where the client says it is from.
    pub(crate) origin: &'a str,
    pub(crate) redirect_host: &'a str,
    pub(crate) warning: Option<&'a str>,
    pub(crate) resource: &'a str,
    /// Id, name, and whether it is chosen.
    pub(crate) tenants: &'a [(String, String, bool)],
    pub(crate) reads: &'a [ScopeChoice],
    pub(crate) changes: &'a [ScopeChoice],
    pub(crate) duration: &'a str,
    pub(crate) problem: Option<&'a str>,
    pub(crate) targets: &'a [String],
}

pub(crate) fn consent(consent: &ConsentPage<'_>) -> Reply {
    let warning = consent
        .warning
        .map(|warning| format!("<p class=\"warning\" id=\"warning\">{}</p>", escape(warning)))
        .unwrap_or_default();
    let tenants = match consent.tenants {
        [(id, name, _)] => format!(
            "<p>For <b id=\"dealership-name\">{}</b></p><input type=\"hidden\" name=\"dealership\" value=\"{}\">",
            escape(name),
            escape(id)
        ),
        several => {
            let options: String = several
                .iter()
                .map(|(id, name, is_chosen)| {
                    let selected = if *is_chosen { " selected" } else { "" };
                    format!("<option value=\"{}\"{selected}>{}</option>", escape(id), escape(name))
                })
                .collect();
            format!(
                "<p><label for=\"dealership\">For which dealership?</label>\
                 <select id=\"dealership\" name=\"dealership\" required>{options}</select></p>"
            )
        }
    };
    let values = [
        ("client", &*escape(consent.client)),
        ("origin", &escape(consent.origin)),
        ("redirect_host", &escape(consent.redirect_host)),
        ("warning", &warning),
        ("problem", &problem(consent.problem)),
        ("resource", &escape(consent.resource)),
        ("tenants", &tenants),
        ("reads", &choices("It may read", consent.reads)),
        ("changes", &choices("It may change", consent.changes)),
        ("duration", &escape(consent.duration)),
        ("user", &escape(consent.user)),
        ("token", consent.form_token),
        ("request", &escape(consent.request)),
    ];
    let title = format!("Connect {}?", consent.client);
    page(consent.status, &title, &fill(CONSENT, &values), consent.targets)
}

fn choices(heading: &str, choices: &[ScopeChoice]) -> String {
    if choices.is_empty() {
        return String::new();
    }
    let rows: String = choices
        .iter()
        .map(|choice| {
            let checked = if choice.is_chosen { " checked" } else { "" };
            let note = if choice.is_sensitive { " <small>(needs a login within five minutes)</small>" } else { "" };
            let scope = escape(&choice.scope);
            format!(
                "<li><label><input type=\"checkbox\" name=\"scope:{scope}\" value=\"on\"{checked}> {}{note}</label></li>",
                escape(&choice.words)
            )
        })
        .collect();
    format!("<fieldset><legend>{heading}</legend><ul class=\"choices\">{rows}</ul></fieldset>")
}

/// A client that acts for the user.
pub(crate) struct GrantRow {
    pub(crate) id: String,
    pub(crate) client: String,
    pub(crate) client_id: String,
    pub(crate) tenant: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) since: String,
    pub(crate) last_used: String,
    pub(crate) until: String,
}

pub(crate) fn account(user: &str, form_token: &str, grants: &[GrantRow]) -> Reply {
    let rows: String = grants.iter().map(|grant| grant_card(grant, form_token)).collect();
    let rows = if rows.is_empty() {
        "<section class=\"card\"><p id=\"none\">No agent acts for you. Connect one by giving it the address of this \
         server.</p></section>"
            .to_owned()
    } else {
        rows
    };
    let values = [("user", &*escape(user)), ("token", form_token), ("grants", &rows)];
    page(200, "Connected agents", &fill(ACCOUNT, &values), &[])
}

fn grant_card(grant: &GrantRow, form_token: &str) -> String {
    let scopes: String = grant.scopes.iter().map(|words| format!("<li>{}</li>", escape(words))).collect();
    format!(
        "<section class=\"card grant\"><h2>{}</h2><p class=\"more\"><code>{}</code></p>\
         <p>For <b>{}</b>. It may:</p><ul>{scopes}</ul>\
         <p class=\"more\">Connected {}, last used {}, ends {} at the latest.</p>\
         <form method=\"post\" action=\"/account/end\"><input type=\"hidden\" name=\"form_token\" value=\"{form_token}\">\
         <input type=\"hidden\" name=\"grant\" value=\"{}\"><button class=\"quiet\">Disconnect</button></form></section>",
        escape(&grant.client),
        escape(&grant.client_id),
        escape(&grant.tenant),
        escape(&grant.since),
        escape(&grant.last_used),
        escape(&grant.until),
        escape(&grant.id),
    )
}

/// The page behind a one-time link. Without a name the user chooses one.
pub(crate) fn setup(
    status: u16,
    form_token: &str,
    path: &str,
    name: Option<&str>,
    problem_text: Option<&str>,
) -> Reply {
    let who = match name {
        Some(name) => format!("<p>Your name here is <b>{}</b>.</p>", escape(name)),
        None => "<p><label for=\"name\">Your name or e-mail address</label>\
                 <input id=\"name\" name=\"name\" autocomplete=\"username\" required autofocus></p>"
            .to_owned(),
    };
    let lede = match name {
        Some(_) => "Choose your password.",
        None => "Nobody can log in here yet. Make the first user, who may do everything for every dealership.",
    };
    let values = [
        ("lede", lede),
        ("who", &who),
        ("problem", &problem(problem_text)),
        ("token", form_token),
        ("action", &escape(path)),
    ];
    page(status, "Set up", &fill(SETUP, &values), &[])
}

fn problem(text: Option<&str>) -> String {
    text.map(|text| format!("<p class=\"problem\" role=\"alert\" id=\"problem\">{}</p>", escape(text)))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{escape, fill};

    #[test]
    fn what_is_put_in_is_not_searched_again() {
        assert_eq!(fill("{a} {b} {c} {", &[("a", "{b}"), ("b", "{a}")]), "{b} {a} {c} {");
        assert_eq!(escape("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
    }
}
