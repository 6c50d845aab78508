//! How requests fail: plain HTTP for what is wrong with the caller or the transport, JSON-RPC for what is wrong with the
//! message (section 8).

use serde_json::{Value, json};

use crate::published::taken_by;
use crate::stage::{BASE, Stage, TRACE, calling, message, plain, rpc, said};

const LISTS: [&str; 12] = [
    "evo.content.search",
    "evo.content.root_tree",
    "evo.content.descendants",
    "evo.content.ancestors",
    "evo.content.children",
    "evo.content.siblings",
    "evo.content.neighbors",
    "evo.content.prev_siblings",
    "evo.content.next_siblings",
    "evo.content.children_range",
    "evo.content.siblings_range",
    "evo.model.list",
];

#[tokio::test]
async fn e_11_e_50_a_list_without_a_limit_is_an_invalid_argument() {
    let stage = Stage::open();
    let mut agent = stage.agent();
    for tool in LISTS {
        for mut arguments in [json!({}), json!({"limit": null})] {
            let own = json!({"id": 248, "from": 0, "model": "User"});
            arguments.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
            assert_eq!(
                agent.call(tool, taken_by(tool, arguments)).await["error"],
                json!({
                    "code": -32602,
                    "message": "The argument at /limit is not valid: it is required.",
                    "data": {"errors": [{"pointer": "/limit", "keyword": "required", "expected": "it is required"}]},
                }),
                "{tool}"
            );
        }
    }
}

#[tokio::test]
async fn e_18_e_50_invalid_arguments_are_32602_and_not_echoed() {
    let stage = Stage::open();
    let mut agent = stage.agent();
    for (tool, arguments, place) in [
        ("evo.content.get", json!({}), "/id"),
        ("evo.content.get", json!({"id": 0}), "/id"),
        ("evo.content.get", json!({"id": 2.5}), "/id"),
        ("evo.content.get", json!({"id": "zebra"}), "/id"),
        ("evo.content.get", json!({"id": 1, "with_tvs": "price"}), "/with_tvs"),
        ("evo.content.get", json!({"id": 1, "with_tvs": ["zebra"]}), "/with_tvs/0"),
        ("evo.content.get", json!({"id": 1, "with_tvs": ["a b"]}), "/with_tvs/0"),
        ("evo.content.search", json!({"limit": 0}), "/limit"),
        ("evo.content.search", json!({"limit": 101}), "/limit"),
        ("evo.content.search", json!({"limit": 1, "offset": 5001}), "/offset"),
        ("evo.content.search", json!({"limit": 1, "depth": 7}), "/depth"),
        ("evo.content.search", json!({"limit": 1, "order_by": "zebra"}), "/order_by"),
        ("evo.content.search", json!({"limit": 1, "order_by": "id", "order_dir": "zebra"}), "/order_dir"),
        ("evo.content.search", json!({"limit": 1, "order_by_date": "zebra"}), "/order_by_date"),
        ("evo.content.search", json!({"limit": 1, "published": "zebra"}), "/published"),
        ("evo.content.search", json!({"limit": 1, "tags_data": {"tv_id": 9}}), "/tags_data/tags"),
        ("evo.content.search", json!({"limit": 1, "tv_filters": ["price:>:500"]}), "/tv_filters/0"),
        (
            "evo.content.search",
            json!({"limit": 1, "tv_filters": [{"tv": "price", "op": "=", "value": "zebra:1;2"}]}),
            "/tv_filters/0/value",
        ),
        (
            "evo.content.search",
            json!({"limit": 1, "tv_filters": [{"tv": "price", "op": "~", "value": "1"}]}),
            "/tv_filters/0/op",
        ),
        ("evo.content.search", json!({"limit": 1, "tv_order": [{"tv": "price", "cast": "CHAR"}]}), "/tv_order/0/cast"),
        ("evo.content.children_range", json!({"id": 1, "from": 5, "to": 2, "limit": 1}), "/to"),
        ("evo.model.list", json!({"model": "User", "limit": 1, "order_by": "zebra"}), "/order_by"),
        ("evo.model.list", json!({"model": "User", "limit": 1, "filters": "id = 1"}), "/filters"),
        ("evo.model.get", json!({"model": "User", "id": -1}), "/id"),
    ] {
        let refusal = agent.refusal(tool, arguments.clone()).await;
        assert!(
            refusal.starts_with(&format!("-32602 The argument at {place} is not valid: ")),
            "{arguments} {refusal}"
        );
        assert!(!refusal.contains("zebra"), "{refusal}");
    }
    let nameless = agent.post(message("tools/call", json!({"arguments": {}}))).await;
    assert_eq!((nameless.status, &nameless.json()["error"]["code"]), (200, &json!(-32602)), "{}", nameless.text());
}

#[tokio::test]
async fn e_30_e_51_unknown_tools_models_and_methods_are_32601() {
    let stage = Stage::open();
    let mut agent = stage.agent();
    let guess = " did you mean evo.content.get?";
    for (name, guess) in
        [("evo.content.nothing", ""), ("EVO.CONTENT.GET", guess), ("evo.content.get ", guess), ("zebra", "")]
    {
        let tool = format!("There is no tool of this name;{guess} `tools/list` names those there are.");
        assert_eq!(said(&agent.post(calling(name, json!({}))).await), rpc(200, Some(1), -32601, &tool), "{name}");
    }
    for model in ["SiteContent", "users", "User; DROP TABLE evo_users", "", "SystemSetting"] {
        for (tool, own) in [("evo.model.list", "limit"), ("evo.model.get", "id")] {
            let error = agent.call(tool, json!({"model": model, own: 1})).await["error"].take();
            assert_eq!(error["code"], json!(-32601), "{tool} {model} {error}");
            assert!(!error.to_string().contains("DROP"), "{error}");
        }
    }
    let mut admin = stage.caller("admin", json!("*"));
    for method in ["foo/bar", "admin/reindex", "tools/call/more"] {
        let response = admin.post(message(method, json!({}))).await;
        assert_eq!((response.status, &response.json()["error"]["code"]), (200, &json!(-32601)), "{}", response.text());
    }
    let nowhere = stage.agent().at(&format!("{BASE}/nowhere")).post(message("ping", json!({}))).await;
    let words = "No server has this name; look at the last part of the address.";
    let data = json!({"trace_id": TRACE});
    let error = json!({"code": -32601, "message": words, "data": data});
    assert_eq!((nowhere.status, nowhere.json()), (404, json!({"jsonrpc": "2.0", "id": 1, "error": error})));
    assert_eq!(nowhere.header("x-trace-id"), Some(TRACE));
}

