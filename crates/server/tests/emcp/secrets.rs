//! What must never be seen: canaries in every column that nobody may read, secrets of callers, and what is written down.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::published::taken_by;
use crate::stage::{Caller, ROOMY, SECRET, Stage, TOKENS, TRACE, calling, fill, message};
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::http_client::HttpResponse;

const CANARY: &str = "canary";

/// The columns of texts that may be read, by table; whatever is not here gets a canary.
const READABLE: &[(&str, &[&str])] = &[
    ("evo_site_content", &["type", "pagetitle", "longtitle", "description", "alias"]),
    ("evo_site_tmplvars", &["name", "caption", "description", "type", "default_text", "display", "elements"]),
    ("evo_site_tmplvar_contentvalues", &["value"]),
    ("evo_site_templates", &["templatename", "description", "icon"]),
    ("evo_site_snippets", &["name", "description"]),
    ("evo_site_plugins", &["name", "description"]),
    ("evo_site_modules", &["name", "description"]),
    ("evo_categories", &["category"]),
    ("evo_users", &["username"]),
    ("evo_user_attributes", &["fullname", "email", "phone", "mobilephone"]),
    ("evo_user_roles", &["name", "description"]),
    ("evo_permissions", &["name"]),
    ("evo_permissions_groups", &["name"]),
    ("evo_role_permissions", &["permission"]),
    ("evo_tags", &["name"]),
];

const MODELS: [&str; 13] = [
    "SiteTemplate",
    "SiteTmplvar",
    "SiteTmplvarContentvalue",
    "SiteSnippet",
    "SitePlugin",
    "SiteModule",
    "Category",
    "User",
    "UserAttribute",
    "UserRole",
    "Permissions",
    "PermissionsGroups",
    "RolePermissions",
];

const OPERATORS: [&str; 13] =
    ["=", "!=", ">", ">=", "<", "<=", "in", "not_in", "like", "like-l", "like-r", "null", "!null"];

/// Puts a canary into every text that nobody may read, and says which columns these are.
fn hide_canaries(folder: &TestFolder) -> BTreeMap<String, Vec<String>> {
    let database = rusqlite::Connection::open(folder.join("site.sqlite")).unwrap();
    // A module and a plugin, so that their code is there to be kept secret.
    for table in ["evo_site_plugins", "evo_site_modules"] {
        database.execute_batch(&format!("INSERT INTO {table} (id, name) VALUES (1, 'One')")).unwrap();
    }
    let mut tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut hidden = BTreeMap::new();
    for table in tables.iter().filter(|table| table.starts_with("evo_")) {
        let mut columns = database.prepare(&format!("SELECT name, type FROM pragma_table_info('{table}')")).unwrap();
        let columns: Vec<(String, String)> =
            columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
        let readable = READABLE.iter().find(|(known, _)| known == table).map_or(&[][..], |(_, columns)| columns);
        for (column, kind) in columns {
            let kind = kind.to_lowercase();
            let is_text = kind.contains("char") || kind.contains("text");
            if is_text && !readable.contains(&column.as_str()) {
                let text = format!("UPDATE {table} SET \"{column}\" = '{CANARY}-{column}-' || rowid");
                database.execute_batch(&text).unwrap();
                hidden.entry(table.clone()).or_insert_with(Vec::new).push(column);
            }
        }
    }
    hidden
}

fn silent(what: &str, text: &str) {
    if let Some(place) = text.find(CANARY) {
        let from = text[..place].char_indices().rev().nth(80).map_or(0, |(at, _)| at);
        panic!("{what}: {}", &text[from..place + CANARY.len()]);
    }
}

fn silent_answer(what: &str, response: &HttpResponse) {
    silent(what, response.text());
    for (name, value) in &response.headers {
        silent(&format!("{what}: {name}"), value);
    }
}

/// Asks this, and hears no canary. Whether it was answered.
async fn asked(agent: &mut Caller, tool: &str, arguments: Value) -> bool {
    let what = format!("{tool} {arguments}");
    let response = agent.post(calling(tool, arguments)).await;
    assert_eq!(response.status, 200, "{what}: {}", response.text());
    silent_answer(&what, &response);
    response.json().get("result").is_some()
}

