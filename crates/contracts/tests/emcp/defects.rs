//! Known defects of the original tools, fixed here. Each one is tested on SQLite, and all of them once more on the three
//! databases.

use frontdesk_cms_fixture::{CANARY, ScriptDialect};
use frontdesk_contracts::emcp::EmcpSettings;
use frontdesk_engine::model::contract_entry::QueryLimits;
use serde_json::{Value, json};

use crate::support::{TOKEN, TestDesk, limited};

#[tokio::test]
async fn e_13_e_14_e_18_e_21_e_27_three_databases_fix_the_defects() {
    let desk = TestDesk::on_three_with(signs).await;
    defaults(&desk).await;
    names(&desk).await;
    filters_alone(&desk).await;
    likeness(&desk).await;
    zero(&desk).await;
    dates(&desk).await;
    signs_of_patterns(&desk).await;
    refusals(&desk).await;
}

/// A value with wildcard characters, and one that such a pattern would match.
fn signs(_: ScriptDialect) -> String {
    "INSERT INTO evo_site_tmplvar_contentvalues (id, tmplvarid, contentid, value) VALUES (9001, 8, 5, '100%_real'), \
     (9002, 8, 4, '100 unreal');"
        .to_owned()
}

async fn with_signs() -> TestDesk {
    TestDesk::on_sqlite_with(&signs(ScriptDialect::Sqlite), EmcpSettings::default()).await
}

/// D2: the suffix `:d` never had an effect.
#[tokio::test]
async fn e_13_a_variable_with_suffix_d_shows_its_default() {
    defaults(&TestDesk::on_sqlite().await).await;
}

async fn defaults(desk: &TestDesk) {
    for (id, entries, wanted) in [
        (14, json!(["color"]), json!({"color": null})),
        (14, json!(["color:d"]), json!({"color": "red"})),
        (15, json!(["color:d"]), json!({"color": "blue"})),
        (14, json!(["color", "color:d", "color"]), json!({"color": "red"})),
        (14, json!([" color:d ", "", " "]), json!({"color": "red"})),
        // An empty default, and an empty value.
        (14, json!(["old_price:d"]), json!({"old_price": ""})),
        (15, json!(["in_stock:d"]), json!({"in_stock": ""})),
        (14, json!(["in_stock:d"]), json!({"in_stock": "1"})),
        (14, json!(["author:d"]), json!({"author": "Редакція"})),
    ] {
        let answer = desk.call_ok("evo.content.get", json!({"id": id, "with_tvs": entries})).await;
        assert_eq!(answer["item"]["tvs"], wanted, "{entries}");
    }
    let none = desk.call_ok("evo.content.get", json!({"id": 1, "with_tvs": ["sku:d"]})).await;
    assert_eq!(none["item"]["tvs"], json!({"sku": null}), "a variable without a default has none to show");
    for entries in [json!([]), json!([" "]), json!(null)] {
        let item = desk.call_ok("evo.content.get", json!({"id": 15, "with_tvs": entries})).await["item"].take();
        assert!(item.get("tvs").is_none(), "{entries}");
    }
}

/// D9: names of columns and relations were read as if they were variables.
#[tokio::test]
async fn e_14_an_unknown_variable_name_is_refused_and_never_read() {
    names(&TestDesk::on_sqlite().await).await;
}

async fn names(desk: &TestDesk) {
    let words = "no template variable has this name; evo.model.list with the model SiteTmplvar names them.";
    for name in ["content", "introtext", "templateValues", "tpl", "password", "privatemgr", "id", "Price", "nobody"] {
        let wanted = format!("-32602 The argument at /with_tvs/1 is not valid: {words}");
        let asked = json!({"id": 1, "with_tvs": ["price", name]});
        assert_eq!(desk.error("evo.content.get", asked).await, wanted, "{name}");
    }
    let filters = json!({"limit": 1, "tv_filters": [{"tv": "content", "op": "!null"}]});
    let wanted = format!("-32602 The argument at /tv_filters/0/tv is not valid: {words}");
    assert_eq!(desk.error("evo.content.search", filters).await, wanted);
    let order = json!({"limit": 1, "tv_order": [{"tv": "price"}, {"tv": "password"}]});
    let wanted = format!("-32602 The argument at /tv_order/1/tv is not valid: {words}");
    assert_eq!(desk.error("evo.content.search", order).await, wanted);
}

