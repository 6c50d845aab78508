//! The tenant of a partner must count in the currency of the contract.

use std::fs;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::{CommandProcess, run_frontdesk};

use crate::stage::{BEARERS, LIST, LIVE, PartnerServer, secrets, write};

const NO_KEY: &str = "warning: mount[1].completion.keys: without a key nobody is told about orders that have ended; they are \
                      kept until there is one. Write the key that was agreed for them into a file, and name it here\n";

#[tokio::test]
async fn a_tenant_that_is_missing_is_created_with_the_currency() {
    let server = PartnerServer::open("", BEARERS);
    let listed = server.command(&["tenant", "list", "--data", "data"]);
    assert!(listed.out.lines().any(|line| line.starts_with("htl ") && line.contains("INR")), "{}", listed.out);
    assert_eq!(server.bearer(LIVE, LIST).await.status, 200);
    let valid = server.command(&["config", "check", "--config", "desk.toml"]);
    assert_eq!((valid.code, valid.out), (Some(0), format!("{NO_KEY}The configuration is valid.\n")));
    // The running server is asked.
    let changed = server.command(&["tenant", "update", "htl", "--currency", "USD", "--data", "data"]);
    assert_eq!(changed.code, Some(0), "{changed:?}");
    let refused = server.command(&["config", "check", "--config", "desk.toml"]);
    assert!(refused.err.contains("mount[1].tenant: the tenant htl counts in USD"), "{}", refused.err);
}

#[test]
fn start_and_check_refuse_a_tenant_that_counts_in_something_else() {
    let folder = TestFolder::new();
    secrets(&folder);
    write(&folder, "", BEARERS);
    let checked = run_frontdesk(folder.path(), &["config", "check", "--config", "desk.toml"]);
    assert_eq!(
        (checked.code, checked.out),
        (
            Some(0),
            format!(
                "{NO_KEY}warning: mount: the currencies of the tenants were not checked, because there is no data yet\n\
                 The configuration is valid.\n"
            )
        )
    );
    for (currency, counts) in [(None, "has no currency in its profile"), (Some("EUR"), "counts in EUR")] {
        let (verb, more) = match currency {
            None => ("add", vec!["--name", "Hotel"]),
            Some(code) => ("update", vec!["--currency", code]),
        };
        let named = run_frontdesk(folder.path(), &[vec!["tenant", verb, "htl", "--data", "data"], more].concat());
        assert_eq!(named.code, Some(0), "{named:?}");
        let problem = format!(
            "mount[1].tenant: the tenant htl {counts}, and tomo counts in INR. Run: frontdesk tenant update htl --currency INR"
        );
        for arguments in [vec!["config", "check"], vec!["serve"]] {
            let refused = run_frontdesk(folder.path(), &[arguments, vec!["--config", "desk.toml"]].concat());
            assert_eq!(refused.code, Some(1), "{refused:?}");
            assert!(refused.err.contains(&problem), "{}", refused.err);
        }
    }
}

/// The command is shared with another contract, which need not be mounted.
#[test]
fn people_can_be_erased_where_only_a_partner_is_mounted() {
    let folder = TestFolder::new();
    secrets(&folder);
    write(&folder, "", BEARERS);
    let file = folder.join("desk.toml");
    let other = "[[mount]]\ncontract = \"automotive\"\npath = \"/mcp/automotive\"\n";
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(other));
    fs::write(&file, text.replace(other, "")).unwrap();
    let mut desk = CommandProcess::new(folder.path(), &["serve", "--config", "desk.toml"], &[]);
    desk.address();
    let erase = |person: &[&str]| {
        let command = ["customer", "erase", "--tenant", "htl", "--dry-run", "--data", "data"];
        let said = run_frontdesk(folder.path(), &[&command[..], person].concat());
        (said.code, said.out, said.err)
    };
    let nobody = (Some(0), "Nothing is left to be erased.\n".to_owned(), String::new());
    assert_eq!(erase(&["--email", "asha@example.com"]), nobody);
    let (code, _, errors) = erase(&["bkg_nobody"]);
    assert_eq!(code, Some(1));
    assert!(errors.starts_with("frontdesk: Nobody with this id exists here."), "{errors}");
}
