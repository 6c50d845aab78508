//! The fourteen tools, in the order in which the original lists them. A content tool only chooses its rows; `content`
//! does the rest for all of them.

mod content;
mod models;
mod search;
mod siblings;
mod tree;

use frontdesk_engine::Scope;
use frontdesk_engine::model::contract_entry::QueryLimits;
use frontdesk_engine::model::schema::{Field, Schema};
use frontdesk_engine::model::tool::{Effect, RateKey, ReadTool, Run, ScopeRule, Sensitivity, Tool, ToolSpec};
use std::sync::Arc;

use super::scopes;

pub(super) fn all(limits: QueryLimits) -> Vec<Tool> {
    vec![
        search::search(limits),
        content::get(limits),
        tree::root_tree(limits),
        tree::descendants(limits),
        tree::ancestors(limits),
        tree::children(limits),
        siblings::siblings(limits),
        siblings::neighbors(limits),
        siblings::prev_siblings(limits),
        siblings::next_siblings(limits),
        tree::children_range(limits),
        siblings::siblings_range(limits),
        models::list(limits),
        models::get(limits),
    ]
}

/// The name of a tool and its texts for people and language models.
struct ToolDescription {
    name: &'static str,
    title: &'static str,
    about: &'static str,
}

/// A tool that reads the site.
fn read_tool(description: ToolDescription, input: Vec<Field>, output: Schema, run: Arc<dyn ReadTool>) -> Tool {
    Tool {
        spec: ToolSpec {
            name: description.name,
            title: description.title,
            about: description.about,
            input: Schema::Object(input),
            output,
            effect: Effect::Reads,
            scope: ScopeRule::One(Scope::new(scopes::CALL)),
            unmask_scope: None,
            rate: RateKey::Client,
            sensitivity: Sensitivity::Personal,
            max_login_age: None,
            route: None,
            codes: Vec::new(),
        },
        run: Run::Read(run),
    }
}
