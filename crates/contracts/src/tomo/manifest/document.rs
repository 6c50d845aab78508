//! A manifest as YAML and as JSON. Every text is quoted, because YAML reads many a bare word as something else (`no`,
//! `24x7`, a pincode); this writes the few forms that a manifest has and is no YAML library.

use std::fmt::Write as _;

/// Which language a manifest is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestFormat {
    Yaml,
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Text(String),
    Integer(u64),
    Decimal(f64),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub(super) fn text(text: &str) -> Node {
        Node::Text(text.to_owned())
    }
}

/// A manifest, with its members in the order of the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestDocument(Node);

impl ManifestDocument {
    pub(super) fn new(members: Vec<(&str, Node)>) -> ManifestDocument {
        ManifestDocument(Node::Map(members.into_iter().map(|(name, node)| (name.to_owned(), node)).collect()))
    }

    /// The text of the file, with a line feed at its end.
    pub fn render(&self, format: ManifestFormat) -> String {
        let mut out = String::new();
        match format {
            ManifestFormat::Yaml => write_yaml(&self.0, 0, &mut out),
            ManifestFormat::Json => {
                write_json(&self.0, 0, &mut out);
                out.push('\n');
            }
        }
        out
    }
}

/// A block at this depth; each of its lines ends with a line feed.
fn write_yaml(node: &Node, depth: usize, out: &mut String) {
    match node {
        Node::Map(members) => {
            for (name, value) in members {
                let _ = write!(out, "{}{name}:", "  ".repeat(depth));
                write_value(value, depth + 1, out);
            }
        }
        Node::List(items) => {
            for item in items {
                let mut block = String::new();
                match item {
                    Node::Map(members) if !members.is_empty() => write_yaml(item, depth + 1, &mut block),
                    Node::Map(_) | Node::List(_) | Node::Text(_) | Node::Integer(_) | Node::Decimal(_) => {
                        write_value(item, depth + 1, &mut block);
                    }
                }
                let _ = write!(out, "{}- {}", "  ".repeat(depth), block.trim_start());
            }
        }
        Node::Text(_) | Node::Integer(_) | Node::Decimal(_) => write_value(node, depth, out),
    }
}

/// What stands behind a name: a scalar on the same line, or a block below it.
fn write_value(node: &Node, depth: usize, out: &mut String) {
    let is_empty = match node {
        Node::Map(members) => members.is_empty(),
        Node::List(items) => items.is_empty(),
        Node::Text(_) | Node::Integer(_) | Node::Decimal(_) => true,
    };
    if is_empty {
        out.push(' ');
        write_json(node, depth, out);
        out.push('\n');
    } else {
        out.push('\n');
        write_yaml(node, depth, out);
    }
}

/// JSON, which is also YAML.
fn write_json(node: &Node, depth: usize, out: &mut String) {
    let (close, open) = ("  ".repeat(depth), "  ".repeat(depth + 1));
    match node {
        Node::Text(text) => write_text(text, out),
        Node::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        // Never with an exponent, which YAML would read as a text.
        Node::Decimal(number) if number.fract() == 0.0 => {
            let _ = write!(out, "{number:.1}");
        }
        Node::Decimal(number) => {
            let _ = write!(out, "{number}");
        }
        Node::List(items) if items.is_empty() => out.push_str("[]"),
        Node::Map(members) if members.is_empty() => out.push_str("{}"),
        Node::List(items) => {
            for (at, item) in items.iter().enumerate() {
                let _ = write!(out, "{}\n{open}", if at == 0 { "[" } else { "," });
                write_json(item, depth + 1, out);
            }
            let _ = write!(out, "\n{close}]");
        }
        Node::Map(members) => {
            for (at, (name, value)) in members.iter().enumerate() {
                let _ = write!(out, "{}\n{open}", if at == 0 { "{" } else { "," });
                write_text(name, out);
                out.push_str(": ");
                write_json(value, depth + 1, out);
            }
            let _ = write!(out, "\n{close}}}");
        }
    }
}

/// In double quotes, with the escapes that JSON and YAML share. What YAML cannot have in a text is escaped, too.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            _ if letter.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::{ManifestDocument, ManifestFormat, Node};

    #[test]
    fn texts_are_quoted_and_blocks_are_indented() {
        let place = Node::Map(vec![
            ("pin".to_owned(), Node::text("560001")),
            ("rated".to_owned(), Node::Map(vec![("time".to_owned(), Node::Decimal(1.0))])),
            ("open".to_owned(), Node::List(vec![Node::text("no"), Node::Integer(7)])),
        ]);
        let document = ManifestDocument::new(vec![
            ("name", Node::text("a: \"b\" \\ \u{1}\u{85}\u{2028} # दिल्ली")),
            ("small", Node::Decimal(0.000_001)),
            ("none", Node::List(Vec::new())),
            ("places", Node::List(vec![place.clone(), place])),
        ]);
        let yaml = document.render(ManifestFormat::Yaml);
        assert_eq!(
            yaml,
            "name: \"a: \\\"b\\\" \\\\ \\u0001\\u0085\\u2028 # दिल्ली\"\nsmall: 0.000001\nnone: []\nplaces:\n  \
             - pin: \"560001\"\n    rated:\n      time: 1.0\n    open:\n      - \"no\"\n      - 7\n  \
             - pin: \"560001\"\n    rated:\n      time: 1.0\n    open:\n      - \"no\"\n      - 7\n"
        );
        let json: serde_json::Value = serde_json::from_str(&document.render(ManifestFormat::Json)).unwrap();
        assert_eq!(json["name"], "a: \"b\" \\ \u{1}\u{85}\u{2028} # दिल्ली");
        assert_eq!(json["places"][1]["open"], serde_json::json!(["no", 7]));
    }
}
