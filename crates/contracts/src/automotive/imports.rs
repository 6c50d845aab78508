//! The tools of imports. They belong to no domain of the specification, so their names begin with `x_frontdesk`.

use frontdesk_engine::import::{ImportSpec, ImportToolTexts, import_tools};
use frontdesk_engine::model::tool::Tool;
use frontdesk_engine::{Code, Fault, FaultKind};

use super::codes::CodeSpec;
use super::resource::{IMPORT_TOOL, key, list_schema, paging, tenant};

pub(super) const GET_IMPORT: &str = "x_frontdesk.get_import";

pub(super) const NOT_FOUND: CodeSpec = CodeSpec {
    code: Code("x_frontdesk.import_not_found"),
    means: "No import with this id exists for this caller.",
    next: "Find it with `x_frontdesk.list_imports`.",
};

pub(super) fn tools(imports: &[ImportSpec]) -> Vec<Tool> {
    import_tools(
        imports,
        ImportToolTexts {
            submit: (
                IMPORT_TOOL,
                "Import records",
                "Accepts many records at once: each row adds the record it is about, or changes what it says otherwise. \
                 Every row is checked before the first is applied. Answers at once; x_frontdesk.get_import tells how \
                 far it is. Needs the :write scope of the rows' domain.",
            ),
            get: (GET_IMPORT, "Get an import", "Tells how far an import is and which rows were wrong."),
            list: ("x_frontdesk.list_imports", "List imports", "Lists imports, newest first, page by page."),
            not_found: NOT_FOUND.code,
            decode,
            tenant: tenant(),
            key: key(),
            page: paging(),
            page_of: list_schema,
        },
    )
}

fn decode(feed: &[u8]) -> Result<String, Fault> {
    String::from_utf8(feed.to_vec()).map_err(|_| Fault::new(FaultKind::Malformed, "The feed is not valid UTF-8."))
}
