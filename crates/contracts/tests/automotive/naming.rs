//! Names and vocabularies in every schema that the contract publishes.

use std::collections::BTreeSet;

use frontdesk_contracts::automotive::lead::LeadStatus;
use frontdesk_contracts::automotive::vehicle::VehicleStatus;
use frontdesk_contracts::automotive::vocabulary::VERBS;
use frontdesk_contracts::automotive::{all_codes, contract, domains, resources};
use frontdesk_contracts::record::{FieldSpec, FieldType, FieldValue, Vocabulary};
use frontdesk_engine::model::tool::Effect;
use frontdesk_engine::{Code, Scope};
use frontdesk_testkit::automotive_names::{EXTENSIONS, SCOPES, TOOLS};
use serde_json::Value;

/// The input and output schemas of all tools.
fn schemas() -> Vec<(String, Value)> {
    let contract = contract();
    let specs = contract.tools.iter().map(|tool| &tool.spec);
    specs
        .flat_map(|spec| {
            let (input, output) = (spec.input.to_json(), spec.output.to_json());
            [(format!("{} input", spec.name), input), (format!("{} output", spec.name), output)]
        })
        .collect()
}

/// Visits a schema and all nested schemas, with the name of their field.
fn walk(name: &str, schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    visit(name, schema);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        walk(name, field, visit);
    }
    if let Some(items) = schema.get("items") {
        walk(name, items, visit);
    }
}

fn codes() -> Vec<Code> {
    all_codes(&resources()).into_iter().map(|spec| spec.code).collect()
}

/// `list` of `leads.list` and of `service.list_loaners`.
fn verb(tool: &str) -> &str {
    tool.split_once('.').unwrap().1.split('_').next().unwrap()
}

/// Extensions have no domain (§5.5).
fn is_extension(tool: &str) -> bool {
    tool.starts_with("x_frontdesk.")
}

