//! How each MCP client is connected to this installation: one value per client, with what to paste and what to know. The
//! command `frontdesk connect`, the page at `/`, the demo's output and `docs/guides/clients.md` are made from these; no other
//! place has such a text. A secret never stands in them, only the name of the variable that holds it.

mod guide;
mod installation;
mod render;

pub use guide::guide;
pub use installation::{Installation, NetworkReach, StdioArguments};
pub(crate) use render::html;
pub use render::{notes, paste, shell_quoted};

/// One MCP client.
pub struct ConnectClient {
    /// As `frontdesk connect` takes it.
    pub name: &'static str,
    pub title: &'static str,
    /// The language of what is pasted, for the guide.
    pub language: &'static str,
    pub login: LoginKind,
    /// What to paste, with places for the values of an installation. A line with a place for the CA file is left out where
    /// there is none.
    template: &'static str,
    /// Where it goes, or how it is run.
    place: &'static str,
    /// Sentences, with the same places.
    notes: &'static [&'static str],
}

/// How a client gets its access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginKind {
    /// A person logs in with the browser and allows what the client may do.
    Browser,
    /// A program has a client id and a secret.
    Secret,
}

impl LoginKind {
    pub fn describe(self) -> &'static str {
        match self {
            LoginKind::Browser => "browser login",
            LoginKind::Secret => "client id and secret",
        }
    }
}

const SECRET: &str = "Set FRONTDESK_CLIENT_SECRET first, as `frontdesk client add` printed it. For a new one: frontdesk client \
                      rotate {client_id}{data_flag}";

/// Every client, in the order in which they are shown.
pub const CLIENTS: &[ConnectClient] = &[
    ConnectClient {
        name: "claude-code",
        title: "Claude Code",
        language: "sh",
        login: LoginKind::Browser,
        template: include_str!("claude_code.sh"),
        place: "Paste into a terminal.",
        notes: &[
            "Then start `claude`, enter /mcp, choose {name} and log in; the browser asks which business and what Claude may \
             do.",
            "NODE_EXTRA_CA_CERTS must be set whenever Claude Code starts, such as in your shell's profile.{if_ca}",
            "Without a browser: add --header \"Authorization: Bearer TOKEN\" with a token from `frontdesk token issue`.",
        ],
    },
    ConnectClient {
        name: "claude-desktop",
        title: "Claude Desktop",
        language: "json",
        login: LoginKind::Secret,
        template: include_str!("claude_desktop.json"),
        place: "Settings > Developer > Edit Config opens the file (claude_desktop_config.json); paste, save, and restart \
                Claude Desktop.",
        notes: &[
            "It starts `frontdesk stdio` on this machine, which a running server answers; without one it opens the data \
             itself.",
            "{secret_note}",
            "A server with a public https URL can be added without a file: Customize > Connectors > Add custom connector, \
             with {url}. Claude's own servers make that connection, so they must be able to reach it.",
        ],
    },
    ConnectClient {
        name: "cursor",
        title: "Cursor",
        language: "json",
        login: LoginKind::Browser,
        template: include_str!("cursor.json"),
        place: "Save as .cursor/mcp.json in a project, or as ~/.cursor/mcp.json for all of them.",
        notes: &[
            "Turn it on under MCP in Cursor's settings and log in; the browser asks which business and what Cursor may do.",
            "The certificate is from this installation's own CA: start Cursor with NODE_EXTRA_CA_CERTS={ca_shell} cursor, \
             or let the system trust the file.",
            "Cursor ignores headers for a server with a login. Without a browser use what `frontdesk connect \
             claude-desktop` prints; Cursor reads the same form.",
        ],
    },
    ConnectClient {
        name: "vscode",
        title: "VS Code",
        language: "json",
        login: LoginKind::Browser,
        template: include_str!("vscode.json"),
        place: "Save as .vscode/mcp.json in a project, or paste with the command `MCP: Open User Configuration`.",
        notes: &[
            "Start the server above its entry and allow the login; the browser asks which business and what VS Code may do.",
            "Or in one line: code --add-mcp '{\"name\":\"{name}\",\"type\":\"http\",\"url\":\"{url}\"}'",
            "The certificate is from this installation's own CA: start VS Code with NODE_EXTRA_CA_CERTS={ca_shell} code, \
             or let the system trust the file.",
        ],
    },
    ConnectClient {
        name: "chatgpt",
        title: "ChatGPT",
        language: "text",
        login: LoginKind::Browser,
        template: include_str!("chatgpt.txt"),
        place: "Settings > Apps > Advanced settings: turn on Developer mode. Then Create app, paste this as the MCP server \
                URL and choose OAuth.",
        notes: &[
            "ChatGPT connects from its own servers: it needs a public https URL and a certificate that everybody trusts.",
            "{reach_note}",
        ],
    },
    ConnectClient {
        name: "inspector",
        title: "MCP Inspector",
        language: "sh",
        login: LoginKind::Secret,
        template: include_str!("inspector.sh"),
        place: "Paste into a terminal; it needs Node 22.",
        notes: &[
            SECRET,
            "With a browser login instead: npx -y @modelcontextprotocol/inspector, transport Streamable HTTP, URL {url}, \
             and Connect.",
        ],
    },
    ConnectClient {
        name: "python",
        title: "Python",
        language: "python",
        login: LoginKind::Secret,
        template: include_str!("python.py"),
        place: "Save as agent.py and run: pip install 'mcp>=2' && python3 agent.py",
        notes: &[SECRET],
    },
    ConnectClient {
        name: "typescript",
        title: "TypeScript, SDK version 2",
        language: "js",
        login: LoginKind::Secret,
        template: include_str!("typescript.mjs"),
        place: "Save as agent.mjs and run: npm install @modelcontextprotocol/client && {ca_variable}node agent.mjs",
        notes: &[SECRET],
    },
    ConnectClient {
        name: "typescript-v1",
        title: "TypeScript, SDK version 1",
        language: "js",
        login: LoginKind::Secret,
        template: include_str!("typescript_v1.mjs"),
        place: "Save as agent.mjs and run: npm install @modelcontextprotocol/sdk && {ca_variable}node agent.mjs",
        notes: &[SECRET],
    },
    ConnectClient {
        name: "curl",
        title: "curl",
        language: "sh",
        login: LoginKind::Secret,
        template: include_str!("curl.sh"),
        place: "Paste into a terminal.",
        notes: &[SECRET, "The token lasts for a few minutes; the same lines get another one."],
    },
];

/// The client of this name.
pub fn find(name: &str) -> Option<&'static ConnectClient> {
    CLIENTS.iter().find(|client| client.name == name)
}
