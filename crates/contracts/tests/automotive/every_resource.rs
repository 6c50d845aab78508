//! What must hold for every resource, generated from the declarations: a record with a canary in every personal field is
//! stored, listed, read and changed. A resource that is added later is covered without a line here.

use frontdesk_contracts::automotive::resource::ResourceParts;
use frontdesk_contracts::automotive::{contract, resources};
use frontdesk_contracts::record::FieldSpec;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::schema::{Schema, TextFormat};
use frontdesk_engine::model::table::StoredRow;
use frontdesk_engine::model::tool::{Effect, ToolSpec};
use frontdesk_engine::{Fault, Scope, TenantId};
use serde_json::{Map, Value, json};

use super::support::{NOW, TestDesk};

const TENANT: &str = "dlr_lakeside";
const OTHER: &str = "dlr_summit";
const VENDOR_FIELD: &str = "x_acme_note";

/// A record of a resource with every field that there is.
struct Sample {
    resource: ResourceParts,
    id: String,
    /// Where something personal is, and what it is if it is a text of its own.
    personal: Vec<(String, Option<String>)>,
    /// What must never be answered.
    secrets: Vec<String>,
    /// The answer to its creation for who may not read it.
    receipt: Value,
}

/// Stores one of each resource, newer than all others.
fn stored(desk: &TestDesk) -> Vec<Sample> {
    let tenant = TenantId::parse(TENANT).unwrap();
    let samples = resources().into_iter().map(|resource| {
        let id = format!("{}_01zzzzzzzzzzzzzzzzzzzzzzzz", resource.id_prefix);
        let mut sample = Sample { resource, id, personal: Vec::new(), secrets: Vec::new(), receipt: Value::Null };
        let (mut open, mut secret) = (Map::new(), Map::new());
        for field in sample.resource.fields {
            let mut found = Vec::new();
            let value = full(field, field.name, false, &mut found);
            if field.write_only {
                sample.secrets.extend(found.into_iter().filter_map(|(_, text)| text));
                secret.insert(field.name.to_owned(), value);
            } else {
                sample.personal.extend(found);
                open.insert(field.name.to_owned(), value);
            }
        }
        if sample.resource.tools.iter().any(|tool| tool.spec.effect != Effect::Reads) {
            open.insert(VENDOR_FIELD.to_owned(), json!("Zz vendor"));
        }
        let row = StoredRow {
            id: sample.id.clone(),
            version: 1,
            created_at: NOW.0 + 1000,
            body: Value::Object(open).to_string(),
            masked: None,
            personal: None,
            secret: Some(Value::Object(secret).to_string()),
        };
        let (row, answer) = (sample.resource.render_row)(&tenant, &row).unwrap();
        sample.receipt = serde_json::from_str(&answer.masked.unwrap()).unwrap();
        let on_duplicate = Fault::internal("the sample exists already");
        desk.store.seed(TENANT, vec![Step::Insert { table: sample.resource.table, row, on_duplicate }]);
        sample
    });
    samples.collect()
}

/// A value for a field, with a canary where it is personal.
fn full(field: &FieldSpec, path: &str, sealed: bool, found: &mut Vec<(String, Option<String>)>) -> Value {
    let sealed = sealed || field.sealed || field.write_only;
    let inner = (field.nested)();
    let value = if inner.is_empty() {
        let is_personal = sealed || field.maskable;
        let (value, canary) = leaf(&(field.input)(), is_personal.then_some(path));
        if is_personal {
            found.push((path.to_owned(), canary));
        }
        value
    } else {
        let members =
            inner.iter().map(|one| (one.name.to_owned(), full(one, &format!("{path}.{}", one.name), sealed, found)));
        Value::Object(members.collect())
    };
    let is_list = matches!((field.output)(), Schema::List { .. });
    if is_list { json!([value]) } else { value }
}

