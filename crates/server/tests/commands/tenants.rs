//! `frontdesk tenant` on a running desk and on one that is closed: profiles, groups and erasure.

use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::time::sleep;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::{frontdesk_binary, run_frontdesk, run_script};
use frontdesk_testkit::app::{DemoTenant, READ_STOCK, TestApp};

/// A look-up of a token is believed for a second at most.
const BITES_WITHIN: Duration = Duration::from_millis(1100);

fn done(desk: &TestApp, arguments: &[&str]) -> String {
    let (code, out, err) = desk.command(arguments);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    out
}

fn json_of(desk: &TestApp, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(desk, &[arguments, &["--json"]].concat())).unwrap()
}

fn refused(desk: &TestApp, arguments: &[&str]) -> String {
    let (code, out, err) = desk.command(arguments);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    err.strip_prefix("frontdesk: ").unwrap().trim_end().to_owned()
}

/// The records of administration, as `audit export` shows them.
fn administration(desk: &TestApp) -> Vec<Value> {
    let records = done(desk, &["audit", "export"]);
    let all = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|record| record["chain"].as_str().unwrap().starts_with("admin:")).collect()
}

#[test]
fn a_tenant_is_added_shown_changed_and_listed() {
    let desk = TestApp::start();
    let hours = ["--hours", "mon-tue 13:00-18:00,09:00-12:00", "--hours", "sat 10:00-14:00"];
    let profile = ["--time-zone", "europe/berlin", "--city", "Kiel", "--country", "de", "--currency", "eur"];
    let add =
        [&["tenant", "add", "dlr_acme", "--name", "Acme Motors", "--group", "acme"][..], &profile, &hours].concat();
    assert_eq!(
        done(&desk, &add),
        "tenant       dlr_acme\n\
         name         Acme Motors\n\
         group        acme\n\
         time zone    Europe/Berlin\n\
         city         Kiel\n\
         country      DE\n\
         currency     EUR\n\
         open         mon 09:00-12:00\n\
         open         mon 13:00-18:00\n\
         open         tue 09:00-12:00\n\
         open         tue 13:00-18:00\n\
         open         sat 10:00-14:00\n\
         stored       0 records, 0 bytes\n\
         Let a program in with: frontdesk client add --name NAME --tenant dlr_acme --scope SCOPE\n"
    );
    let update =
        ["tenant", "update", "dlr_acme", "--name", "Acme", "--street", "Hafen 1", "--hours", "sun 10:00-12:00"];
    let clear = ["--clear", "city", "--clear", "currency"];
    let expected = json!({"id": "dlr_acme", "name": "Acme", "group": "acme", "time_zone": "Europe/Berlin",
        "street": "Hafen 1", "city": null, "region": null, "postal_code": null, "country": "DE",
        "opening_hours": ["sun 10:00-12:00"], "currency": null, "erasing_since": null,
        "stored": {"records": 0, "bytes": 0, "clients": {}}});
    assert_eq!(json_of(&desk, &[&update[..], &clear].concat()), expected);
    assert_eq!(json_of(&desk, &["tenant", "show", "dlr_acme"]), expected);
    done(&desk, &["tenant", "update", "dlr_acme", "--clear", "address"]);
    assert_eq!(
        done(&desk, &["tenant", "list"]),
        "TENANT         NAME                       GROUP  TIME ZONE      CITY       COUNTRY  CURRENCY  STATE\n\
         dlr_acme       Acme                       acme   Europe/Berlin  -          -        -         active\n\
         dlr_bengaluru  Lakeside Motors Bengaluru  -      Asia/Kolkata   Bengaluru  IN       INR       active\n\
         dlr_lakeside   Lakeside Motors            -      -              -          -        -         active\n\
         dlr_summit     Summit Auto Gallery        -      -              -          -        -         active\n\
         fod_monsoon    Monsoon Kitchens           -      Asia/Kolkata   Bengaluru  IN       INR       active\n\
         htl_monsoon    Monsoon Stays              -      Asia/Kolkata   Bengaluru  IN       INR       active\n\
         rid_monsoon    Monsoon Rides              -      Asia/Kolkata   Bengaluru  IN       INR       active\n\
         site           site                       -      -              -          -        -         active\n"
    );
    let changes: Vec<Value> = administration(&desk)
        .into_iter()
        .filter(|record| record["tenant"] == "dlr_acme")
        .map(|record| json!([record["operator"], record["fields"], record["outcome"]]))
        .collect();
    let fields = ["name", "street", "city", "opening_hours", "currency"];
    let address = ["street", "city", "region", "postal_code", "country"];
    assert_eq!(
        changes,
        [
            json!(["tenant.add", null, "ok"]),
            json!(["tenant.update", fields, "ok"]),
            json!(["tenant.update", address, "ok"]),
        ]
    );
}

