//! The text of a client for an installation. Every value is quoted for where it stands.

use serde_json::Value;

use super::{ConnectClient, Installation, LoginKind, NetworkReach, SECRET};

/// What to paste, exactly.
pub fn paste(client: &ConnectClient, installation: &Installation) -> String {
    let mut lines: Vec<String> = client.template.lines().map(str::to_owned).collect();
    if installation.ca_file.is_none() {
        lines = without_ca(lines);
    }
    let mut text = filled(&lines.join("\n"), installation);
    text.push('\n');
    text
}

/// Where it goes, and what to know.
pub fn notes(client: &ConnectClient, installation: &Installation) -> Vec<String> {
    let secret_note = match client.login {
        LoginKind::Secret => SECRET.replace("Set FRONTDESK_CLIENT_SECRET first", "Put the secret in"),
        LoginKind::Browser => String::new(),
    };
    let reach_note = match installation.reach {
        NetworkReach::Public => "The browser then asks which business and what ChatGPT may do.",
        NetworkReach::Local => {
            "This installation is not reachable like that: set `public_url` and a certificate first; see \
             docs/guides/production.md."
        }
    };
    let sentences = [client.place].into_iter().chain(client.notes.iter().copied());
    sentences
        .map(|sentence| sentence.replace("{secret_note}", &secret_note).replace("{reach_note}", reach_note))
        .filter(|sentence| installation.ca_file.is_some() || !needs_ca(sentence))
        .map(|sentence| filled(&sentence, installation))
        .collect()
}

/// The same for the page at `/`, as a part that can be opened.
pub(crate) fn html(client: &ConnectClient, installation: &Installation, escape: fn(&str) -> String) -> String {
    let notes: Vec<String> =
        notes(client, installation).iter().map(|note| format!("<li>{}</li>", with_code(&escape(note)))).collect();
    format!(
        "<details><summary>{} <small>{}</small></summary>\n<pre>{}</pre>\n<ul>{}</ul></details>\n",
        escape(client.title),
        client.login.describe(),
        escape(paste(client, installation).trim_end()),
        notes.concat()
    )
}

/// What stands between backticks, as code.
fn with_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

/// A place for the CA file in a sentence or a line; an optional prefix is not one.
fn needs_ca(text: &str) -> bool {
    text.contains("{ca_shell}") || text.contains("{ca_json}") || text.contains("{if_ca}")
}

/// Commands go over several lines: the option alone is left out, a line that is about nothing else as a whole.
fn without_ca(lines: Vec<String>) -> Vec<String> {
    let kept = lines.into_iter().map(|line| line.replace(" --cacert {ca_shell}", ""));
    kept.filter(|line| !needs_ca(line)).collect()
}

fn filled(text: &str, installation: &Installation) -> String {
    let Installation { name, url, public_url, ca_file, client_id, scopes, program, stdio, .. } = installation;
    let ca_file = ca_file.as_deref().unwrap_or_default();
    let scopes = scopes.join(" ");
    let ca_variable = match ca_file {
        "" => String::new(),
        file => format!("NODE_EXTRA_CA_CERTS={} ", shell_quoted(file)),
    };
    let mut arguments = vec!["stdio", stdio.flag, &stdio.path];
    if let Some(contract) = &stdio.contract {
        arguments.extend(["--contract", contract]);
    }
    let arguments: Vec<String> = arguments.into_iter().map(json).collect();
    text.replace("{if_ca}", "")
        .replace("{name}", name)
        .replace("{token_url}", &format!("{public_url}/token"))
        .replace("{issuer}", public_url)
        .replace("{url}", url)
        .replace("{ca_variable}", &ca_variable)
        .replace("{ca_shell}", &shell_quoted(ca_file))
        .replace("{ca_json}", &json(ca_file))
        .replace("{client_id}", client_id)
        .replace("{client_secret}", "YOUR_SECRET")
        .replace("{scope_shell}", &shell_quoted(&format!("scope={scopes}")))
        .replace("{scopes}", &scopes)
        .replace("{program_json}", &json(program))
        .replace("{stdio_json}", &arguments.join(", "))
        .replace("{data_flag}", &format!(" {} {}", stdio.flag, shell_quoted(&stdio.path)))
}

/// A string of JSON is one of Python and JavaScript, too.
fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// Quoted for a shell, whatever characters a path has.
pub fn shell_quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