fn leaf(schema: &Schema, canary: Option<&str>) -> (Value, Option<String>) {
    let words = |path: &str| format!("Zz {}", path.replace(['.', '_'], " "));
    let text = match schema {
        Schema::List { of, .. } | Schema::Nullable(of) | Schema::Clearable(of) => return leaf(of, canary),
        Schema::Text(TextFormat::OneOf(words)) => return (json!(words[0]), None),
        Schema::Text(TextFormat::Timestamp) => return (json!("2026-02-20T15:00:00Z"), None),
        Schema::Text(TextFormat::Currency) => return (json!("USD"), None),
        Schema::Integer { min, .. } => return (json!(min), None),
        Schema::MinorUnits { .. } => return (json!(100), None),
        Schema::Boolean => return (json!(true), None),
        Schema::Text(TextFormat::Date) => return (json!("2026-02-20"), None),
        Schema::Text(TextFormat::Email) => "zz.canary@zz-canary.example".to_owned(),
        Schema::Text(TextFormat::Phone) => "+15125550199".to_owned(),
        Schema::Text(TextFormat::Free { max, .. }) => match canary {
            // Too short for a canary of its own.
            Some(path) if *max >= 8 => words(path).chars().take(*max).collect(),
            Some(_) | None => return (json!("zz"), None),
        },
        Schema::Text(TextFormat::Pattern(pattern)) => {
            let number = ["900-71-4321", "DE00123456789"].into_iter().find(|number| (pattern.fits)(number));
            number.unwrap_or_else(|| panic!("{canary:?}: no sample of {schema:?}")).to_owned()
        }
        Schema::Text(TextFormat::HttpsUrl | TextFormat::Matching(_))
        | Schema::Object(_)
        | Schema::Extended { .. }
        | Schema::Map(_)
        | Schema::AnyObject
        | Schema::Number { .. }
        | Schema::AnyOf { .. } => panic!("{canary:?}: no sample of {schema:?}"),
    };
    (json!(text), canary.map(|_| text))
}

impl Sample {
    /// The tools that answer pages.
    fn lists(&self) -> Vec<&ToolSpec> {
        let is_list = |spec: &&ToolSpec| spec.input.fields().iter().any(|field| field.name == "cursor");
        self.resource.tools.iter().map(|tool| &tool.spec).filter(is_list).collect()
    }

    fn get(&self) -> &ToolSpec {
        let is_get =
            |spec: &&ToolSpec| spec.effect == Effect::Reads && spec.codes.first() == Some(&self.resource.not_found);
        self.resource.tools.iter().map(|tool| &tool.spec).find(is_get).unwrap()
    }

    /// What of it a masked answer must not contain.
    fn canaries(&self) -> impl Iterator<Item = &String> {
        self.personal.iter().filter_map(|(_, text)| text.as_ref()).chain(&self.secrets)
    }

    fn is_personal(&self) -> bool {
        !self.personal.is_empty()
    }
}

