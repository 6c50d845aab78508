//! The same site on SQLite, MariaDB and PostgreSQL behind one desk: every question gets the same answer, whatever text a
//! caller sends finds nothing or is refused, and nothing in any of the databases has changed afterwards.

use frontdesk_cms_fixture::CmsSite;
use frontdesk_engine::ports::site_db::SiteRow;
use serde_json::{Value, json};

use crate::published::taken_by;
use crate::stage::{Caller, SECRET, Stage, TOKENS, calling, now, signed};
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::sites::SiteDatabases;
use frontdesk_testkit::sites::query::all;

/// Tables with columns that a write would have to touch, secret ones included.
const TABLES: &[(&str, &[&str])] = &[
    ("site_content", &["id", "pagetitle", "content", "introtext", "published", "deleted", "menuindex", "editedon"]),
    ("site_tmplvars", &["id", "name", "default_text"]),
    ("site_tmplvar_contentvalues", &["id", "contentid", "tmplvarid", "value"]),
    ("site_templates", &["id", "templatename", "content"]),
    ("site_snippets", &["id", "name", "snippet"]),
    ("categories", &["id", "category"]),
    ("users", &["id", "username", "password", "cachepwd", "refresh_token", "access_token", "verified_key"]),
    ("user_attributes", &["id", "fullname", "email", "sessionid", "logincount", "blocked"]),
    ("user_roles", &["id", "name"]),
    ("permissions", &["id", "name", "key"]),
    ("role_permissions", &["id", "role_id", "permission"]),
    ("tags", &["id", "name"]),
];

/// One desk before three databases.
pub(crate) struct Trio {
    pub(crate) three: SiteDatabases,
    _stage: Stage,
    pub(crate) callers: Vec<(&'static str, Caller)>,
}

impl Trio {
    pub(crate) async fn open() -> Trio {
        let three = SiteDatabases::with(&CmsSite::small(), |_| String::new()).await;
        let places =
            [("sqlite", three.sqlite.url()), ("mariadb", three.mariadb.url()), ("postgres", three.postgres.url())];
        let mounts: Vec<String> = places
            .iter()
            .map(|(name, url)| {
                format!(
                    "[[mount]]\ncontract = \"emcp\"\npath = \"/{name}\"\ntenant = \"{name}\"\ndatabase = {}\n{TOKENS}\
                     jwt_audience = \"{name}\"\n[mount.limits]\nper_minute = 1000000\n",
                    json!(url)
                )
            })
            .collect();
        let stage = Stage::serving(TestFolder::new(), &mounts.concat());
        // The three sites have one secret, so a token says for which of them it is.
        let token = |name: &str| {
            let (scopes, now) = (json!(["mcp:read", "mcp:call"]), now());
            signed(&json!({"sub": "agent", "aud": name, "iat": now - 5, "exp": now + 600, "scopes": scopes}), SECRET)
        };
        let caller = |name: &'static str| (name, stage.holder(&token(name)).at(&format!("/{name}/content")));
        let callers = places.iter().map(|(name, _)| caller(name)).collect();
        Trio { three, _stage: stage, callers }
    }

    /// What each of the three answers.
    pub(crate) async fn each(&mut self, tool: &str, arguments: &Value) -> Vec<(&'static str, String)> {
        let mut answers = Vec::new();
        for (name, caller) in &mut self.callers {
            let response = caller.post(calling(tool, arguments.clone())).await;
            assert_eq!(response.status, 200, "{name} {tool} {arguments}: {}", response.text());
            answers.push((*name, response.text().to_owned()));
        }
        answers
    }

    /// What all three answer, which is the same.
    pub(crate) async fn same(&mut self, tool: &str, arguments: &Value) -> Value {
        let answers = self.each(tool, arguments).await;
        for (name, answer) in &answers[1..] {
            assert_eq!(*answer, answers[0].1, "{name}: {tool} {arguments}");
        }
        serde_json::from_str(&answers[0].1).unwrap()
    }

    async fn count(&mut self, mut arguments: Value) -> usize {
        let mut found = 0;
        loop {
            arguments["limit"] = json!(100);
            arguments["offset"] = json!(found);
            let answer = self.same("evo.content.search", &arguments).await;
            let items = answer["result"]["structuredContent"]["items"].as_array().unwrap_or_else(|| panic!("{answer}"));
            found += items.len();
            if items.len() < 100 {
                return found;
            }
        }
    }