#[tokio::test]
async fn e_41_no_query_shows_hidden_data_in_answers_log_or_audit() {
    let folder = TestFolder::new();
    fill(&folder, "");
    let hidden = hide_canaries(&folder);
    assert_eq!(hidden.values().map(Vec::len).sum::<usize>(), 40, "{hidden:?}");
    for secret in ["password", "cachepwd", "verified_key", "refresh_token", "access_token"] {
        assert!(hidden["evo_users"].iter().any(|column| column == secret), "{secret}");
    }
    assert!(hidden["evo_user_attributes"].iter().any(|column| column == "sessionid"));
    let mount = format!("[[mount]]\ncontract = \"emcp\"\ndatabase = \"site.sqlite\"\n{TOKENS}{ROOMY}");
    let mut stage = Stage::serving(folder, &mount);
    let mut agent = stage.agent();
    let (mut answered, mut refused) = (0, 0);
    let mut count = |was_answered: bool| match was_answered {
        true => answered += 1,
        false => refused += 1,
    };
    // Everything that may be seen, in full.
    for model in MODELS {
        count(asked(&mut agent, "evo.model.list", json!({"model": model, "limit": 100})).await);
        count(asked(&mut agent, "evo.model.get", json!({"model": model, "id": 1})).await);
    }
    for tool in ["search", "root_tree", "descendants", "ancestors", "children", "siblings", "neighbors"] {
        let arguments = json!({"id": 248, "depth": 6, "limit": 100, "with_tvs": ["price:d", "author:d", "tags:d"]});
        let tool = format!("evo.content.{tool}");
        count(asked(&mut agent, &tool, taken_by(&tool, arguments)).await);
    }
    for tool in ["prev_siblings", "next_siblings", "children_range", "siblings_range"] {
        let arguments = json!({"id": 248, "from": 0, "limit": 100, "with_tvs": ["image:d"]});
        let tool = format!("evo.content.{tool}");
        count(asked(&mut agent, &tool, taken_by(&tool, arguments)).await);
    }
    // Every hidden column by every name it could have, wherever a name can stand.
    for (table, columns) in &hidden {
        for column in columns {
            let short = table.trim_start_matches("evo_");
            for name in
                [column.clone(), format!("{short}.{column}"), format!("{table}.{column}"), column.to_uppercase()]
            {
                for model in MODELS {
                    let order = json!({"model": model, "limit": 100, "order_by": name});
                    count(asked(&mut agent, "evo.model.list", order).await);
                }
                let shown = json!({"id": 1, "with_tvs": [name]});
                count(asked(&mut agent, "evo.content.get", shown).await);
                let order = json!({"limit": 100, "order_by": name, "tv_order": [{"tv": name}]});
                count(asked(&mut agent, "evo.content.search", order).await);
            }
            for op in OPERATORS {
                let filters = json!({"where": [{"field": column, "op": op, "value": "c"}]});
                count(
                    asked(&mut agent, "evo.model.list", json!({"model": "User", "limit": 9, "filters": filters})).await,
                );
                let filter = json!([{"tv": column, "op": op, "value": "c"}]);
                count(asked(&mut agent, "evo.content.search", json!({"limit": 9, "tv_filters": filter})).await);
            }
        }
    }
    assert!(answered >= 37 && refused > 1000, "{answered} answered, {refused} refused");
    silent("the log", &stage.desk.logged("evo.content.search"));
    silent("the audit", &exported(&stage, answered + refused).await);
}