#[test]
fn tenants_are_administered_before_the_first_start() {
    let folder = TestFolder::new();
    let run = |arguments: &[&str]| run_frontdesk(folder.path(), &[arguments, &["--data", "data"]].concat());
    assert!(run(&["tenant", "list"]).err.contains("there is no Frontdesk data"));
    let added = run(&["tenant", "add", "house", "--name", "House", "--json"]);
    assert_eq!((added.code, added.err.as_str()), (Some(0), ""));
    assert_eq!(serde_json::from_str::<Value>(&added.out).unwrap()["name"], "House");
    assert_eq!(
        run(&["tenant", "update", "house", "--group", "g"]).out,
        "tenant       house\nname         House\ngroup        g\nstored       0 records, 0 bytes\n"
    );
    let client = run(&["client", "add", "--name", "A", "--group", "g", "--scope", READ_STOCK]);
    assert_eq!(client.code, Some(0), "{}", client.err);
    assert!(client.out.contains("\ngroups   g\n") && !client.out.contains("tenants"), "{}", client.out);
    let erased = run(&["tenant", "erase", "house", "--confirm", "house"]);
    assert_eq!(
        (erased.code, erased.out.as_str()),
        (
            Some(0),
            "Tenant house is erased: 0 rows, 0 clients, and its audit chain of 0 links.\n\
             Backups and exports that were made before still hold it; delete them as your rules ask for.\n"
        ),
        "{}",
        erased.err
    );
    assert_eq!(run(&["tenant", "list"]).out, "There are no tenants yet; see `frontdesk tenant add --help`.\n");
    assert_eq!(run(&["audit", "verify"]).code, Some(0));
}

#[test]
fn wrong_values_are_refused_with_what_to_write() {
    let desk = TestApp::start();
    let update = |arguments: &[&str]| refused(&desk, &[&["tenant", "update", "dlr_summit"], arguments].concat());
    for (arguments, expected) in [
        (
            ["--time-zone", "Europe/Berlinn"],
            "there is no time zone of that name in the IANA database; did you mean Europe/Berlin?",
        ),
        (["--country", "Germany"], "a country is a two-letter code of ISO 3166-1, such as DE or US"),
        (["--currency", "Euro"], "a currency is a code of ISO 4217, such as EUR or USD"),
        (
            ["--hours", "monday 9-18"],
            "write a day or a range of days and the hours, such as `mon 09:00-12:00` or `mon-fri 09:00-18:00`",
        ),
        (["--group", "a b"], "a group has 1 to 64 letters, digits, `_` or `-`"),
        (["--name", ""], "a tenant's name has 1 to 100 characters, none of them a control character"),
        (["--street", " "], "a line of an address has 1 to 200 characters, none of them a control character"),
    ] {
        assert_eq!(update(&arguments), expected);
    }
    assert_eq!(update(&[]), "there is nothing to change; name a field to set, or one to clear with --clear");
    assert_eq!(update(&["--city", "Kiel", "--clear", "city"]), "`city` is to be set and cleared; do one of them");
    assert_eq!(
        refused(&desk, &["tenant", "show", "dlr_sumit"]),
        "there is no tenant `dlr_sumit`; there are: dlr_bengaluru, dlr_lakeside, dlr_summit, fod_monsoon, htl_monsoon, rid_monsoon, site"
    );
    assert_eq!(
        refused(&desk, &["tenant", "add", "dlr_summit", "--name", "Again"]),
        "there is a tenant `dlr_summit` already; `frontdesk tenant update dlr_summit` changes it, and another id adds \
         another one"
    );
    assert_eq!(
        refused(&desk, &["client", "add", "--name", "A", "--group", "nobody", "--scope", READ_STOCK]),
        "no tenant is in a group `nobody`; put one into it with: frontdesk tenant update TENANT_ID --group GROUP"
    );
}

