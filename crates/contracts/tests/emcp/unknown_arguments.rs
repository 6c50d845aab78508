//! An unknown argument is refused. The original ignores it, and then answers with the first pages of the site.

use serde_json::json;

use crate::support::TestDesk;

#[tokio::test]
async fn an_unknown_argument_is_answered_with_the_nearest_one() {
    let desk = TestDesk::on_sqlite().await;
    let known = "-32602 The arguments are not valid: only these are known: parent, published, deleted, template, hidemenu, \
                 depth, tv_filters, tv_order, tags_data, order_by, order_dir, order_by_date, with_tvs, limit, offset";
    for (arguments, guess) in [
        (json!({"limit": 2, "query": "canary"}), "."),
        (json!({"limit": 2, "tv_filter": []}), "; did you mean tv_filters?"),
        (json!({"limit": 2, "LIMIT": 9}), "."),
        (json!({"limit": 2, "id": 7}), "."),
    ] {
        let error = desk.error("evo.content.search", arguments.clone()).await;
        assert_eq!(error, format!("{known}{guess}"), "{arguments}");
    }
    assert_eq!(
        desk.error("evo.content.get", json!({"id": 1, "depth": 1})).await,
        "-32602 The arguments are not valid: only these are known: id, with_tvs."
    );
    assert_eq!(
        desk.error("evo.content.search", json!({"limitt": 2})).await,
        "-32602 The arguments are not valid. /limit: it is required. Unknown name: only these are known: parent, published, deleted, template, hidemenu, depth, tv_filters, tv_order, tags_data, order_by, order_dir, order_by_date, with_tvs, limit, offset; did you mean limit?"
    );
}

#[tokio::test]
async fn e_24_depth_is_accepted_beside_and_directly_below_a_page() {
    let desk = TestDesk::on_sqlite().await;
    for tool in
        ["children", "siblings", "neighbors", "prev_siblings", "next_siblings", "children_range", "siblings_range"]
    {
        let name = format!("evo.content.{tool}");
        let mut asked = if tool.ends_with("range") { json!({"id": 248, "from": 0}) } else { json!({"id": 248}) };
        let plain = desk.ids(&name, asked.clone()).await;
        // It means nothing there, so it is not checked either.
        for depth in [json!(1), json!(99), json!("x")] {
            asked["depth"] = depth;
            assert_eq!(desk.ids(&name, asked.clone()).await, plain, "{tool}");
        }
    }
}

#[tokio::test]
async fn null_is_absent_whatever_its_name() {
    let desk = TestDesk::on_sqlite().await;
    assert_eq!(desk.search(json!({"limit": 2, "anything": null})).await, [1, 2]);
}

#[tokio::test]
async fn a_missing_model_is_answered_with_all_of_them() {
    let desk = TestDesk::on_sqlite().await;
    assert_eq!(
        desk.error("evo.model.list", json!({"limit": 1})).await,
        "-32602 The argument at /model is not valid: it is required, as one of these: SiteTemplate, SiteTmplvar, \
         SiteTmplvarContentvalue, SiteSnippet, SitePlugin, SiteModule, Category, User, UserAttribute, UserRole, \
         Permissions, PermissionsGroups, RolePermissions."
    );
}

#[tokio::test]
async fn a_misspelt_tool_is_answered_with_the_nearest_one() {
    let desk = TestDesk::on_sqlite().await;
    for name in ["evo.content.serach", "evo_content_search", "content.search"] {
        assert_eq!(
            desk.error(name, json!({})).await,
            "-32601 There is no tool of this name; did you mean evo.content.search? `tools/list` names those there are."
        );
    }
}