/// The audit, once so many calls are in it.
async fn exported(stage: &Stage, calls: usize) -> String {
    let until = Instant::now() + Duration::from_secs(90);
    loop {
        let said = stage.command(&["audit", "export"]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        if said.out.lines().filter(|line| line.contains("\"emcp\"")).count() >= calls {
            return said.out;
        }
        assert!(Instant::now() < until, "not all calls were recorded");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn e_66_every_call_leaves_a_log_line_without_secrets() {
    let mut stage = Stage::open();
    let mut agent = stage.agent();
    agent
        .ask("evo.content.search", json!({"limit": 3, "tv_filters": [{"tv": "author", "op": "=", "value": "zebra"}]}))
        .await;
    agent.ask("evo.content.get", json!({"id": 1})).await;
    agent.refusal("evo.content.get", json!({"id": "zebra"})).await;
    agent.post(message("tools/list", json!({"cursor": null}))).await;
    let weak = stage.caller("weak", json!("mcp:read")).post(calling("evo.content.get", json!({"id": 7}))).await;
    assert_eq!(weak.status, 403);
    let denied = agent.post(calling("evo.write.publish", json!({"password": "zebra"}))).await;
    assert_eq!(denied.status, 403);
    let mut dispatch = stage.agent().at("/api/v1/mcp/content/dispatch");
    dispatch.send("POST", &[("idempotency-key", "zebra-key")], message("ping", json!({}))).await;
    // Seven calls, and the beginning and the end of a task, which are written sooner than the calls.
    let text = exported(&stage, 9).await;
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ours = lines.iter().filter(|line| line["contract"] == json!("emcp"));
    // What becomes of a task is recorded with the task, beside the call.
    let (tasks, calls): (Vec<&Value>, Vec<&Value>) = ours.partition(|line| line["method"] == json!("dispatch"));
    let tasks: Vec<&str> = tasks.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert_eq!(tasks, ["begun", "completed"]);
    let short = |line: &&Value| {
        let word = |name: &str| line[name].as_str().unwrap_or("-").to_owned();
        assert_eq!(line["trace"], json!(TRACE), "{line}");
        assert!(line["micros"].as_u64().is_some(), "{line}");
        assert!(line["at"].as_str().unwrap().ends_with('Z'));
        assert_eq!(line["tenant"], json!("site"), "{line}");
        [word("client"), word("method"), word("tool"), word("outcome"), line["status"].to_string()].join(" ")
    };
    let mut seen: Vec<String> = calls.iter().map(short).collect();
    seen.sort();
    assert_eq!(
        seen,
        [
            "jwt:site:agent ping - ok 200",
            "jwt:site:agent tools/call - tool_denied 403",
            "jwt:site:agent tools/call evo.content.get invalid_argument 200",
            "jwt:site:agent tools/call evo.content.get ok 200",
            "jwt:site:agent tools/call evo.content.search ok 200",
            "jwt:site:agent tools/list - ok 200",
            "jwt:site:weak tools/call evo.content.get forbidden 403",
        ]
    );
    let log = stage.desk.logged("jwt:site:weak");
    for secret in ["zebra", SECRET, agent.token.as_str(), agent.token.rsplit('.').next().unwrap(), "Bearer"] {
        assert!(!text.contains(secret) && !log.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn e_63_the_site_file_is_unchanged_after_every_tool() {
    let stage = Stage::open();
    let file = stage.folder.join("site.sqlite");
    let (before, made) = (fs::read(&file).unwrap(), fs::metadata(&file).unwrap().modified().unwrap());
    let mut agent = stage.agent();
    let own = json!({"id": 248, "from": 0, "model": "User", "limit": 5});
    for tool in agent.post(message("tools/list", json!({}))).await.json()["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        agent.ask(name, taken_by(name, own.clone())).await;
    }
    for tool in ["evo.write.publish", "evo.write.content.create", "evo.write."] {
        assert_eq!(agent.post(calling(tool, json!({"id": 1}))).await.status, 403, "{tool}");
    }
    let text = "x'; UPDATE evo_site_content SET pagetitle = 'x'; --";
    let filter = json!({"limit": 5, "tv_filters": [{"tv": "author", "op": "like", "value": text.replace(';', " ")}]});
    assert_eq!(agent.ids("evo.content.search", filter).await, "");
    assert!(fs::read(&file).unwrap() == before, "the site's file has other bytes than before");
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), made);
    let beside: Vec<String> = fs::read_dir(stage.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("site.sqlite"))
        .collect();
    assert_eq!(beside, ["site.sqlite"]);
    // Even where the operator lets them be called there is nothing to call.
    let enabled = Stage::with(&format!("enable_write_tools = true\n{ROOMY}"));
    let answer = enabled.agent().post(calling("evo.write.publish", json!({"id": 1}))).await;
    assert_eq!((answer.status, answer.json()["error"]["code"].clone()), (200, json!(-32601)));
}

#[tokio::test]
async fn e_66_a_refusal_is_recorded_with_its_site_and_its_tool() {
    let stage = Stage::with(
        "deny_tools = [\"evo.model.*\"]\n[mount.limits]\nper_minute = 3\n[mount.scope_map]\n\
         \"mcp:call\" = [\"tools/call\"]\n\"mcp:read\" = [\"ping\", \"tools/list\"]\n",
    );
    let mut agent = stage.agent();
    let get = |id: Value| calling("evo.content.get", json!({"id": id}));
    let statuses = [
        agent.post(message("ping", json!({}))).await.status,
        agent.post(message("tools/list", json!({}))).await.status,
        agent.post(calling("evo.model.list", json!({"model": "User", "limit": 1}))).await.status,
        agent.post(get(json!("x"))).await.status,
        stage.caller("weak", json!("mcp:read")).post(get(json!(1))).await.status,
        agent.post(get(json!(1))).await.status,
        agent.post(get(json!(1))).await.status,
    ];
    assert_eq!(statuses, [200, 200, 403, 200, 403, 200, 429]);
    let text = exported(&stage, statuses.len()).await;
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut seen: Vec<String> = lines
        .filter(|line| line["contract"] == json!("emcp"))
        .map(|line| ["tenant", "method", "tool", "outcome"].map(|name| line[name].as_str().unwrap_or("-")).join(" "))
        .collect();
    seen.sort();
    assert_eq!(
        seen,
        [
            "site ping - ok",
            "site tools/call evo.content.get forbidden",
            "site tools/call evo.content.get invalid_argument",
            "site tools/call evo.content.get ok",
            "site tools/call evo.content.get rate_limited",
            "site tools/call evo.model.list tool_denied",
            "site tools/list - ok",
        ]
    );
}
