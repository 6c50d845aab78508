use frontdesk_contracts::automotive::contract;
use frontdesk_contracts::demo::business_data;
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::timestamp::Millis;
use serde_json::{Value, json};

fn parsed(text: &Option<String>) -> Value {
    text.as_deref().map(|t| serde_json::from_str(t).unwrap()).unwrap_or(Value::Null)
}

#[test]
fn golden() {
    let contract = contract();
    let mut out = Vec::new();
    for tool in &contract.tools {
        let s = &tool.spec;
        out.push(json!({"name": s.name, "title": s.title, "about": s.about, "input": s.input.to_json(), "output": s.output.to_json(),
            "effect": format!("{:?}", s.effect), "scope": s.scope.as_str(), "unmask": s.unmask_scope.as_ref().map(|s| s.as_str().to_owned()),
            "codes": s.codes.iter().map(|c| c.0).collect::<Vec<_>>()}));
    }
    for r in &contract.resources { out.push(json!({"template": format!("{:?}", (r.template, r.name, r.title, r.about))})); }
    for t in &contract.tables {
        let mut columns: Vec<String> = t.columns.iter().map(|c| format!("{c:?}")).collect(); columns.sort();
        let sorted = |l: &[&str]| { let mut l: Vec<String> = l.iter().map(|s| s.to_string()).collect(); l.sort(); l };
        out.push(json!({"table": t.name, "columns": columns, "unique": sorted(t.unique), "sorted": sorted(t.sorted), "filtered": sorted(t.filtered)}));
    }
    out.push(json!({"scopes": contract.scopes.iter().map(|s| s.as_str().to_owned()).collect::<Vec<_>>(), "documents": format!("{:?}", contract.documents)}));
    let mut last = 0;
    let mut new_id = |prefix: &str| { last += 1; format!("{prefix}_{last:026}") };
    for b in business_data(Millis(1_769_851_800_000), &mut new_id) {
        for step in b.steps {
            let Step::Insert { table, row, .. } = step else { panic!() };
            let mut cells: Vec<String> = row.cells.iter().map(|c| format!("{c:?}")).collect(); cells.sort();
            let mut terms: Vec<String> = row.search_terms.iter().map(|c| format!("{c:?}")).collect(); terms.sort();
            out.push(json!({"row": table.name, "id": row.id, "v": row.version, "c": row.created_at, "u": row.updated_at, "cells": cells, "terms": terms,
              "body": serde_json::from_str::<Value>(&row.body).unwrap(), "body_text": if table.name == "lead" { String::new() } else { row.body.clone() },
              "masked": parsed(&row.masked), "personal": parsed(&row.personal), "masked_text": row.masked, "personal_text": row.personal}));
        }
    }
    let text: Vec<String> = out.iter().map(|v| serde_json::to_string_pretty(v).unwrap()).collect();
    std::fs::write(std::env::var("GOLDEN").unwrap(), text.join("\n")).unwrap();
}
