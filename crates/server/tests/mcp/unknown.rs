//! Methods, tools and resources that do not exist, as each era wants to hear it.

use serde_json::json;

use frontdesk_testkit::app::TestApp;

use super::requests::{LEGACY, legacy, modern, refusal, whole};

#[tokio::test]
async fn an_unknown_method_is_404_in_the_modern_era_and_200_before() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let expected = refusal(json!(1), -32601, "request.unknown_method", "Method not found");
    for method in
        ["no/such", "prompts/list", "completion/complete", "logging/setLevel", "resources/subscribe", "rpc.discover"]
    {
        assert_eq!(whole(&modern(&mut agent, method, json!({})).await), (404, expected.clone()), "{method}");
        for version in LEGACY {
            assert_eq!(
                whole(&legacy(&mut agent, version, method, json!({})).await),
                (200, expected.clone()),
                "{method}"
            );
        }
    }
    // The modern era has no greeting and no ping.
    let pinged = whole(&modern(&mut agent, "ping", json!({})).await);
    assert_eq!(pinged, (404, expected.clone()));
    let greeted = modern(&mut agent, "initialize", json!({"protocolVersion": "2026-07-28"})).await;
    assert_eq!(whole(&greeted), (404, expected.clone()));
    // Discovery is answered under any version and in its own form, so that every client can find its way.
    for version in LEGACY {
        let (status, answer) = whole(&legacy(&mut agent, version, "server/discover", json!({})).await);
        assert_eq!((status, &answer["result"]["resultType"]), (200, &json!("complete")), "{version}");
        assert_eq!(answer["result"]["supportedVersions"][0], json!("2026-07-28"), "{version}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_invalid_params_in_both_eras() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let guess = " did you mean inventory.list?";
    for (name, guess) in [
        ("no.such", ""),
        ("INVENTORY.LIST", guess),
        ("inventory.list ", guess),
        ("inventory_list", guess),
        ("", ""),
        ("leads.delete", ""),
    ] {
        let words = format!("There is no tool of this name;{guess} `tools/list` names those there are.");
        let expected = refusal(json!(1), -32602, "request.unknown_tool", &words);
        let call = json!({"name": name, "arguments": {}});
        for version in LEGACY {
            let answer = legacy(&mut agent, version, "tools/call", call.clone()).await;
            assert_eq!(whole(&answer), (200, expected.clone()), "{name:?} {version}");
        }
        if name == name.trim() {
            assert_eq!(whole(&modern(&mut agent, "tools/call", call).await), (200, expected.clone()), "{name:?}");
        }
    }
    for params in [json!({}), json!({"name": 1}), json!({"name": null}), json!({"name": ["inventory.list"]})] {
        let answer = agent.send("tools/call", params.clone()).await.json();
        assert_eq!(answer["error"]["code"], json!(-32602), "{params}");
    }
    for arguments in [json!([]), json!("limit"), json!(1), json!(true)] {
        let answer = agent.send("tools/call", json!({"name": "inventory.list", "arguments": arguments})).await.json();
        assert_eq!(answer["error"]["code"], json!(-32602), "{arguments}");
    }
    // No arguments at all are none.
    for params in [json!({"name": "inventory.list"}), json!({"name": "inventory.list", "arguments": null})] {
        let answer = agent.send("tools/call", params).await.json();
        assert_eq!(answer["result"]["isError"], json!(false));
    }
}

#[tokio::test]
async fn an_unknown_resource_has_another_number_in_each_era() {
    let desk = TestApp::start();
    let mut agent = desk.agent().await;
    let unknown = "Nothing with this id exists here.";
    for (uri, code, words) in [
        (
            "amcp://dlr_lakeside/leads/led_0",
            "leads.not_found",
            "No lead with this id exists here. An id looks like led_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a lead is one. Find it with leads.search.",
        ),
        (
            "amcp://dlr_lakeside/inventory/veh_0",
            "inventory.not_found",
            "No vehicle with this id exists here. An id looks like veh_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a vehicle is one. Find it with inventory.search.",
        ),
        ("amcp://nothing", "request.not_found", unknown),
        ("file:///etc/passwd", "request.not_found", unknown),
    ] {
        let answer = modern(&mut agent, "resources/read", json!({"uri": uri})).await;
        assert_eq!(whole(&answer), (200, refusal(json!(1), -32602, code, words)), "{uri}");
        for version in LEGACY {
            let answer = legacy(&mut agent, version, "resources/read", json!({"uri": uri})).await;
            assert_eq!(whole(&answer), (200, refusal(json!(1), -32002, code, words)), "{uri} {version}");
        }
    }
}