fn is_snake_case(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[test]
fn a5_01_a5_04_a4_08_tool_names_are_domain_dot_verb() {
    let contract = contract();
    let names: Vec<&str> = contract.tools.iter().map(|tool| tool.spec.name).collect();
    assert_eq!(names, [&TOOLS[..], &EXTENSIONS].concat());
    for name in names {
        let parts: Vec<&str> = name.split('.').collect();
        assert!(parts.len() == 2 && parts.iter().all(|part| is_snake_case(part)), "{name}");
    }
}

#[test]
fn a5_02_a4_01_prefixes_are_known_domains_and_customers() {
    for tool in contract().tools.iter().filter(|tool| !is_extension(tool.spec.name)) {
        let prefix = tool.spec.name.split('.').next().unwrap();
        assert!(domains::ALL.iter().any(|domain| domain.name == prefix) || prefix == "customers", "{prefix}");
    }
}

#[test]
fn a5_03_verbs_are_those_of_the_text() {
    for tool in contract().tools.iter().filter(|tool| !is_extension(tool.spec.name)) {
        // The text itself has one tool with another verb.
        let is_known = VERBS.contains(&verb(tool.spec.name)) || tool.spec.name == "service.book_appointment";
        assert!(is_known, "{}", tool.spec.name);
    }
}

#[test]
fn a5_07_types_are_singular_snake_case_nouns() {
    let mut types = BTreeSet::new();
    for (place, schema) in schemas().iter().filter(|(place, _)| place.ends_with("output")) {
        let resource = schema["properties"].get("items").map_or(schema, |list| &list["items"]);
        let named = resource["properties"]["type"]["enum"].as_array().unwrap_or_else(|| panic!("{place} has no type"));
        types.extend(named.iter().map(|word| word.as_str().unwrap().to_owned()));
    }
    assert_eq!(
        Vec::from_iter(types),
        [
            "adf_result",
            "advisor",
            "appointment",
            "availability",
            "consent",
            "consent_check",
            "credit_application",
            "customer",
            "deal",
            "fee",
            "fni_product",
            "import",
            "lead",
            "lender_decision",
            "part",
            "part_availability",
            "part_order",
            "quote",
            "repair_order",
            "service_code",
            "signal",
            "trade_value",
            "vehicle",
            "workshop",
        ]
    );
}

#[test]
fn a5_08_fields_are_lower_snake_case() {
    let mut fields = 0;
    for (place, schema) in schemas() {
        for (name, field) in schema["properties"].as_object().unwrap() {
            walk(name, field, &mut |name, _| {
                fields += 1;
                assert!(is_snake_case(name), "{place}: {name}");
            });
        }
    }
    assert!(fields > 300, "only {fields} were looked at");
}

#[test]
fn a5_10_enum_values_are_lower_snake_case() {
    for (place, schema) in schemas() {
        walk("", &schema, &mut |name, field| {
            for word in field["enum"].as_array().into_iter().flatten() {
                assert!(is_snake_case(word.as_str().unwrap()), "{place}: {name}: {word}");
            }
        });
    }
}

fn collect_vocabularies(fields: &[FieldSpec], found: &mut Vec<(&'static str, &'static [&'static str])>) {
    for field in fields {
        found.extend((field.vocabulary)().map(|vocabulary| (vocabulary.name, vocabulary.words)));
        collect_vocabularies((field.nested)(), found);
    }
}

#[test]
fn a5_12_every_state_that_is_sent_can_be_unknown() {
    for (place, schema) in schemas().iter().filter(|(place, _)| place.ends_with("output")) {
        let mut states = 0;
        walk("", schema, &mut |name, field| {
            let Some(words) = field["enum"].as_array() else { return };
            // The type of a resource and a unit have no `unknown`.
            if name == "unit" || words.len() == 1 {
                return;
            }
            states += 1;
            assert!(words.contains(&Value::from("unknown")), "{place}: {name}");
        });
        assert!(states > 0, "{place} has no states");
    }
    let mut vocabularies = Vec::new();
    resources().iter().for_each(|resource| collect_vocabularies(resource.fields, &mut vocabularies));
    assert!(vocabularies.len() > 12);
    for (name, words) in vocabularies.iter().filter(|(name, _)| *name != "DistanceUnit") {
        assert_eq!(words.last(), Some(&"unknown"), "{name}");
    }
}

#[test]
fn a5_12_a_state_outside_its_vocabulary_becomes_unknown() {
    assert_eq!(VehicleStatus::from_word("weird!").as_str(), "unknown");
    assert_eq!(VehicleStatus::from_word("in_transit").as_str(), "in_transit");
    assert_eq!(VehicleStatus::from_word("Available").as_str(), "unknown");
    let read = LeadStatus::read(&Value::from("weird!")).unwrap();
    let mut written = String::new();
    read.write(&mut written);
    assert_eq!(written, "\"unknown\"");
}

#[test]
fn a3_17_lists_take_a_cursor_and_no_page_number() {
    for tool in contract().tools {
        let input = tool.spec.input.to_json();
        let takes = |name: &str| input["properties"].get(name).is_some();
        let lists = ["list", "search"].contains(&verb(tool.spec.name));
        assert_eq!((takes("cursor"), takes("limit")), (lists, lists), "{}", tool.spec.name);
        assert!(!takes("offset") && !takes("page"), "{}", tool.spec.name);
    }
}

#[test]
fn a3_02_tools_declare_input_output_and_effect() {
    for tool in contract().tools {
        let spec = tool.spec;
        assert_eq!(spec.input.to_json()["type"], "object");
        assert_eq!(spec.output.to_json()["type"], "object");
        let is_stored_request = spec.name == "deals.request_trade_value";
        let is_write_verb = ["create", "update", "cancel", "import", "book"].contains(&verb(spec.name));
        let writes = is_write_verb || is_stored_request;
        assert_eq!(spec.effect == Effect::Reads, !writes, "{}", spec.name);
        assert!(spec.codes.iter().all(|code| codes().contains(code)), "{}", spec.name);
    }
}

#[test]
fn resources_share_no_id_prefix_table_tool_or_column() {
    let resources = resources();
    let mut names: Vec<String> = Vec::new();
    for resource in &resources {
        names.push(format!("prefix {}", resource.id_prefix));
        names.push(format!("table {}", resource.table.name));
        names.push(format!("collection {}", resource.collection));
        names.extend(resource.tools.iter().map(|tool| format!("tool {}", tool.spec.name)));
        names.extend(resource.table.columns.iter().map(|column| format!("{}.{}", resource.table.name, column.name)));
    }
    let distinct: BTreeSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
}

#[test]
fn a3_24_every_code_but_rate_limited_has_a_namespace() {
    let all: BTreeSet<&str> = codes().iter().map(|code| code.0).collect();
    assert_eq!(all.len(), codes().len(), "a code stands twice");
    for code in all {
        let parts: Vec<&str> = code.split('.').collect();
        assert!(parts.iter().all(|part| is_snake_case(part)), "{code}");
        assert!(parts.len() == 2 || code == "rate_limited", "{code}");
    }
}

#[test]
fn a6_07_scopes_are_per_domain_and_kind_of_access() {
    let contract = contract();
    let scopes: Vec<&str> = contract.scopes.iter().map(Scope::as_str).collect();
    assert_eq!(scopes, SCOPES);
    assert_eq!(contract.default_scope.as_str(), "amcp:inventory:read");
    for tool in &contract.tools {
        let needed: Vec<&str> = tool.spec.scope.all().map(Scope::as_str).collect();
        // An extension has no domain of its own; an import needs the scope of what it writes.
        if is_extension(tool.spec.name) {
            assert!(needed.iter().all(|scope| scope.ends_with(":write")), "{}", tool.spec.name);
            continue;
        }
        let domain = match tool.spec.name.split('.').next() {
            Some("customers") => "leads",
            Some(domain) => domain,
            None => panic!("{}", tool.spec.name),
        };
        let access = match tool.spec.effect {
            Effect::Reads => "read",
            Effect::Adds | Effect::Changes => "write",
        };
        assert_eq!(needed, [format!("amcp:{domain}:{access}")], "{}", tool.spec.name);
    }
}

#[test]
fn a4_02_a4_03_a5_05_each_domain_has_the_tools_of_its_level() {
    let contract = contract();
    let has = |name: &str| contract.tools.iter().any(|tool| tool.spec.name == name);
    for resource in ["inventory", "leads", "customers", "consent", "deals"] {
        assert!(has(&format!("{resource}.list")) && has(&format!("{resource}.get")), "{resource}");
        assert_eq!(has(&format!("{resource}.create")), has(&format!("{resource}.update")), "{resource}");
    }
    assert!(has("leads.create"));
    for (plural, one) in [
        ("appointments", "appointment"),
        ("repair_orders", "repair_order"),
        ("service_codes", "service_code"),
        ("advisors", "advisor"),
        ("workshops", "workshop"),
    ] {
        assert!(has(&format!("service.list_{plural}")) && has(&format!("service.get_{one}")), "{one}");
    }
    for (plural, one) in [
        ("products", "product"),
        ("credit_applications", "credit_application"),
        ("lender_decisions", "lender_decision"),
    ] {
        assert!(has(&format!("fni.list_{plural}")) && has(&format!("fni.get_{one}")), "{one}");
    }
    assert!(has("fni.create_credit_application") && has("fni.update_credit_application"));
    assert!(has("service.book_appointment") && has("service.update_appointment"));
    assert!(has("service.create_repair_order") && has("service.update_repair_order"));
    for verb in ["list", "get", "search", "list_orders", "get_order", "create_order", "update_order", "cancel_order"] {
        assert!(has(&format!("parts.{verb}")), "{verb}");
    }
}

const LISTS: &[&str] = &[
    "inventory.list",
    "inventory.search",
    "leads.list",
    "leads.search",
    "customers.list",
    "customers.search",
    "consent.list",
    "deals.list",
    "deals.list_fees",
    "deals.list_trade_values",
    "service.list_appointments",
    "service.list_repair_orders",
    "service.list_service_codes",
    "service.list_advisors",
    "service.list_workshops",
    "parts.list",
    "parts.search",
    "parts.list_orders",
    "fni.list_products",
    "fni.list_credit_applications",
    "fni.list_lender_decisions",
    "x_frontdesk.list_imports",
];

#[test]
fn a5_15_only_what_is_frontdesks_own_has_its_prefix() {
    let mut own = Vec::new();
    for (place, schema) in schemas() {
        assert!(!place.starts_with("x_") || is_extension(&place), "{place}");
        walk("", &schema, &mut |name, _| {
            if name.starts_with("x_") {
                own.push(format!("{place}: {name}"));
            }
        });
    }
    let lists = LISTS.iter().flat_map(|tool| {
        [
            format!("{tool} input: x_frontdesk_total"),
            format!("{tool} output: x_frontdesk_total"),
            format!("{tool} output: x_frontdesk_total_capped"),
        ]
    });
    let numbers = ["x_frontdesk_vin", "x_frontdesk_stock_number"].map(|name| format!("leads.create input: {name}"));
    let mut expected: Vec<String> = lists.chain(numbers).collect();
    own.sort();
    expected.sort();
    assert_eq!(own, expected);
}
