//! docs/reference/automotive.md: every tool, field, vocabulary and code, generated from the declarations.

use std::fmt::Write as _;

use frontdesk_contracts::automotive::codes::CodeSpec;
use frontdesk_contracts::automotive::resource::ResourceParts;
use frontdesk_contracts::automotive::{all_codes, contract, contract_of, resources, signal};
use frontdesk_contracts::openapi;
use frontdesk_contracts::record::{FieldSpec, Vocabulary as _, VocabularySpec};
use frontdesk_engine::model::schema::{Field, Presence, Schema, TextFormat};
use frontdesk_engine::model::tool::{Effect, Tool, ToolSpec};

use crate::errors::up_to_date;
use crate::size::tokens_by_tool;

const INTRODUCTION: &str = "\
# AutomotiveMCP reference

<!-- Generated from the contract by the test `docs_reference_is_generated_from_the_declarations`; edit the resource. -->

Every tool, field, vocabulary and code of the automotive contract. Answers and arguments are JSON; the tools' own schemas
are in `tools/list`.

- Every record also has `id`, `type`, `dealership_id`, `created_at`, `updated_at` and `version`.
- Every tool takes `dealership_id`, which only tokens for several dealerships need. Lists also take `cursor` and `limit`
  (10 if absent, 100 at most). Writes also take `idempotency_key`, updates `expected_version`.
- Lists with `x_frontdesk_total: true` say in `x_frontdesk_total` how many there are on all pages. They are counted to
  10,000 at most; if there are more, it is 10000 and `x_frontdesk_total_capped` is true. A cursor does not remember it.
- An update replaces the fields it names, objects and lists as a whole. `null` clears a field that need not be there.
- Writable records take fields of vendors: `x_<vendor>_<name>` with a text of up to 500 characters, a whole number or a
  truth value, 20 at most. They are kept and answered as sent; `null` removes one. Any other unknown field is refused.
- **Personal** fields are encrypted at rest and masked or left out in lists; `redacted` names what is. **Write-only**
  fields are never answered.
";

#[test]
fn docs_reference_is_generated_from_the_declarations() {
    up_to_date("docs/reference/automotive.md", &page(&resources()));
}

#[test]
fn docs_openapi_is_generated_from_the_declarations() {
    let document = openapi::document(&contract_of(resources()), "/v1", "/token");
    up_to_date("docs/reference/openapi.json", &format!("{}\n", serde_json::to_string_pretty(&document).unwrap()));
}

pub(crate) fn page(resources: &[ResourceParts]) -> String {
    let mut page = INTRODUCTION.to_owned();
    page += "\n## Tools\n\nTokens: name, description and arguments in `tools/list`, four bytes each.\n\n";
    page += "| tool | does | scope | tokens |\n|---|---|---|---|\n";
    let tokens = tokens_by_tool();
    let write_line = |page: &mut String, spec: &ToolSpec| {
        let (name, cost) = (spec.name, tokens.get(spec.name).copied().unwrap_or_default());
        writeln!(page, "| [`{name}`](#{}) | {} | `{}` | {cost} |", anchor(name), spec.title, scopes(spec)).unwrap();
    };
    for spec in resources.iter().flat_map(|resource| &resource.tools).map(|tool| &tool.spec) {
        write_line(&mut page, spec);
    }
    let signals = signal::tools(Default::default());
    for tool in &signals {
        write_line(&mut page, &tool.spec);
    }
    let extensions: Vec<Tool> =
        contract().tools.into_iter().filter(|tool| tool.spec.name.starts_with("x_frontdesk.")).collect();
    for spec in extensions.iter().map(|tool| &tool.spec) {
        write_line(&mut page, spec);
    }
    writeln!(page, "| all {} | | | {} |", tokens.len(), tokens.values().sum::<usize>()).unwrap();
    let mut vocabularies = Vec::new();
    for resource in resources {
        write_resource(&mut page, resource);
        collect_vocabularies(resource.fields, &mut vocabularies);
    }
    write_signals(&mut page, &signals);
    let guide = "../guides/own-data";
    page += "\n## Imports\n\nTools of Frontdesk itself. An import adds many records at once: ";
    writeln!(page, "see [the guide]({guide}.md).").unwrap();
    for spec in extensions.iter().map(|tool| &tool.spec) {
        write_tool(&mut page, spec);
    }
    page += "\n## Vocabularies\n\n| vocabulary | words |\n|---|---|\n";
    for VocabularySpec { name, words } in vocabularies {
        writeln!(page, "| {name} | `{}` |", words.join("` `")).unwrap();
    }
    page += "\n## Codes\n\nThe page about errors says where each of them stands in an answer.\n\n";
    page += "| code | means | what to do |\n|---|---|---|\n";
    for CodeSpec { code, means, next } in all_codes(resources) {
        writeln!(page, "| `{}` | {means} | {next} |", code.0).unwrap();
    }
    page
}

fn write_signals(page: &mut String, tools: &[Tool]) {
    *page += "\n## signal\n\nFigures that are computed from the dealership's records when they are read. ";
    *page +=
        "Groups of fewer records than `signals.min_group` are suppressed, never alone; groups and totals are never in ";
    *page += "one answer.\n\n";
    for template in signal::templates() {
        writeln!(page, "- `{}`: {}", template.template, template.about).unwrap();
    }
    *page += "\n| metric | unit | groups | is |\n|---|---|---|---|\n";
    for metric in signal::METRICS {
        let dimensions: Vec<String> = metric.dimensions().iter().map(|one| format!("`{}`", one.as_str())).collect();
        let (name, unit) = (metric.as_str(), metric.unit().as_str());
        writeln!(page, "| `{name}` | {unit} | {} | {} |", dimensions.join(", "), metric.definition()).unwrap();
    }
    for tool in tools {
        write_tool(page, &tool.spec);
    }
}