/// D5: a filter or an order by a variable failed unless the variable was selected too, with its suffix.
#[tokio::test]
async fn e_21_filters_and_orders_need_no_variable_to_be_shown() {
    filters_alone(&TestDesk::on_sqlite().await).await;
}

async fn filters_alone(desk: &TestDesk) {
    let asked = |shown: Value| {
        json!({
            "parent": 9,
            "limit": 100,
            "with_tvs": shown,
            "tv_filters": [{"tv": "color", "op": "=", "value": "red", "use_default": true}],
            "tv_order": [{"tv": "price", "cast": "SIGNED", "dir": "desc", "use_default": true}],
        })
    };
    let wanted = [18, 13, 10, 17, 12, 16, 14];
    for shown in [json!(null), json!(["color"]), json!(["price:d", "color:d"]), json!(["sku"])] {
        assert_eq!(desk.search(asked(shown.clone())).await, wanted, "{shown}");
    }
    let plain = desk.call_ok("evo.content.search", asked(json!(null))).await;
    assert!(plain["items"].as_array().unwrap().iter().all(|item| item.get("tvs").is_none()));
}

/// D6: like-l and like-r never found anything.
#[tokio::test]
async fn e_16_like_l_and_like_r_match_at_either_end() {
    likeness(&TestDesk::on_sqlite().await).await;
}

async fn likeness(desk: &TestDesk) {
    for (op, value, count) in [("like-l", "01", 12), ("like-r", "SKU-01", 18), ("like-r", "01", 0), ("like", "-0", 108)]
    {
        let filter = json!({"tv": "sku", "op": op, "value": value});
        assert_eq!(desk.count(json!({"tv_filters": [filter]})).await, count, "{op} {value}");
    }
}

/// D7: the value "0" was treated as missing.
#[tokio::test]
async fn e_15_zero_is_a_value() {
    zero(&TestDesk::on_sqlite().await).await;
}

async fn zero(desk: &TestDesk) {
    for (filter, count) in [
        (json!({"tv": "price", "op": "=", "value": "0"}), 0),
        (json!({"tv": "price", "op": "=", "value": "0", "use_default": true}), 161),
        (json!({"tv": "price", "op": "=", "value": 0, "cast": "SIGNED"}), 12),
        (json!({"tv": "price", "op": "in", "value": ["0"], "use_default": true}), 161),
    ] {
        assert_eq!(desk.count(json!({"tv_filters": [filter]})).await, count, "{filter}");
    }
}

/// D12: an order by date with a `:d` variable failed.
#[tokio::test]
async fn e_12_an_order_by_date_goes_with_variables() {
    dates(&TestDesk::on_sqlite().await).await;
}

async fn dates(desk: &TestDesk) {
    let asked = json!({"order_by_date": "desc", "with_tvs": ["price:d", "color:d"], "limit": 3});
    assert_eq!(desk.search(asked).await, [5, 10, 15]);
}

/// `%` and `_` were wildcards in values.
#[tokio::test]
async fn e_27_wildcard_characters_match_literally() {
    signs_of_patterns(&with_signs().await).await;
}

async fn signs_of_patterns(desk: &TestDesk) {
    let found = async |op: &str, value: &str| {
        desk.search(json!({"tv_filters": [{"tv": "author", "op": op, "value": value}]})).await
    };
    assert_eq!(found("like", "100%_real").await, [5]);
    assert_eq!(found("like", "%").await, [5]);
    assert_eq!(found("like-r", "100_").await, [0; 0]);
    assert_eq!(found("like-l", "_real").await, [5]);
    let filters = json!({"where": [{"field": "value", "op": "like", "value": "100%"}]});
    let asked = json!({"model": "SiteTmplvarContentvalue", "filters": filters});
    assert_eq!(desk.ids("evo.model.list", asked).await, [9001]);
}

/// D1 and D14: invalid filters were answered as results, an array became the text "Array", and a value could inject a
/// textual filter.
#[tokio::test]
async fn e_18_e_50_an_invalid_filter_is_reported_with_its_pointer() {
    refusals(&TestDesk::on_sqlite().await).await;
}