#[tokio::test]
async fn e_56_a_path_without_an_endpoint_answers_404_with_the_trace() {
    let stage = Stage::open();
    for path in ["/api/v1/nothing", "/api/v1/mcp/content/dispatch/more", "/elsewhere"] {
        let answer = stage.agent().at(path).post(message("ping", json!({}))).await;
        let error = json!({
            "code": "request.refused",
            "message": "There is nothing at this path; GET / lists the endpoints.",
            "trace_id": TRACE,
        });
        assert_eq!((answer.status, answer.json()), (404, json!({"error": error})), "{path}");
        assert_eq!(answer.header("x-trace-id"), Some(TRACE));
    }
}

#[tokio::test]
async fn e_52_e_56_forbidden_is_a_plain_403_with_the_trace() {
    let stage = Stage::with(
        "allow_servers = [\"content\", \"public-*\"]\ndeny_tools = [\"evo.model.*\"]\n\
         [[mount.server]]\nhandle = \"content\"\ndeny_tools = [\"evo.content.get\"]\n\
         [[mount.server]]\nhandle = \"public-api\"\n[[mount.server]]\nhandle = \"private\"\n",
    );
    let tool = "The operator does not let this tool be used.";
    let mut agent = stage.agent();
    // Denied tools are denied whether they exist or not, and those that would write always.
    for name in ["evo.model.list", "evo.model.nothing", "evo.content.get", "evo.write.publish", "evo.write."] {
        let answer = agent.post(calling(name, json!({}))).await;
        assert_eq!(said(&answer), plain(403, "tool_denied", tool), "{name}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("x-trace-id"), Some(TRACE));
    }
    let mut public = stage.agent().at(&format!("{BASE}/public-api"));
    assert_eq!(public.ask("evo.content.get", json!({"id": 1})).await["item"]["id"], json!(1));
    let private = stage.agent().at(&format!("{BASE}/private")).post(message("ping", json!({}))).await;
    assert_eq!(said(&private), plain(403, "server_denied", "The operator does not let this server be used."));
    let weak = stage.caller("weak", json!(["mcp:read"])).post(calling("evo.content.search", json!({"limit": 1}))).await;
    let words = "The token does not carry the scope this needs: mcp:call.";
    assert_eq!(said(&weak), plain(403, "scope_denied", words));
}

#[tokio::test]
async fn e_56_a_reply_has_the_callers_trace_id_or_a_new_one() {
    let stage = Stage::open();
    let ping = message("ping", json!({}));
    let named = stage.agent().send("POST", &[("x-trace-id", "mine-42")], &ping).await;
    assert_eq!((named.status, named.header("x-trace-id")), (200, Some("mine-42")));
    let refused = stage.holder("").send("POST", &[("x-trace-id", "mine-43")], &ping).await;
    assert_eq!((refused.status, refused.header("x-trace-id")), (401, Some("mine-43")));
    assert_eq!(refused.json()["error"]["trace_id"], json!("mine-43"));
    let own = stage.holder("").send("POST", &[("x-trace-id", "")], &ping).await;
    let trace = own.header("x-trace-id").unwrap();
    assert!(trace.len() == 32 && trace.bytes().all(|byte| byte.is_ascii_hexdigit()), "{trace}");
    assert_eq!(own.json()["error"]["trace_id"], json!(trace));
}

#[tokio::test]
async fn e_57_another_media_type_is_415_and_json_may_say_its_charset() {
    let stage = Stage::open();
    let mut agent = stage.agent();
    let ping = message("ping", json!({}));
    for (kind, status) in [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/json; charset=latin1", 415),
    ] {
        let answer = agent.send("POST", &[("content-type", kind)], &ping).await;
        assert_eq!(answer.status, status, "{kind} {}", answer.text());
    }
}

#[tokio::test]
async fn e_58_invalid_json_and_requests_are_json_rpc_errors() {
    let stage = Stage::open();
    let mut agent = stage.agent();
    let mut answer = async |body: &str| {
        let response = agent.post(body).await;
        let json = response.json();
        assert_eq!(response.status, 200, "{body}");
        assert_eq!(json["jsonrpc"], json!("2.0"));
        (json["error"]["code"].as_i64().unwrap(), json.get("id").cloned())
    };
    for body in ["", "{", "{\"jsonrpc\":\"2.0\",\"id\":1,", "nul", "{\"a\":1,\"a\":2}", "[1,"] {
        assert_eq!(answer(body).await, (-32700, None), "{body}");
    }
    for body in [
        "5",
        "\"ping\"",
        "[]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evo.write.publish"}}]"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
    ] {
        assert_eq!(answer(body).await, (-32600, None), "{body}");
    }
    for body in [
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#,
    ] {
        assert_eq!(answer(body).await, (-32600, Some(Value::from(1))), "{body}");
    }
}