#[tokio::test]
async fn a_client_of_a_group_names_one_of_its_tenants_a_call() {
    let desk = TestApp::start();
    for tenant in ["dlr_lakeside", "dlr_summit"] {
        done(&desk, &["tenant", "update", tenant, "--group", "motors"]);
    }
    let added = json_of(&desk, &["client", "add", "--name", "Fleet", "--group", "motors", "--scope", READ_STOCK]);
    assert_eq!((&added["tenants"], &added["groups"]), (&json!([]), &json!(["motors"])));
    let client = (added["id"].as_str().unwrap().to_owned(), added["secret"].as_str().unwrap().to_owned());
    let mut agent = desk.agent_of_client(&client, READ_STOCK).await;
    assert_eq!(agent.code("inventory.list", json!({"limit": 1})).await, "dealership.required");
    for tenant in ["dlr_lakeside", "dlr_summit"] {
        let page = agent.call("inventory.list", json!({"dealership_id": tenant, "limit": 1})).await;
        assert_eq!(page["items"][0]["dealership_id"], tenant);
    }
    for several in [json!(["dlr_lakeside"]), json!("*"), json!("dlr_lakeside,dlr_summit"), json!("motors")] {
        let code = agent.code("inventory.list", json!({"dealership_id": several})).await;
        assert!(["request.invalid", "dealership.forbidden"].contains(&code.as_str()), "{several}: {code}");
    }
    let list = done(&desk, &["client", "list"]);
    let row = list.lines().find(|line| line.starts_with(&client.0)).unwrap();
    assert_eq!(row.split_whitespace().skip(1).collect::<Vec<_>>(), ["Fleet", "-", "motors", READ_STOCK, "active"]);

    // It leaves: tokens that exist lose it within a second, and new ones are for the other alone.
    done(&desk, &["tenant", "update", "dlr_summit", "--clear", "group"]);
    sleep(BITES_WITHIN).await;
    let left = json!({"dealership_id": "dlr_summit", "limit": 1});
    assert_eq!(agent.code("inventory.list", left.clone()).await, "dealership.forbidden");
    let mut agent = desk.agent_of_client(&client, READ_STOCK).await;
    assert_eq!(agent.code("inventory.list", left).await, "dealership.forbidden");
    let page = agent.call("inventory.list", json!({"limit": 1})).await;
    assert_eq!(page["items"][0]["dealership_id"], "dlr_lakeside");
    // A new member is in the next token.
    done(&desk, &["tenant", "update", "dlr_summit", "--group", "motors"]);
    let mut agent = desk.agent_of_client(&client, READ_STOCK).await;
    assert_eq!(agent.code("inventory.list", json!({"limit": 1})).await, "dealership.required");
    // A group without tenants lets nobody in.
    for tenant in ["dlr_lakeside", "dlr_summit"] {
        done(&desk, &["tenant", "update", tenant, "--clear", "group"]);
    }
    let answer = desk.request_token(&client.0, &client.1, READ_STOCK).await;
    assert_eq!((answer.status, &answer.json()["error"]), (400, &json!("unauthorized_client")));
}

