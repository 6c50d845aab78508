//! The methods by name, word for word, and what becomes of any other name.

use frontdesk_wire::method::{Method, MethodName};

const NAMES: [&str; 22] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tools/call",
    "tools/list",
];

#[test]
fn every_method_has_its_name_and_is_found_by_it() {
    assert_eq!(Method::KNOWN.map(Method::as_str), NAMES);
    assert_eq!(NAMES.map(Method::parse), Method::KNOWN);
}

#[test]
fn any_other_name_is_unknown() {
    for name in ["", "unknown", "Ping", "ping ", " ping", "tools/call/more", "tools", "TOOLS/CALL", "pïng"] {
        assert_eq!(Method::parse(name), Method::Unknown, "{name:?}");
    }
    assert_eq!(Method::Unknown.as_str(), "unknown");
}

#[test]
fn three_methods_are_applied_to_something_that_a_header_repeats() {
    let named = Method::KNOWN.into_iter().filter_map(|method| Some((method.as_str(), method.name_param()?)));
    let expected = [("prompts/get", "name"), ("resources/read", "uri"), ("tools/call", "name")];
    assert_eq!(named.collect::<Vec<_>>(), expected);
    assert_eq!(Method::Unknown.name_param(), None);
}

#[test]
fn a_method_name_is_compared_and_stored_as_it_was_sent() {
    let name = |text: &str| MethodName::from(text.to_owned());
    for text in ["ping", "admin/reindex", "unknown", "Ping", "\"\n"] {
        assert_eq!(name(text).as_str(), text);
        let stored = serde_json::to_string(&name(text)).unwrap();
        assert_eq!(stored, serde_json::to_string(text).unwrap());
        assert_eq!(serde_json::from_str::<MethodName>(&stored).unwrap(), name(text));
    }
    assert_eq!(name("tools/call"), MethodName::from(Method::ToolsCall));
    assert_ne!(name("admin/one"), name("admin/two"));
    assert_eq!(name("admin/one").method(), name("admin/two").method());
}