async fn refusals(desk: &TestDesk) {
    for (filter, place, words) in [
        (json!({"tv": "price", "op": "=", "value": ["1"]}), "value", "this operator takes one value, not an array"),
        (json!({"tv": "price", "op": "="}), "value", "this operator needs a value"),
        (json!({"tv": "price", "op": "=", "value": "  "}), "value", "a value that is not empty is expected"),
        (json!({"tv": "price", "op": "=", "value": "canary:b"}), "value", "a value must not contain : or ;"),
        (json!({"tv": "price", "op": "in", "value": ["1", "a;canary"]}), "value", "a value must not contain : or ;"),
        (json!({"tv": "price", "op": "in", "value": " , "}), "value", "this operator needs at least one value"),
        (json!({"tv": "price", "op": "not_in"}), "value", "this operator needs at least one value"),
        (
            json!({"tv": "price", "op": "like", "value": "1", "cast": "SIGNED"}),
            "cast",
            "a cast is allowed with =, !=, >, >=, < and <= only",
        ),
        (
            json!({"tv": "price", "op": ">", "value": "1e3", "cast": "SIGNED"}),
            "value",
            "a cast needs a number such as 100 or -2.5 (digits, at most 64 characters)",
        ),
        (
            json!({"tv": "price", "op": ">", "value": "1", "cast": "DECIMAL(2,5)"}),
            "cast",
            "UNSIGNED, SIGNED or DECIMAL(p,s) is expected, with p from 1 to 65, s from 0 to 30 and s at most p",
        ),
        (
            json!({"tv": "price:=:1", "op": ">", "value": "1"}),
            "tv",
            "the name of a template variable is expected: letters, digits, _ and -",
        ),
        (
            json!({"tv": "price", "op": "LIKE", "value": "1"}),
            "op",
            "one of these is expected: =, !=, >, >=, <, <=, in, not_in, like, like-l, like-r, null, !null",
        ),
        (
            json!({"tv": "price", "op": "=", "value": {"canary": 1}}),
            "value",
            "a text of at most 2000 characters, or for in and not_in an array of at most 200 of them, is expected",
        ),
    ] {
        let asked = json!({"limit": 5, "tv_filters": [{"tv": "sku", "op": "!null"}, filter]});
        let wanted = format!("-32602 The argument at /tv_filters/1/{place} is not valid: {words}.");
        assert_eq!(desk.error("evo.content.search", asked).await, wanted, "{filter}");
    }
    for raw in [json!("price:>:500"), json!(["price:>:500"]), json!({"tv": "price"})] {
        let error = desk.error("evo.content.search", json!({"limit": 5, "tv_filters": raw})).await;
        assert!(error.starts_with("-32602 The argument at /tv_filters"), "{error}");
    }
    for tags in [json!(["a:b"]), json!(["ok", " "]), json!([";"])] {
        let asked = json!({"limit": 5, "tags_data": {"tv_id": 9, "tags": tags}});
        let error = desk.error("evo.content.search", asked).await;
        assert!(error.starts_with("-32602 The argument at /tags_data/tags/"), "{error}");
    }
}

/// D10, second part: the tag tables belong to an extension that not every site has.
#[tokio::test]
async fn e_20_a_site_without_tag_tables_is_reported() {
    let more = "DROP TABLE evo_site_content_tags;";
    let desk = TestDesk::on_sqlite_with(more, EmcpSettings::default()).await;
    assert_eq!(
        desk.error("evo.content.search", json!({"limit": 5, "tags_data": {"tv_id": 9, "tags": ["rust"]}})).await,
        "-32602 The argument at /tags_data is not valid: this site's tags cannot be read: its tagging extra is not \
         installed, or the site's database gives no permission for the tables tags and site_content_tags; use tv_filters \
         instead."
    );
}

