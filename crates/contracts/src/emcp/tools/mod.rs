//! The fourteen tools, in the order in which the original lists them, and what those of the content family share: rows
//! are chosen by one function each, and everything else happens here once.

mod beside;
mod content;
mod models;
mod search;
mod tree;

use frontdesk_engine::Scope;
use frontdesk_engine::model::schema::{Field, Schema};
use frontdesk_engine::model::tool::{Effect, RateKey, ReadTool, Run, Tool, ToolSpec};
use std::sync::Arc;

use super::{Limits, scopes};

pub(super) fn all(limits: Limits) -> Vec<Tool> {
    vec![
        search::search(limits),
        content::get(limits),
        tree::root_tree(limits),
        tree::descendants(limits),
        tree::ancestors(limits),
        tree::children(limits),
        beside::siblings(limits),
        beside::neighbors(limits),
        beside::prev_siblings(limits),
        beside::next_siblings(limits),
        tree::children_range(limits),
        beside::siblings_range(limits),
        models::list(limits),
        models::get(limits),
    ]
}

/// What a tool is called, in words for people and models.
struct Words {
    name: &'static str,
    title: &'static str,
    about: &'static str,
}

/// A tool that reads the site.
fn reading(words: Words, input: Vec<Field>, output: Schema, run: Arc<dyn ReadTool>) -> Tool {
    Tool {
        spec: ToolSpec {
            name: words.name,
            title: words.title,
            about: words.about,
            input: Schema::Object(input),
            output,
            effect: Effect::Reads,
            scope: Scope::new(scopes::CALL),
            unmask_scope: None,
            rate: RateKey::Client,
            codes: &[],
        },
        run: Run::Read(run),
    }
}