#[test]
fn a6_12_no_list_of_any_resource_shows_a_personal_field() {
    let desk = TestDesk::open();
    let samples = stored(&desk);
    let mut fields = 0;
    for sample in &samples {
        for list in sample.lists() {
            let answer = desk.call_ok(sample.resource.domain.read, list.name, json!({"limit": 1}));
            let item = &answer["items"][0];
            assert_eq!(item["id"], json!(sample.id), "{}", list.name);
            let text = item.to_string();
            for canary in sample.canaries() {
                assert!(!text.contains(canary.as_str()), "{}: {canary} in {text}", list.name);
            }
            // Every one of them is said to be masked, by its own name or by that of what holds it.
            let redacted: Vec<&str> =
                item["redacted"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect();
            for (path, _) in &sample.personal {
                let is_named = redacted.iter().any(|name| path == name || path.starts_with(&format!("{name}.")));
                assert!(is_named, "{}: {path} is not in {redacted:?}", list.name);
                fields += 1;
            }
            // What vendors add may be anything, so it is as personal as the rest.
            let is_shown = item.get(VENDOR_FIELD).is_some();
            assert!(!(is_shown && sample.is_personal()), "{}", list.name);
        }
    }
    assert!(fields > 60, "{fields}");
}

#[test]
fn a6_12_one_record_of_any_resource_is_whole_and_has_no_secret() {
    let desk = TestDesk::open();
    let mut secrets = 0;
    for sample in stored(&desk) {
        let get = sample.get();
        let text = desk.call_ok(sample.resource.domain.read, get.name, json!({"id": sample.id})).to_string();
        for canary in sample.personal.iter().filter_map(|(_, text)| text.as_ref()) {
            assert!(text.contains(canary.as_str()), "{}: {canary} is not in {text}", get.name);
        }
        for secret in &sample.secrets {
            assert!(!text.contains(secret.as_str()), "{}: {secret}", get.name);
            secrets += 1;
        }
        // At rest, nothing personal is in the open parts of the row.
        let row = desk.store.row(TENANT, sample.resource.table, &sample.id).unwrap();
        let open = format!("{}{:?}", row.body, row.masked);
        for canary in sample.canaries() {
            assert!(!open.contains(canary.as_str()), "{}: {canary} in {open}", get.name);
        }
    }
    assert!(secrets > 0);
}

#[test]
fn a6_10_no_receipt_of_any_resource_shows_a_personal_field() {
    let desk = TestDesk::open();
    for sample in stored(&desk) {
        let (name, text) = (sample.resource.table.name, sample.receipt.to_string());
        for canary in sample.canaries().map(String::as_str).chain(["Zz vendor"]) {
            assert!(!text.contains(canary), "{name}: {canary} in {text}");
        }
        let shown = sample.resource.fields.iter().filter(|field| field.is_in_receipt()).map(|field| field.name);
        let common = ["id", "type", "dealership_id", "created_at", "updated_at", "version", "redacted"];
        let allowed: Vec<&str> = common.into_iter().chain(shown).collect();
        for member in sample.receipt.as_object().unwrap().keys() {
            assert!(allowed.contains(&member.as_str()), "{name}: {member}");
        }
        let redacted = sample.receipt["redacted"].as_array().unwrap();
        for field in sample.resource.fields.iter().filter(|field| !field.is_in_receipt() && !field.write_only) {
            assert!(redacted.contains(&json!(field.name)), "{name}: {} is not in {redacted:?}", field.name);
        }
    }
}

#[test]
fn a5_14_an_update_of_any_resource_keeps_vendor_fields() {
    let desk = TestDesk::open();
    let mut changed = Vec::new();
    for sample in stored(&desk) {
        let updates = sample.resource.tools.iter().map(|tool| &tool.spec).filter(|spec| spec.name.contains(".update"));
        for update in updates {
            let change = json!({"id": sample.id, VENDOR_FIELD: "Zz changed"});
            let (failed, answer) = desk.call(sample.resource.domain.write, update.name, change);
            let text = answer.to_string();
            for canary in sample.canaries().map(String::as_str).chain(["Zz changed", "Zz vendor"]) {
                assert!(!text.contains(canary), "{}: {canary} in {text}", update.name);
            }
            // Some have rules that a made-up record breaks: what it refers to does not exist.
            if failed {
                continue;
            }
            changed.push(update.name);
            let whole = desk.call_ok(sample.resource.domain.read, sample.get().name, json!({"id": sample.id}));
            assert_eq!(whole[VENDOR_FIELD], json!("Zz changed"), "{}", update.name);
        }
    }
    assert!(changed.len() >= 3, "{changed:?}");
}

#[test]
fn a3_10_a_token_of_a_group_reads_one_dealership_at_a_time() {
    let desk = TestDesk::open();
    let scopes = contract().scopes.iter().map(Scope::as_str).collect::<Vec<_>>().join(" ");
    let group = format!("{TENANT},{OTHER}@{}/{scopes}", desk.desk.now().seconds());
    for sample in stored(&desk) {
        let get = sample.get().name;
        let code = |arguments: Value| desk.call_as(&group, get, arguments).1["error"]["code"].clone();
        assert_eq!(code(json!({"id": sample.id})), json!("dealership.required"), "{get}");
        let not_found = json!(sample.resource.not_found.0);
        assert_eq!(code(json!({"id": sample.id, "dealership_id": OTHER})), not_found, "{get}");
        let (failed, own) = desk.call_as(&group, get, json!({"id": sample.id, "dealership_id": TENANT}));
        assert!(!failed && own["dealership_id"] == json!(TENANT), "{get}: {own}");
        for list in sample.lists() {
            let (failed, page) = desk.call_as(&group, list.name, json!({"dealership_id": OTHER, "limit": 100}));
            assert!(!failed, "{page}");
            let items = page["items"].as_array().unwrap();
            assert!(items.iter().all(|item| item["dealership_id"] == json!(OTHER)), "{}", list.name);
        }
    }
}
