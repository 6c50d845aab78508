//! docs/errors.md: every code with its meaning, generated from the contract.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use frontdesk_contracts::automotive::codes::CodeSpec;
use frontdesk_contracts::automotive::{all_codes, contract, resources};
use frontdesk_engine::model::contract::{CredentialPresence, RequestTarget};
use frontdesk_engine::{Fault, FaultKind, Reply};
use serde_json::Value;

use crate::failures::{LEGACY, failure, kinds};

const INTRODUCTION: &str = "\
# Errors

<!-- Generated from the contract by the test `docs_errors_md_is_generated_from_the_contract`; edit codes/descriptions.rs, or the resource. -->

Every error at a contract's endpoint has a stable code to branch on, a message for people, and `details.retryable`:
whether the same call can safely be sent again and may succeed later. Codes are never renamed and never reused.

```json
{\"error\":{\"code\":\"leads.not_found\",\"message\":\"No lead with this id exists here. An id looks like led_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a lead is one. Find it with leads.list.\",\"details\":{\"retryable\":false}}}
```

| request | where this object is |
|---|---|
| a tool call | the structured content of a result with `isError` |
| another JSON-RPC request | the `data` of a JSON-RPC error |
| HTTP errors | the body |

`details.errors` lists invalid arguments, each with `pointer`, `keyword` and what is `expected`. The message names the
first three of them with their reasons, for clients that show nothing else. An unknown argument or tool is answered with
the nearest known name. Values and names that were sent are never repeated. The last two columns below show the place
and the number of each code, in protocol version 2025-11-25.

Other endpoints have other errors. `/token` and `/revoke` answer as OAuth defines it, `{\"error\":\"invalid_client\",...}`. A
request that is refused before it reaches a contract or the authorization server, such as an unknown path or a form that
is too large, has the code `request.refused` and a message without `details`; the HTTP status tells the kind.

## AutomotiveMCP

| code | means | what to do | retryable | in a tool call | elsewhere |
|---|---|---|---|---|---|
";

const TOOLS: &str = "
A tool answers with the codes of its own domain and with those that concern every call.

| tool | its own codes |
|---|---|
";

#[test]
fn docs_errors_md_is_generated_from_the_contract() {
    let found = answers();
    let mut page = INTRODUCTION.to_owned();
    for CodeSpec { code, means, next } in all_codes(&resources()) {
        let [tool, elsewhere] = found.get(code.0).unwrap_or_else(|| panic!("nothing answers with {}", code.0));
        let retryable = if tool.retryable { "yes" } else { "no" };
        page += &format!("| `{}` | {means} | {next} | {retryable} | {} | {} |\n", code.0, tool.place, elsewhere.place);
    }
    page += TOOLS;
    for tool in contract().tools.iter().filter(|tool| !tool.spec.codes.is_empty()) {
        let own: Vec<String> = tool.spec.codes.iter().map(|code| format!("`{}`", code.0)).collect();
        page += &format!("| `{}` | {} |\n", tool.spec.name, own.join(", "));
    }
    up_to_date("docs/errors.md", &page);
}

struct Answer {
    retryable: bool,
    place: String,
}

/// The actual answer for each code, in a tool call and elsewhere.
fn answers() -> BTreeMap<&'static str, [Answer; 2]> {
    let domain = all_codes(&resources()).into_iter().map(|spec| FaultKind::Domain(spec.code));
    let contract = contract();
    let tools: Vec<&str> = contract.tools.iter().map(|tool| tool.spec.name).chain(["other.get"]).collect();
    let mut found = BTreeMap::new();
    // Fault kinds first; a code that no kind answers with is a domain rule.
    for kind in kinds().into_iter().filter(|kind| !matches!(kind, FaultKind::Domain(_))).chain(domain) {
        for tool in &tools {
            let fault = Fault::new(kind, "M");
            let reply = failure(&fault, RequestTarget::Tool(tool), Some(LEGACY), CredentialPresence::Present);
            let elsewhere = failure(&fault, RequestTarget::Method, Some(LEGACY), CredentialPresence::Present);
            found.entry(reply.code.unwrap()).or_insert_with(|| [answer(&reply), answer(&elsewhere)]);
        }
    }
    found
}

fn answer(reply: &Reply) -> Answer {
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    let number = body.pointer("/error/code").and_then(Value::as_i64);
    let (error, place) = match (number, reply.status) {
        (Some(number), 200) => (&body["error"]["data"], format!("JSON-RPC {number}")),
        (Some(number), status) => (&body["error"]["data"], format!("JSON-RPC {number}, HTTP {status}")),
        (None, 200) => (&body["result"]["structuredContent"], "result".to_owned()),
        (None, status) => (&body, format!("HTTP {status}")),
    };
    let retryable = error.pointer("/error/details/retryable").and_then(Value::as_bool);
    Answer { retryable: retryable.unwrap_or_else(|| panic!("{body}")), place }
}

/// Writes an outdated file before the test fails, so that the change can be reviewed and the second run passes.
pub(crate) fn up_to_date(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if fs::read_to_string(&file).unwrap_or_default() != text {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        assert_eq!("stale", "up to date", "{path} was out of date and has been regenerated; review and commit it");
    }
}
