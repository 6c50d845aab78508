//! Tools by address: `GET /books/{id}` instead of a name. A mount's table is made once and looked up in constant time.

use std::collections::HashMap;

use crate::model::fault::Fault;
use crate::model::incoming::{Verb, VerbSet};
use crate::model::tool::Tool;

/// The variable of a path. It is always the second segment, so that a lookup needs no search.
pub const ID: &str = "{id}";

/// The verb and the path, below the mount's prefix, that call a tool.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    pub verb: Verb,
    pub path: &'static str,
    /// The argument that the variable of the path fills.
    pub variable: &'static str,
    pub body: RouteBody,
    /// The status of a success, if it is not the ordinary one.
    pub success: Option<u16>,
}

/// What the body of a request to a route is.
#[derive(Debug, Clone, Copy)]
pub enum RouteBody {
    /// A JSON object with the arguments.
    Arguments,
    /// That, or the text of one argument by itself under one of these media types.
    Text { argument: &'static str, media_types: &'static [&'static str], decode: fn(&[u8]) -> Result<String, Fault> },
}

impl Route {
    pub const fn new(verb: Verb, path: &'static str) -> Route {
        Route { verb, path, variable: "id", body: RouteBody::Arguments, success: None }
    }
}

/// A request to a route, apart from what every request has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteRequest {
    /// The whole path, and how much of it is the mount's prefix.
    pub path: String,
    pub prefix_length: usize,
    pub query: Option<String>,
    /// `If-Match` and `If-None-Match` as received.
    pub if_match: Option<String>,
    pub if_none_match: Option<String>,
    /// The media type of the body in lower case, without parameters. None if there is none, or the body is compressed.
    pub media_type: Option<String>,
}

impl RouteRequest {
    /// The path below the prefix.
    pub fn relative_path(&self) -> &str {
        self.path.get(self.prefix_length..).unwrap_or_default()
    }
}

/// The tools of a contract by path and verb.
#[derive(Debug, Default)]
pub struct RouteTable(HashMap<&'static str, Vec<(Verb, usize)>>);

/// What a path and a verb name.
#[derive(Debug, PartialEq, Eq)]
pub enum RouteMatch<'p> {
    /// The index of a tool, and the id in the path.
    Tool {
        index: usize,
        id: Option<&'p str>,
    },
    /// The path exists under other verbs only.
    OtherVerbs(VerbSet),
    None,
}

impl RouteTable {
    pub fn new(tools: &[Tool]) -> RouteTable {
        let mut table: HashMap<&'static str, Vec<(Verb, usize)>> = HashMap::new();
        for (index, tool) in tools.iter().enumerate() {
            if let Some(route) = tool.spec.route {
                table.entry(route.path).or_default().push((route.verb, index));
            }
        }
        RouteTable(table)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A path that is written out comes before one with a variable: `/books/search` is no id.
    pub fn find<'p>(&self, verb: Verb, path: &'p str) -> RouteMatch<'p> {
        if let Some(verbs) = self.0.get(path) {
            return by_verb(verbs, verb, None);
        }
        let mut segments = path.splitn(4, '/');
        let (Some(""), Some(collection), Some(id)) = (segments.next(), segments.next(), segments.next()) else {
            return RouteMatch::None;
        };
        let pattern = match segments.next() {
            Some(rest) => format!("/{collection}/{ID}/{rest}"),
            None => format!("/{collection}/{ID}"),
        };
        match self.0.get(pattern.as_str()) {
            Some(verbs) if !id.is_empty() => by_verb(verbs, verb, Some(id)),
            Some(_) | None => RouteMatch::None,
        }
    }
}

fn by_verb<'p>(verbs: &[(Verb, usize)], verb: Verb, id: Option<&'p str>) -> RouteMatch<'p> {
    // HEAD is GET without the body, which the transport leaves out.
    let wanted = if verb == Verb::Head { Verb::Get } else { verb };
    match verbs.iter().find(|(known, _)| *known == wanted) {
        Some((_, index)) => RouteMatch::Tool { index: *index, id },
        None => {
            let all = verbs.iter().fold(VerbSet::default(), |all, (known, _)| all.with(*known));
            RouteMatch::OtherVerbs(if all.contains(Verb::Get) { all.with(Verb::Head) } else { all })
        }
    }
}