#[tokio::test]
async fn an_erased_tenant_is_gone_while_the_others_are_served() {
    let desk = TestApp::start();
    let (own, secret, _) = desk.credentials(DemoTenant::Summit);
    let both = desk.add_client(&["dlr_summit", "dlr_lakeside"], READ_STOCK);
    let mut agent = desk.agent_of(DemoTenant::Summit, READ_STOCK).await;
    let mut shared = desk.agent_of_client(&both, READ_STOCK).await;
    let mut neighbour = desk.agent().await;
    assert_eq!(agent.send("tools/list", json!({})).await.status, 200);
    let raw = Connection::open(desk.data().join("frontdesk.db")).unwrap();
    let count = |text: &str| -> i64 { raw.query_row(text, [], |row| row.get(0)).unwrap() };
    let vehicles = count("SELECT count(*) FROM vehicle WHERE tenant = 'dlr_summit'");
    let head = "SELECT lower(hex(hash)) FROM fd_audit_head WHERE chain = 'tenant:dlr_summit'";
    let hash: String = raw.query_row(head, [], |row| row.get(0)).unwrap();

    let report = json_of(&desk, &["tenant", "erase", "dlr_summit", "--confirm", "dlr_summit"]);
    assert_eq!((&report["tenant"], &report["rows"]["vehicle"]), (&json!("dlr_summit"), &json!(vehicles)));
    assert_eq!((&report["clients"], &report["chain"]["hash"]), (&json!(1), &json!(hash)));

    // By the time that it is done every look-up from before has expired.
    assert_eq!(agent.send("tools/list", json!({})).await.status, 401);
    assert_eq!(desk.request_token(&own, &secret, READ_STOCK).await.status, 401);
    let summit = json!({"dealership_id": "dlr_summit", "limit": 1});
    assert_eq!(shared.code("inventory.list", summit).await, "dealership.forbidden");
    let page = shared.call("inventory.list", json!({"limit": 1})).await;
    assert_eq!(page["items"][0]["dealership_id"], "dlr_lakeside");
    assert!(neighbour.call("inventory.list", json!({"limit": 1})).await["items"].is_array());
    for table in ["vehicle", "vehicle_word", "lead", "fd_claim", "fd_outbox", "fd_counter", "fd_tenant"] {
        assert_eq!(count(&format!("SELECT count(*) FROM {table} WHERE tenant = 'dlr_summit'")), 0, "{table}");
    }

    let verified = done(&desk, &["audit", "verify"]);
    assert!(verified.contains("The audit log is complete and unchanged."), "{verified}");
    assert!(!verified.contains("tenant:dlr_summit"), "{verified}");
    let erasure: Vec<Value> =
        administration(&desk).into_iter().filter(|record| record["operator"] == "tenant.erase").collect();
    let outcomes: Vec<&Value> = erasure.iter().map(|record| &record["outcome"]).collect();
    assert_eq!(outcomes, ["begun", "ok"]);
    assert!(erasure.iter().all(|record| record["erased_chain"]["hash"] == json!(hash)), "{erasure:?}");
    assert_eq!(erasure[1]["removed"]["rows"], report["rows"]);
    // What was read of it is still on record.
    let read = done(&desk, &["audit", "export", "--tenant", "dlr_summit"]);
    assert!(read.contains(r#""operator":"tenant.erase""#), "{read}");
    assert_eq!(
        refused(&desk, &["tenant", "erase", "dlr_summit", "--confirm", "dlr_summit"]),
        "there is no tenant `dlr_summit`; there are: dlr_bengaluru, dlr_lakeside, fod_monsoon, htl_monsoon, rid_monsoon, site"
    );
}

/// On a terminal it asks for the id.
#[test]
fn erasing_asks_for_the_id_on_a_terminal() {
    let desk = TestApp::start();
    let erase = |typed: &str| {
        let (binary, data) = (frontdesk_binary().display().to_string(), desk.data().display().to_string());
        let in_terminal = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
        let command = format!("'{binary}' tenant erase dlr_summit --data '{data}'");
        run_script(&desk.data(), &format!("printf '{typed}\\n' | python3 -c '{in_terminal}' {command}"))
    };
    let asked = "This erases tenant dlr_summit (Summit Auto Gallery) with everything that belongs to it, and cannot be \
                 undone.\r\nType its id to go on: ";
    let refused = erase("dlr_lakeside");
    assert!(
        refused.out.contains(asked) && refused.out.contains("nothing was erased: that is not `dlr_summit`"),
        "{refused:?}"
    );
    assert_eq!(
        (refused.code, json_of(&desk, &["tenant", "show", "dlr_summit"])["erasing_since"].clone()),
        (Some(1), Value::Null)
    );
    let erased = erase("dlr_summit");
    assert!(erased.out.contains("Tenant dlr_summit is erased: "), "{erased:?}");
    assert_eq!(erased.code, Some(0));
}

#[test]
fn erasing_needs_the_id_once_more_and_no_mounted_site() {
    let desk = TestApp::start();
    assert_eq!(
        refused(&desk, &["tenant", "erase", "dlr_summit"]),
        "nothing was erased. Without a terminal, say it once more: --confirm dlr_summit"
    );
    assert_eq!(
        refused(&desk, &["tenant", "erase", "dlr_summit", "--confirm", "dlr_lakeside"]),
        "nothing was erased: that is not `dlr_summit`"
    );
    let folder = TestFolder::new();
    let mount = "[[mount]]\ncontract = \"automotive\"\npath = \"/mcp\"\n[[mount]]\ncontract = \"emcp\"\ndatabase = \"/srv/site.db\"\n";
    std::fs::write(folder.join("desk.toml"), mount).unwrap();
    let said = run_frontdesk(folder.path(), &["tenant", "erase", "site", "--confirm", "site", "--config", "desk.toml"]);
    assert_eq!(
        said.err,
        "frontdesk: the configuration mounts a site for tenant `site`. Remove that [[mount]], reload the server, and erase \
         it then\n"
    );
    assert_eq!(json_of(&desk, &["tenant", "show", "dlr_summit"])["erasing_since"], Value::Null);
}
