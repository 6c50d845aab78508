//! The tree: from the root, ancestors, descendants, siblings.

use serde_json::{Value, json};

use crate::support::TestDesk;

#[tokio::test]
async fn e_23_e_24_e_25_three_databases_have_the_same_tree() {
    let desk = TestDesk::on_three().await;
    top(&desk).await;
    lines(&desk).await;
    beside(&desk).await;
    strangers(&desk).await;
    bin(&desk).await;
    hang_together(&desk).await;
}

#[tokio::test]
async fn e_23_the_tree_from_the_top_is_flat_and_by_id() {
    top(&TestDesk::on_sqlite().await).await;
}

async fn top(desk: &TestDesk) {
    let ids = async |arguments: Value| desk.ids("evo.content.root_tree", arguments).await;
    let flat = ids(json!({})).await;
    assert_eq!(flat.len(), 28);
    assert_eq!(flat[..10], [1, 2, 3, 4, 5, 6, 7, 8, 29, 50]);
    assert_eq!(ids(json!({"depth": 1})).await, flat);
    assert_eq!(ids(json!({"depth": 2})).await.len(), 62);
    assert_eq!(ids(json!({"limit": 2, "offset": 8})).await, [29, 50]);
}

#[tokio::test]
async fn e_24_descendants_ancestors_and_children() {
    lines(&TestDesk::on_sqlite().await).await;
}

async fn lines(desk: &TestDesk) {
    let ids = async |tool: &str, arguments: Value| desk.ids(&format!("evo.content.{tool}"), arguments).await;
    assert_eq!(ids("descendants", json!({"id": 2})).await, [8, 29, 50, 71, 92, 113]);
    assert_eq!(ids("descendants", json!({"id": 2, "depth": 2})).await.len(), 18);
    let by_parent = ids("descendants", json!({"id": 8, "depth": 2, "limit": 4})).await;
    assert_eq!(by_parent, [9, 19, 10, 11], "by parent and then in menu order, which is not the order of the tree");
    assert_eq!(ids("ancestors", json!({"id": 247})).await, [4, 239, 240, 241, 242, 243, 244, 245, 246]);
    assert_eq!(ids("ancestors", json!({"id": 247, "limit": 2})).await, [4, 239]);
    assert_eq!(ids("ancestors", json!({"id": 247, "depth": 2})).await, [245, 246]);
    assert_eq!(ids("ancestors", json!({"id": 2})).await, [0; 0]);
    assert_eq!(ids("children", json!({"id": 248})).await, [249, 250, 251, 252, 253, 254]);
    assert_eq!(
        ids("children", json!({"id": 248, "depth": 9, "offset": 4})).await,
        [253, 254],
        "depth is no argument here"
    );
    let shown = desk.call_ok("evo.content.ancestors", json!({"id": 10, "limit": 9, "with_tvs": ["side-bar:d"]})).await;
    let shown: Vec<&Value> = shown["items"].as_array().unwrap().iter().map(|item| &item["tvs"]["side-bar"]).collect();
    assert_eq!(shown, ["right", "left", "left"]);
}

#[tokio::test]
async fn e_25_siblings_are_ordered_by_menuindex() {
    beside(&TestDesk::on_sqlite().await).await;
}

/// 249 to 254 have the menuindex 0, 1, 1, 5, 9 and 9.
async fn beside(desk: &TestDesk) {
    for (tool, arguments, wanted) in [
        ("siblings", json!({"id": 250}), "249 251 252 253 254"),
        ("siblings", json!({"id": 1}), "2 3 4 5 6 7 248"),
        ("neighbors", json!({"id": 249}), "250 251"),
        ("neighbors", json!({"id": 250}), "249"),
        ("neighbors", json!({"id": 252}), ""),
        ("prev_siblings", json!({"id": 252}), "251 250 249"),
        ("prev_siblings", json!({"id": 252, "limit": 1}), "251"),
        ("prev_siblings", json!({"id": 249}), ""),
        ("next_siblings", json!({"id": 250}), "252 253 254"),
        ("next_siblings", json!({"id": 253}), ""),
        ("children_range", json!({"id": 248, "from": 1, "to": 5}), "250 251 252"),
        ("children_range", json!({"id": 248, "from": 5}), "252 253 254"),
        ("children_range", json!({"id": 248, "from": 2, "to": 2}), ""),
        ("siblings_range", json!({"id": 250, "from": 0, "to": 1}), "249 251"),
        ("siblings_range", json!({"id": 250, "from": 9, "offset": 1}), "254"),
    ] {
        let found = desk.ids(&format!("evo.content.{tool}"), arguments.clone()).await;
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.join(" "), wanted, "{tool} {arguments}");
    }
    for tool in ["evo.content.children_range", "evo.content.siblings_range"] {
        assert_eq!(
            desk.error(tool, json!({"id": 1, "from": 5, "to": 2, "limit": 5})).await,
            "-32602 The argument at /to is not valid: it must be greater than or equal to from."
        );
    }
}

