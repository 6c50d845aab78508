//! Records of the thirteen models.

use frontdesk_contracts::emcp::model;
use serde_json::{Value, json};

use crate::support::TestDesk;

#[tokio::test]
async fn e_30_e_32_e_33_e_34_three_databases_have_the_same_records() {
    let desk = TestDesk::on_three().await;
    records(&desk).await;
    absent_columns(&desk).await;
    filters(&desk).await;
    orders(&desk).await;
    for model in model::NAMES {
        desk.text("evo.model.list", json!({"model": model, "limit": 100})).await;
    }
}

#[tokio::test]
async fn e_30_records_of_each_model_by_list_and_by_id() {
    records(&TestDesk::on_sqlite().await).await;
}

async fn records(desk: &TestDesk) {
    for (model, wanted) in [
        (
            "SiteTemplate",
            r#"{"id":4,"templatename":"Product","description":"Product template","editor_type":0,"icon":"","category":1,"locked":0}"#,
        ),
        (
            "SiteTmplvar",
            r#"{"id":4,"name":"color","caption":"Color","description":"Color TV","type":"dropdown","default_text":"red","display":"","elements":"Red==red||Green==green||Blue==blue||Black==black","rank":3,"category":1,"locked":0}"#,
        ),
        ("SiteTmplvarContentvalue", r#"{"id":4,"contentid":10,"tmplvarid":3,"value":"SKU-010101"}"#),
        (
            "SiteSnippet",
            r#"{"id":4,"name":"Thumbs","description":"About Thumbs","category":4,"locked":0,"disabled":0,"createdon":1700000000,"editedon":1700000060}"#,
        ),
        ("SitePlugin", "null"),
        ("SiteModule", "null"),
        ("Category", r#"{"id":4,"category":"Layout"}"#),
        (
            "UserAttribute",
            r#"{"id":4,"internalKey":4,"fullname":"User № 3","email":"user3@example.com","phone":"+380500000003","mobilephone":"","blocked":0,"blockeduntil":0,"blockedafter":0,"failedlogincount":0,"logincount":3,"lastlogin":1700000003}"#,
        ),
        ("PermissionsGroups", r#"{"id":4,"name":"Group4"}"#),
        ("RolePermissions", r#"{"id":4,"role_id":"1","permission":"permission4"}"#),
    ] {
        assert_eq!(
            desk.text("evo.model.get", json!({"model": model, "id": 4})).await,
            format!(r#"{{"item":{wanted},"meta":{{"toolsetVersion":"1.0","model":"{model}"}}}}"#)
        );
    }
    assert_eq!(
        desk.text("evo.model.list", json!({"model": "Category", "limit": 2, "offset": 3})).await,
        r#"{"items":[{"id":4,"category":"Layout"},{"id":5,"category":"Users"}],"meta":{"limit":2,"offset":3,"count":2,"toolsetVersion":"1.0","model":"Category"}}"#
    );
    for spelling in ["category", "CATEGORY", "EvolutionCMS\\Models\\Category", "\\evolutioncms\\models\\category"] {
        let answer = desk.call_ok("evo.model.get", json!({"model": spelling, "id": 1})).await;
        assert_eq!(answer["meta"]["model"], json!("Category"), "{spelling}");
    }
}

/// D11: three models could not be read at all where their tables lack columns.
#[tokio::test]
async fn e_34_columns_that_a_site_lacks_are_null() {
    absent_columns(&TestDesk::on_sqlite().await).await;
}

async fn absent_columns(desk: &TestDesk) {
    for (model, id, wanted) in [
        (
            "User",
            1,
            r#"{"id":1,"username":"admin","isfrontend":null,"createdon":null,"editedon":null,"blocked":null,"blockeduntil":null,"blockedafter":null}"#,
        ),
        (
            "UserRole",
            2,
            r#"{"id":2,"name":"Editor","description":"What a Editor may do","frames":null,"home":null,"rank":null,"locked":null}"#,
        ),
        ("Permissions", 3, r#"{"id":3,"name":"Permission 3","description":null}"#),
    ] {
        assert_eq!(
            desk.text("evo.model.get", json!({"model": model, "id": id})).await,
            format!(r#"{{"item":{wanted},"meta":{{"toolsetVersion":"1.0","model":"{model}"}}}}"#)
        );
    }
    let missing = json!([{"field": "isfrontend", "op": "null"}]);
    let there = json!([{"field": "isfrontend", "op": "=", "value": "1"}]);
    for (conditions, count) in [(missing, 13), (there, 0)] {
        let asked = json!({"model": "User", "filters": {"where": conditions}, "order_by": "blocked"});
        assert_eq!(desk.ids("evo.model.list", asked).await.len(), count);
    }
}

#[tokio::test]
async fn e_32_structured_filters_find_records() {
    filters(&TestDesk::on_sqlite().await).await;
}

async fn filters(desk: &TestDesk) {
    for (field, op, value, wanted) in [
        ("name", "=", json!("price"), "1"),
        ("name", "!=", json!("price"), "2 3 4 5 6 7 8 9 10 11 12"),
        ("id", ">", json!(10), "11 12"),
        ("id", ">=", json!("11"), "11 12"),
        ("id", "<", json!(3), "1 2"),
        ("id", "<=", json!("2"), "1 2"),
        ("id", "in", json!([1, "3"]), "1 3"),
        ("id", "in", json!("1, 3,"), "1 3"),
        ("category", "not_in", json!([1, 2]), "7 11 12"),
        ("name", "like", json!("price"), "1 2"),
        ("name", "like-l", json!("_price"), "2"),
        ("name", "like-r", json!("me"), "11"),
        ("default_text", "null", json!(null), "3"),
        ("default_text", "!null", json!(null), "1 2 4 5 6 7 8 9 10 11 12"),
        // An empty text is a value, too.
        ("default_text", "=", json!(""), "2 9 10"),
        ("name", "=", json!("' OR 1=1 --"), ""),
        ("name", "=", json!("a:b;c"), ""),
    ] {
        let filters = json!({"where": [{"field": field, "op": op, "value": value}]});
        let found = desk.ids("evo.model.list", json!({"model": "SiteTmplvar", "filters": filters})).await;
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.join(" "), wanted, "{field} {op} {value}");
    }
    let both =
        json!({"where": [{"field": "category", "op": "=", "value": 1}, {"field": "rank", "op": "<", "value": 2}]});
    assert_eq!(desk.ids("evo.model.list", json!({"model": "SiteTmplvar", "filters": both})).await, [1, 2]);
    for all in [json!({}), json!([]), json!(null), json!({"where": []})] {
        let asked = json!({"model": "SiteTmplvar", "filters": all});
        assert_eq!(desk.ids("evo.model.list", asked).await.len(), 12);
    }
}

#[tokio::test]
async fn e_31_e_32_only_listed_fields_and_structured_filters_work() {
    let desk = TestDesk::on_sqlite().await;
    let fields = "a field of this model is expected: id, username, isfrontend, createdon, editedon, blocked, \
                  blockeduntil, blockedafter";
    let condition = |field: &str| json!({"where": [{"field": field, "op": "=", "value": "canary"}]});
    let ask = async |filters: Value| {
        desk.error("evo.model.list", json!({"model": "User", "limit": 5, "filters": filters})).await
    };
    assert_eq!(
        ask(condition("templatename")).await,
        format!("-32602 The argument at /filters/where/0/field is not valid: {fields}.")
    );
    assert_eq!(
        desk.error("evo.model.list", json!({"model": "User", "limit": 5, "order_by": "email"})).await,
        format!("-32602 The argument at /order_by is not valid: {fields}.")
    );
    for (filters, place) in [
        (condition("password"), "/filters/where/0/field"),
        (condition("1=1; DROP TABLE evo_users"), "/filters/where/0/field"),
        (condition("users.username"), "/filters/where/0/field"),
        (json!({"where": [{"field": "id", "op": "; --", "value": "1"}]}), "/filters/where/0/op"),
        (json!({"where": [{"field": "id", "op": "=", "value": ["1"]}]}), "/filters/where/0/value"),
        (json!({"where": [{"field": "id", "op": "="}]}), "/filters/where/0/value"),
        (json!({"where": [{"field": "username", "op": "like", "value": ""}]}), "/filters/where/0/value"),
        (json!({"where": [{"field": "id", "op": "in", "value": []}]}), "/filters/where/0/value"),
        (json!({"where": [{"field": "id", "op": "=", "value": "1", "raw": "canary"}]}), "/filters/where/0"),
        (json!({"where": "id = 1"}), "/filters/where"),
        (json!({"raw": "1=1"}), "/filters"),
        (json!("id = 1"), "/filters"),
        (json!([1]), "/filters"),
    ] {
        let error = ask(filters.clone()).await;
        assert!(error.starts_with(&format!("-32602 The argument at {place} is not valid: ")), "{filters} {error}");
        assert!(!error.contains("canary") && !error.contains("DROP"), "{error}");
    }
}

#[tokio::test]
async fn e_33_records_come_in_the_order_asked_for() {
    orders(&TestDesk::on_sqlite().await).await;
}

async fn orders(desk: &TestDesk) {
    for (order, wanted) in [
        (json!({}), [1, 2, 3]),
        (json!({"order_by": "id", "order_dir": "desc"}), [12, 11, 10]),
        (json!({"order_by": "category", "order_dir": "DESC"}), [7, 12, 11]),
        (json!({"order_by": "rank"}), [1, 2, 3]),
        // Null sorts first.
        (json!({"order_by": "default_text"}), [3, 2, 9]),
        (json!({"order_dir": "sideways"}), [1, 2, 3]),
    ] {
        let mut asked = json!({"model": "SiteTmplvar", "limit": 3});
        asked.as_object_mut().unwrap().extend(order.as_object().unwrap().clone());
        assert_eq!(desk.ids("evo.model.list", asked).await, wanted, "{order}");
    }
    assert_eq!(
        desk.error("evo.model.list", json!({"model": "User", "limit": 5, "order_by": "id", "order_dir": "up"})).await,
        "-32602 The argument at /order_dir is not valid: one of these is expected: asc, desc."
    );
}

#[tokio::test]
async fn a_site_that_lacks_a_whole_table_has_no_such_records() {
    let more = "DROP TABLE evo_permissions_groups;";
    let desk = TestDesk::on_sqlite_with(more, Default::default()).await;
    assert_eq!(desk.ids("evo.model.list", json!({"model": "PermissionsGroups"})).await, [0; 0]);
    let answer = desk.call_ok("evo.model.get", json!({"model": "PermissionsGroups", "id": 1})).await;
    assert_eq!(answer["item"], Value::Null);
}

#[test]
fn e_30_e_31_the_published_names_are_those_of_the_models() {
    let names: Vec<&str> = model::ALL.iter().map(|model| model.name).collect();
    assert_eq!(names, model::NAMES);
    let mut fields: Vec<&str> = Vec::new();
    for (name, _) in model::ALL.iter().flat_map(|model| model.fields) {
        if !fields.contains(name) {
            fields.push(name);
        }
    }
    assert_eq!(fields, model::FIELDS);
    let secret = ["password", "cachepwd", "verified_key", "refresh_token", "access_token", "sessionid"];
    assert!(fields.iter().all(|name| !secret.contains(name)));
}