fn anchor(heading: &str) -> String {
    heading.replace('.', "")
}

fn write_resource(page: &mut String, resource: &ResourceParts) {
    let name = resource.table.name;
    write!(page, "\n## {name}\n\n").unwrap();
    for template in &resource.templates {
        writeln!(page, "- `{}`: {}", template.template, template.about).unwrap();
    }
    *page += "\n| field | type | what it is | set by |\n|---|---|---|---|\n";
    write_fields(page, "", resource.fields);
    for tool in &resource.tools {
        write_tool(page, &tool.spec);
    }
}

fn write_fields(page: &mut String, holder: &str, fields: &[FieldSpec]) {
    for field in fields {
        let path = format!("{holder}{}", field.name);
        let required = if field.required { "" } else { ", optional" };
        let default = if field.has_default && field.create { " Has a default." } else { "" };
        let kind = if field.write_only {
            " **Write-only.**"
        } else if field.sealed || (field.maskable && (field.nested)().is_empty()) {
            " **Personal.**"
        } else {
            ""
        };
        let set_by = match (holder.is_empty(), field.create, field.update) {
            (false, ..) => "",
            (true, true, true) => "create, update",
            (true, true, false) => "create",
            (true, false, true) => "update",
            (true, false, false) => "the server",
        };
        let type_name = match (field.vocabulary)() {
            Some(vocabulary) => {
                let list = if let Schema::List { max, .. } = (field.output)() { Some(max) } else { None };
                list.map_or(vocabulary.name.to_owned(), |max| format!("list of {}, at most {max}", vocabulary.name))
            }
            None => match (field.reference)() {
                Some(reference) => format!("id of a {}", reference.noun),
                None => type_name(&(field.output)()),
            },
        };
        writeln!(page, "| `{path}` | {type_name}{required} | {}{default}{kind} | {} |", field.about, set_by).unwrap();
        write_fields(page, &format!("{path}."), (field.nested)());
    }
}

fn write_tool(page: &mut String, spec: &ToolSpec) {
    write!(page, "\n### {}\n\n{} Needs `{}`.", spec.name, spec.about, scopes(spec)).unwrap();
    *page += match spec.effect {
        Effect::Reads => "",
        Effect::Adds => " Adds a record.",
        Effect::Changes => " Changes a record.",
    };
    *page += "\n";
    let common = ["dealership_id", "cursor", "limit", "idempotency_key", "expected_version"];
    let own: Vec<&Field> = spec.input.fields().iter().filter(|field| !common.contains(&field.name)).collect();
    if !own.is_empty() {
        *page += "\n| argument | type | what it is |\n|---|---|---|\n";
    }
    for Field { name, about, schema, presence } in own {
        let required = if *presence == Presence::Required { ", **required**" } else { "" };
        writeln!(page, "| `{name}` | {}{required} | {about} |", type_name(schema)).unwrap();
    }
    if !spec.codes.is_empty() {
        let codes: Vec<String> = spec.codes.iter().map(|code| format!("`{}`", code.0)).collect();
        writeln!(page, "\nCodes of its own: {}.", codes.join(", ")).unwrap();
    }
}

fn scopes(spec: &ToolSpec) -> String {
    spec.scope.all().map(frontdesk_engine::Scope::as_str).collect::<Vec<_>>().join("` or `")
}

fn type_name(schema: &Schema) -> String {
    match schema {
        Schema::Object(fields) | Schema::Extended { fields, .. } => {
            let names: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
            format!("object of {}", names.join(", "))
        }
        Schema::Map(_) | Schema::AnyObject => "object".to_owned(),
        Schema::List { of, max, .. } => format!("list of {}, at most {max}", type_name(of)),
        Schema::Text(TextFormat::Free { max, .. }) => format!("text, at most {max}"),
        Schema::Text(TextFormat::OneOf(words)) => format!("one of `{}`", words.join("` `")),
        Schema::Text(TextFormat::Timestamp) => "time (RFC 3339)".to_owned(),
        Schema::Text(TextFormat::Email) => "e-mail address".to_owned(),
        Schema::Text(TextFormat::Phone) => "E.164 number".to_owned(),
        Schema::Text(TextFormat::Currency) => "ISO 4217 code".to_owned(),
        Schema::Text(TextFormat::Date) => "day (YYYY-MM-DD)".to_owned(),
        Schema::Text(TextFormat::HttpsUrl) => "https URL".to_owned(),
        Schema::Text(TextFormat::Matching(pattern)) => format!("text like `{}`", pattern.as_str()),
        Schema::Text(TextFormat::Pattern(form)) => format!("text like `{}`", form.pattern),
        Schema::Number { min, max } => format!("number, {min} to {max}"),
        Schema::MinorUnits { .. } => "whole number of minor units".to_owned(),
        Schema::Integer { min, max: 9_007_199_254_740_991 } => format!("whole number from {min}"),
        Schema::Integer { min, max } => format!("whole number, {min} to {max}"),
        Schema::Boolean => "true or false".to_owned(),
        Schema::Nullable(of) | Schema::Clearable(of) => format!("{}, or null", type_name(of)),
        Schema::AnyOf { expected, .. } => (*expected).to_owned(),
    }
}

fn collect_vocabularies(fields: &[FieldSpec], found: &mut Vec<VocabularySpec>) {
    for field in fields {
        if let Some(vocabulary) = (field.vocabulary)().filter(|vocabulary| !found.contains(vocabulary)) {
            found.push(vocabulary);
        }
        collect_vocabularies((field.nested)(), found);
    }
}
