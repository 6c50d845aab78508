//! What the guide tells a site's owner to type, typed: its statements make users that can read what is served and
//! nothing else.

use std::process::{Command, Output};

use frontdesk_engine::ports::site_db::SiteCell;
use frontdesk_store::site_db::open;
use serde_json::json;

use crate::stage::{ROOMY, SECRET, Stage, TOKENS, now, signed};
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::sites::query::all;
use frontdesk_testkit::sites::{SiteDatabases, settings};

const GUIDE: &str = include_str!("../../../../docs/guides/emcp.md");
const PASSWORD: &str = "a long password";

/// The guide's only block of SQL that has this in it.
fn statements(mark: &str) -> String {
    let blocks = GUIDE.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let found: Vec<&str> = blocks.filter(|block| block.contains(mark)).collect();
    assert_eq!(found.len(), 1, "{mark}");
    found[0].to_owned()
}

/// The address as the guide spells it, for a database of the test's own.
fn address(of_the_owner: &str, user: &str) -> String {
    let (before, after) = of_the_owner.split_once(user).unwrap();
    let url = format!("{before}frontdesk:a%20long%20password{after}");
    let (scheme, _) = url.split_once("@").unwrap();
    assert!(GUIDE.contains(scheme), "{scheme}");
    url
}

fn mariadb(url: &str, text: &str) -> Output {
    let (_, socket) = url.split_once("socket=").unwrap();
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "-u", "frontdesk", &format!("-p{PASSWORD}"), "-S", socket, "site", "-e", text]);
    client.output().unwrap()
}

#[tokio::test]
async fn the_users_of_the_guide_read_what_is_served_and_nothing_else() {
    let three = SiteDatabases::on_own_servers().await;
    three.mariadb.sql(&statements("IDENTIFIED BY").replace("cms.", "site."));
    three.postgres.sql(&statements("CREATE ROLE"));
    let urls = [address(&three.mariadb.url(), "reader:hunter2"), address(&three.postgres.url(), "desk:hunter2")];

    let mounts = urls.iter().zip(["mariadb", "postgres"]).map(|(url, name)| {
        let place = format!("path = \"/{name}\"\ntenant = \"{name}\"\ndatabase = {}\n", json!(url));
        format!("[[mount]]\ncontract = \"emcp\"\n{place}{TOKENS}jwt_audience = \"{name}\"\n{ROOMY}")
    });
    let stage = Stage::serving(TestFolder::new(), &mounts.collect::<String>());
    for name in ["mariadb", "postgres"] {
        let claims = json!({"sub": "agent", "aud": name, "iat": now() - 5, "exp": now() + 600, "scopes": "*"});
        let mut agent = stage.holder(&signed(&claims, SECRET)).at(&format!("/{name}/content"));
        let priced = json!({"limit": 2, "with_tvs": ["price"], "tv_filters": [{"tv": "price", "op": "!null"}]});
        let pages = agent.ask("evo.content.search", priced).await;
        assert_eq!(pages["items"].as_array().unwrap().len(), 2, "{name}: {pages}");
        assert!(pages["items"][0]["tvs"]["price"].is_string(), "{name}: {pages}");
        let people = agent.ask("evo.model.list", json!({"model": "User", "limit": 1})).await;
        assert!(people["items"][0]["username"].is_string(), "{name}: {people}");
        let templates = agent.ask("evo.model.list", json!({"model": "SiteTemplate", "limit": 1})).await;
        assert_eq!(templates["items"].as_array().unwrap().len(), 1, "{name}: {templates}");
        // A table that was not granted.
        let snippets = agent.ask("evo.model.list", json!({"model": "SiteSnippet", "limit": 1})).await;
        assert_eq!(snippets["items"], json!([]), "{name}");
        let tagged = json!({"limit": 1, "tags_data": {"tv_id": 9, "tags": ["rust"]}});
        let refusal = agent.refusal("evo.content.search", tagged).await;
        assert!(refusal.contains("no permission for the tables tags and site_content_tags"), "{name}: {refusal}");
    }

    // Whatever Frontdesk were made to ask, these users have no answer.
    for url in &urls {
        let rows = open(&settings(url)).await.unwrap().select(&all("users", &["password"])).await.unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| row[0] == SiteCell::Null), "{url}: {rows:?}");
    }
    assert!(mariadb(&urls[0], "SELECT id, username FROM evo_users").status.success());
    for text in ["DELETE FROM evo_site_content", "SELECT password FROM evo_users", "CREATE TABLE evo_more (id INT)"] {
        let refused = mariadb(&urls[0], text);
        assert!(!refused.status.success(), "{text}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("denied"), "{text}: {refused:?}");
        let refused = three.postgres.sql_error(&format!("SET ROLE frontdesk; {text}"));
        assert!(refused.contains("permission denied"), "{text}: {refused}");
    }
}