#[tokio::test]
async fn e_25_an_unknown_or_deleted_page_has_no_siblings() {
    strangers(&TestDesk::on_sqlite().await).await;
}

async fn strangers(desk: &TestDesk) {
    for tool in ["siblings", "neighbors", "prev_siblings", "next_siblings", "siblings_range"] {
        for id in [255, 256, 257, 99_999, 4_294_967_295_i64] {
            let asked = if tool.ends_with("range") { json!({"id": id, "from": 0}) } else { json!({"id": id}) };
            let found = desk.ids(&format!("evo.content.{tool}"), asked).await;
            assert_eq!(found, [0; 0], "{tool} {id}");
        }
    }
    let range = json!({"id": 99_999, "from": 0});
    assert_eq!(desk.ids("evo.content.children_range", range).await, [0; 0]);
    for tool in ["descendants", "ancestors", "children"] {
        assert_eq!(desk.ids(&format!("evo.content.{tool}"), json!({"id": 99_999})).await, [0; 0], "{tool}");
    }
}

#[tokio::test]
async fn e_22_e_26_a_deleted_page_hides_only_itself() {
    bin(&TestDesk::on_sqlite().await).await;
}

async fn bin(desk: &TestDesk) {
    assert_eq!(desk.search(json!({"deleted": true})).await, [255, 256, 257]);
    assert_eq!(desk.search(json!({"deleted": true, "parent": 5, "template": 3})).await, [257]);
    assert_eq!(desk.search(json!({"parent": 5})).await, [258, 259, 260]);
    assert_eq!(desk.ids("evo.content.children", json!({"id": 5})).await, [259, 260]);
    assert_eq!(desk.ids("evo.content.children", json!({"id": 257})).await, [258]);
    assert_eq!(desk.ids("evo.content.children_range", json!({"id": 257, "from": 0})).await, [258]);
    assert_eq!(desk.ids("evo.content.descendants", json!({"id": 5, "depth": 2})).await, [259, 260, 258]);
    assert_eq!(desk.ids("evo.content.ancestors", json!({"id": 258})).await, [5]);
    let gone = r#"{"item":null,"meta":{"toolsetVersion":"1.0"}}"#;
    for id in [255, 256, 257, 99_999] {
        assert_eq!(desk.text("evo.content.get", json!({"id": id})).await, gone);
        assert_eq!(desk.text("evo.content.get", json!({"id": id, "with_tvs": ["price:d"]})).await, gone);
    }
}

/// The invariants of the original's own tests.
#[tokio::test]
async fn e_24_the_tree_tools_are_consistent() {
    hang_together(&TestDesk::on_sqlite().await).await;
}

async fn hang_together(desk: &TestDesk) {
    let tree = desk.call_ok("evo.content.root_tree", json!({"depth": 4, "limit": 100})).await;
    for page in tree["items"].as_array().unwrap().iter().filter(|page| page["parent"] != json!(0)).step_by(9) {
        let (id, parent) = (page["id"].as_i64().unwrap(), page["parent"].as_i64().unwrap());
        assert_ne!(id, parent);
        let above = desk.ids("evo.content.ancestors", json!({"id": id})).await;
        assert!(!above.contains(&id));
        let beside = desk.ids("evo.content.children", json!({"id": parent})).await;
        assert!(beside.contains(&id));
        let below = desk.ids("evo.content.descendants", json!({"id": above[0], "depth": 6, "limit": 100})).await;
        assert!(below.len() == 100 || below.contains(&id), "{id} below {}", above[0]);
        let mut siblings = desk.ids("evo.content.siblings", json!({"id": id})).await;
        assert!(!siblings.contains(&id));
        siblings.push(id);
        siblings.sort_unstable();
        let mut sorted = beside.clone();
        sorted.sort_unstable();
        assert_eq!(siblings, sorted);
    }
}
