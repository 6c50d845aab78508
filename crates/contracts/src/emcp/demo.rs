//! What the demo needs to know about its site.

use frontdesk_engine::{Scope, Scopes};

use super::{ID, scopes};
use crate::ENTRIES;
use crate::demo::{DemoSite, ExampleCall};

pub(crate) fn site() -> Option<DemoSite> {
    Some(DemoSite {
        entry: ENTRIES.iter().find(|entry| entry.name == ID)?,
        business: "Harbour Lane Pottery",
        scopes: Scopes::new([scopes::READ, scopes::CALL].map(Scope::new)),
        example: ExampleCall {
            tool: "evo.content.search",
            arguments: r#"{"parent":2,"with_tvs":["price","glaze:d"],"tv_filters":[{"tv":"price","op":"<","value":"25","cast":"DECIMAL(6,2)"}],"limit":3}"#,
        },
    })
}