/// D15: the limits of a server were not enforced.
#[tokio::test]
async fn e_60_e_61_e_62_the_limits_of_the_server_are_enforced() {
    let limits = QueryLimits { items: 5, bytes: 2_000, depth: 2, offset: 10 };
    let desk = TestDesk::on_sqlite_with("", limited(limits)).await;
    assert_eq!(desk.search(json!({"limit": 5, "offset": 10})).await, [11, 12, 13, 14, 15]);
    for (arguments, place, words) in [
        (json!({"limit": 6}), "limit", "it must be at most 5"),
        (json!({"limit": 0}), "limit", "it must be at least 1"),
        (json!({"limit": 1, "offset": 11}), "offset", "it must be at most 10"),
        (json!({"limit": 1, "offset": -1}), "offset", "it must be at least 0"),
        (json!({"limit": 1, "parent": 2, "depth": 3}), "depth", "it must be at most 2"),
        (json!({"limit": 1, "depth": 3}), "depth", "it must be at most 2"),
    ] {
        let wanted = format!("-32602 The argument at /{place} is not valid: {words}.");
        assert_eq!(desk.error("evo.content.search", arguments).await, wanted);
    }
    // The maximum depth is the default.
    assert_eq!(desk.search(json!({"limit": 5, "parent": 4})).await, [239, 240]);

    let small = QueryLimits { bytes: 100, ..limits };
    let desk = TestDesk::on_sqlite_with("", limited(small)).await;
    for (tool, arguments) in [
        ("evo.model.list", json!({"model": "SiteTmplvar", "limit": 5})),
        ("evo.content.search", json!({"limit": 5})),
        ("evo.content.get", json!({"id": 5})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        let reply = desk.send(TOKEN, "2025-11-25", "tools/call", params).await;
        assert_eq!((reply.status, reply.code), (413, Some("result_too_large")), "{tool}");
    }
}

/// D1: unknown tools and models were answered as invalid arguments, and invalid arguments as results.
#[tokio::test]
async fn e_50_e_51_not_found_and_invalid_have_different_codes() {
    let desk = TestDesk::on_sqlite().await;
    assert_eq!(
        desk.error("evo.content.nothing", json!({})).await,
        "-32601 There is no tool of this name; `tools/list` names those there are."
    );
    let models = "SiteTemplate, SiteTmplvar, SiteTmplvarContentvalue, SiteSnippet, SitePlugin, SiteModule, Category, \
                  User, UserAttribute, UserRole, Permissions, PermissionsGroups, RolePermissions";
    for name in ["SiteContent", "users", "EvolutionCMS\\Models\\SystemSetting", ""] {
        assert_eq!(
            desk.error("evo.model.list", json!({"model": name, "limit": 5})).await,
            format!("-32601 The argument at /model is not valid: one of these is expected: {models}.")
        );
    }
    let body = desk.call("evo.content.get", json!({"id": "canary"})).await;
    assert_eq!(
        body,
        json!({
            "jsonrpc": "2.0",
            "id": 1,
            "error": {
                "code": -32602,
                "message": "The argument at /id is not valid: an integer is expected.",
                "data": {"errors": [{"pointer": "/id", "keyword": "type", "expected": "an integer is expected"}]},
            },
        })
    );
}

/// Secret columns are in no answer.
#[tokio::test]
async fn e_41_secret_fields_cannot_be_read_filtered_or_ordered() {
    let desk = TestDesk::on_sqlite().await;
    let models = frontdesk_contracts::emcp::model::NAMES;
    let mut all = String::new();
    for model in models {
        all.push_str(&desk.text("evo.model.list", json!({"model": model, "limit": 100})).await);
        all.push_str(&desk.text("evo.model.get", json!({"model": model, "id": 1})).await);
        for secret in ["password", "cachepwd", "verified_key", "refresh_token", "access_token", "sessionid"] {
            let filters = json!({"where": [{"field": secret, "op": "like", "value": CANARY}]});
            for asked in [
                json!({"model": model, "limit": 5, "filters": filters}),
                json!({"model": model, "limit": 5, "order_by": secret}),
                json!({"model": model, "limit": 5, "order_by": format!("{model}.{secret}")}),
            ] {
                let error = desk.error("evo.model.list", asked).await;
                assert!(error.starts_with("-32602 "), "{error}");
                assert!(!error.contains(secret), "{error}");
            }
        }
    }
    for tool in ["search", "root_tree"] {
        all.push_str(&desk.text(&format!("evo.content.{tool}"), json!({"limit": 100})).await);
    }
    assert!(all.contains("user12") && all.contains("user12@example.com"));
    assert!(!all.contains(CANARY));
}