    async fn ids(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.same(tool, &arguments).await;
        let items = answer["result"]["structuredContent"]["items"].as_array().unwrap_or_else(|| panic!("{answer}"));
        items.iter().map(|item| item["id"].to_string()).collect::<Vec<String>>().join(" ")
    }

    /// Everything that is in the databases, which is the same in all three.
    pub(crate) async fn everything(&self) -> Vec<Vec<SiteRow>> {
        let mut tables = Vec::new();
        for (table, columns) in TABLES {
            tables.push(self.three.rows(&all(table, columns)).await);
        }
        assert_eq!((tables[0].len(), tables[2].len(), tables[6].len()), (260, 532, 13));
        tables
    }
}

/// The numbers that the original gives on a site like this one (§8.2 of what was observed).
#[tokio::test]
async fn e_10_e_15_e_16_e_17_e_19_e_20_e_21_e_23_e_24_e_26_same_rows() {
    let mut trio = Trio::open().await;
    for (filter, count) in [
        (json!({"tv": "price", "op": "null"}), 12),
        (json!({"tv": "price", "op": "!null"}), 96),
        (json!({"tv": "price", "op": ">", "value": "500", "cast": "SIGNED"}), 20),
        (json!({"tv": "price", "op": ">", "value": "500", "cast": "UNSIGNED"}), 32),
        (json!({"tv": "price", "op": ">", "value": "500"}), 44),
        (json!({"tv": "price", "op": "<", "value": "200", "cast": "SIGNED"}), 46),
        (json!({"tv": "price", "op": "=", "value": "99.95", "cast": "DECIMAL(10,2)"}), 12),
        (json!({"tv": "price", "op": "not_in", "value": ["111", "112"]}), 94),
        (json!({"tv": "color", "op": "not_in", "value": "red", "use_default": true}), 24),
        (json!({"tv": "color", "op": "null"}), 60),
        (json!({"tv": "sku", "op": "like", "value": "SKU-01"}), 18),
    ] {
        assert_eq!(trio.count(json!({"template": 4, "tv_filters": [filter]})).await, count, "{filter}");
    }
    assert_eq!(trio.count(json!({"tags_data": {"tv_id": 9, "tags": ["rust"]}})).await, 60);
    assert_eq!(trio.count(json!({"tags_data": {"tv_id": 9, "tags": ["новини"]}})).await, 20);
    assert_eq!(trio.count(json!({"published": false})).await, 18);
    assert_eq!(trio.ids("evo.content.root_tree", json!({"limit": 100})).await.split(' ').count(), 28);
    assert_eq!(trio.ids("evo.content.root_tree", json!({"depth": 2, "limit": 100})).await.split(' ').count(), 62);
    assert_eq!(
        trio.ids("evo.content.descendants", json!({"id": 2, "depth": 2, "limit": 100})).await.split(' ').count(),
        18
    );
    assert_eq!(
        trio.ids("evo.content.ancestors", json!({"id": 247, "limit": 100})).await,
        "4 239 240 241 242 243 244 245 246"
    );
    assert_eq!(trio.ids("evo.content.search", json!({"deleted": true, "limit": 100})).await, "255 256 257");
    let order = json!([{"tv": "price", "cast": "DECIMAL(10,2)"}, {"tv": "color", "dir": "desc"}]);
    let asked = json!({"parent": 9, "tv_order": order, "limit": 100, "with_tvs": ["price", "color:d"]});
    assert_eq!(trio.ids("evo.content.search", asked).await, "12 14 16 17 10 11 13 15 18");
}

#[tokio::test]
async fn e_12_e_13_e_14_e_25_e_30_e_31_e_33_e_34_same_on_all_three() {
    let mut trio = Trio::open().await;
    for (tool, arguments, wanted) in [
        ("evo.content.search", json!({"parent": 248, "order_by": "menuindex", "order_dir": "desc"}), "253 254 252 250"),
        ("evo.content.search", json!({"parent": 248, "order_by": "createdon", "order_dir": "DESC"}), "254 253 252 251"),
        ("evo.content.search", json!({"parent": 248, "order_by": "pub_date", "order_dir": "desc"}), "250 249 251 252"),
        ("evo.content.search", json!({"parent": 248, "order_by_date": "desc"}), "250 254 253 252"),
        ("evo.content.neighbors", json!({"id": 249}), "250 251"),
        ("evo.content.neighbors", json!({"id": 252}), ""),
        ("evo.content.prev_siblings", json!({"id": 252}), "251 250 249"),
        ("evo.content.next_siblings", json!({"id": 250}), "252 253 254"),
        ("evo.content.children_range", json!({"id": 248, "from": 1, "to": 5}), "250 251 252"),
        ("evo.content.siblings_range", json!({"id": 250, "from": 0, "to": 1}), "249 251"),
        ("evo.model.list", json!({"model": "SiteTmplvar", "order_by": "category", "order_dir": "desc"}), "7 12 11 8"),
        ("evo.model.list", json!({"model": "SiteTmplvar", "order_by": "default_text"}), "3 2 9 10"),
    ] {
        let mut asked = arguments.clone();
        asked["limit"] = json!(4);
        assert_eq!(trio.ids(tool, asked).await, wanted, "{tool} {arguments}");
    }
    // Nothing is beside a page that is unknown or in the bin.
    for tool in ["siblings", "neighbors", "prev_siblings", "next_siblings", "siblings_range"] {
        for id in [257, 99_999] {
            let tool = format!("evo.content.{tool}");
            let asked = taken_by(&tool, json!({"id": id, "from": 0, "limit": 100}));
            assert_eq!(trio.ids(&tool, asked).await, "", "{tool} {id}");
        }
    }
    let shown = trio.same("evo.content.get", &json!({"id": 14, "with_tvs": ["color", "author:d", "sku:d"]})).await;
    let variables = json!({"color": null, "author": "Редакція", "sku": "SKU-010105"});
    assert_eq!(shown["result"]["structuredContent"]["item"]["tvs"], variables);
    for name in ["content", "introtext", "templateValues", "tpl", "password"] {
        let refused = trio.same("evo.content.get", &json!({"id": 14, "with_tvs": [name]})).await;
        assert_eq!(refused["error"]["code"], json!(-32602), "{name}");
    }
    for (model, id, record) in [
        (
            "User",
            1,
            json!({"id": 1, "username": "admin", "isfrontend": null, "createdon": null, "editedon": null,
            "blocked": null, "blockeduntil": null, "blockedafter": null}),
        ),
        ("Permissions", 3, json!({"id": 3, "name": "Permission 3", "description": null})),
        ("RolePermissions", 4, json!({"id": 4, "role_id": "1", "permission": "permission4"})),
    ] {
        let answer = trio.same("evo.model.get", &json!({"model": model, "id": id})).await;
        let meta = json!({"toolsetVersion": "1.0", "model": model});
        assert_eq!(answer["result"]["structuredContent"], json!({"item": record, "meta": meta}));
    }
    for field in ["password", "email", "1=1", "users.username"] {
        let conditions = json!({"where": [{"field": field, "op": "!null"}]});
        for asked in [
            json!({"model": "User", "limit": 5, "filters": conditions}),
            json!({"model": "User", "limit": 5, "order_by": field}),
        ] {
            assert_eq!(trio.same("evo.model.list", &asked).await["error"]["code"], json!(-32602), "{asked}");
        }
    }
}

/// SQL and what has been mistaken for it, in every language that is near.
pub(crate) const HOSTILE: &[&str] = &[
    "' OR '1'='1",
    "1 OR 1=1",
    "\" OR \"\"=\"",
    "` OR `1`=`1",
    "x') OR ('1'='1",
    "1; DROP TABLE evo_users",
    "x'; UPDATE evo_users SET password = '' WHERE '1'='1",
    "1 UNION SELECT password FROM evo_users",
    "' UNION SELECT id, username, password FROM evo_users -- ",
    "1 /*!50000 UNION */ SELECT 1",
    "/**/OR/**/1=1#",
    "-- ",
    "\\' OR 1=1 -- ",
    "\u{bf}' OR 1=1 -- ",
    "％' OR 1＝1",
    "ʼ OR 1=1",
    "char(39) || 'x'",
    "0x27204f5220313d31",
    "pg_sleep(9)",
    "' || pg_sleep(9) || '",
    "SLEEP(9)",
    "'; ATTACH DATABASE '/tmp/x' AS x",
    "load_extension('x')",
    "LOAD_FILE('/etc/passwd')",
    "$1",
    "?1",
    ":name",
    "@@version",
    "%",
    "_",
    "%_%",
    "\\",
    "!",
    "price:>:500",
    "price:=:1;color:=:red",
    "evo_users.password",
    "1e309",
    "NaN",
    "null",
    "true",
    "[*content*]",
    "{{chunk}}",
    "<?php echo 1; ?>",
    "\u{0}",
    "a\u{0}b",
    "\u{202e}drop",
];

/// Every argument of every tool that takes a text, with this text in it.
pub(crate) fn places(text: &str) -> Vec<(&'static str, Value)> {
    let mut asked = vec![
        ("evo.content.search", json!({"limit": 9, "order_by": text})),
        ("evo.content.search", json!({"limit": 9, "order_by": "id", "order_dir": text})),
        ("evo.content.search", json!({"limit": 9, "order_by_date": text})),
        ("evo.content.search", json!({"limit": text})),
        ("evo.content.search", json!({"limit": 9, "parent": text})),
        ("evo.content.search", json!({"limit": 9, "published": text})),
        ("evo.content.search", json!({"limit": 9, "tags_data": {"tv_id": 9, "tags": [text]}})),
        ("evo.content.search", json!({"limit": 9, "tags_data": {"tv_id": text, "tags": ["rust"]}})),
        ("evo.content.search", json!({"limit": 9, "tv_filters": [{"tv": text, "op": "=", "value": "1"}]})),
        ("evo.content.search", json!({"limit": 9, "tv_filters": [{"tv": "price", "op": text, "value": "1"}]})),
        ("evo.content.search", json!({"limit": 9, "tv_filters": text})),
        (
            "evo.content.search",
            json!({"limit": 9, "tv_filters": [{"tv": "price", "op": "=", "value": "1", "cast": text}]}),
        ),
        (
            "evo.content.search",
            json!({"limit": 9, "tv_filters": [{"tv": "price", "op": ">", "value": text, "cast": "SIGNED"}]}),
        ),
        ("evo.content.search", json!({"limit": 9, "tv_order": [{"tv": text}]})),
        ("evo.content.search", json!({"limit": 9, "tv_order": [{"tv": "price", "dir": text}]})),
        ("evo.content.search", json!({"limit": 9, "tv_order": [{"tv": "price", "cast": text}]})),
        ("evo.model.list", json!({"model": text, "limit": 9})),
        ("evo.model.list", json!({"model": "User", "limit": 9, "order_by": text})),
        ("evo.model.list", json!({"model": "User", "limit": 9, "filters": text})),
        ("evo.model.list", json!({"model": "User", "limit": 9, "filters": {"raw": text}})),
        (
            "evo.model.list",
            json!({"model": "User", "limit": 9, "filters": {"where": [{"field": text, "op": "=", "value": "1"}]}}),
        ),
        (
            "evo.model.list",
            json!({"model": "User", "limit": 9, "filters": {"where": [{"field": "id", "op": text, "value": "1"}]}}),
        ),
        ("evo.model.get", json!({"model": text, "id": 1})),
        ("evo.model.get", json!({"model": "User", "id": text})),
    ];
    for op in ["=", "<", "in", "like", "like-l", "like-r"] {
        asked.push((
            "evo.content.search",
            json!({"limit": 9, "tv_filters": [{"tv": "author", "op": op, "value": text}]}),
        ));
        let condition = json!({"where": [{"field": "username", "op": op, "value": text}]});
        asked.push(("evo.model.list", json!({"model": "User", "limit": 9, "filters": condition})));
    }
    for tool in ["get", "root_tree", "descendants", "ancestors", "children", "siblings", "neighbors"] {
        asked.push((content(tool), json!({"id": 248, "limit": 9, "with_tvs": [text]})));
        asked.push((content(tool), json!({"id": text, "limit": 9, "depth": text})));
    }
    for tool in ["prev_siblings", "next_siblings", "children_range", "siblings_range"] {
        asked.push((content(tool), json!({"id": 248, "from": text, "to": text, "limit": 9})));
        asked.push((content(tool), json!({"id": 248, "from": 0, "limit": 9, "with_tvs": [text]})));
    }
    asked.into_iter().map(|(tool, arguments)| (tool, taken_by(tool, arguments))).collect()
}

fn content(tool: &str) -> &'static str {
    match tool {
        "get" => "evo.content.get",
        "root_tree" => "evo.content.root_tree",
        "descendants" => "evo.content.descendants",
        "ancestors" => "evo.content.ancestors",
        "children" => "evo.content.children",
        "siblings" => "evo.content.siblings",
        "neighbors" => "evo.content.neighbors",
        "prev_siblings" => "evo.content.prev_siblings",
        "next_siblings" => "evo.content.next_siblings",
        "children_range" => "evo.content.children_range",
        _ => "evo.content.siblings_range",
    }
}
