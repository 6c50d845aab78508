//! What the command line accepts and refuses.

use std::path::Path;

use time::macros::datetime;

use super::audit::AuditCommand;
use super::client::ClientCommand;
use super::config::ConfigCommand;
use super::*;

#[test]
fn every_command_has_examples_or_subcommands() {
    definition().debug_assert();
    let mut open = vec![definition()];
    while let Some(command) = open.pop() {
        let taught = command.get_after_help().is_some() || command.has_subcommands();
        assert!(taught, "{} --help has no example", command.get_name());
        assert!(command.get_about().is_some(), "{} says nothing", command.get_name());
        open.extend(command.get_subcommands().cloned());
    }
}

/// A wrapped line cannot be pasted.
#[test]
fn no_example_is_wider_than_a_terminal() {
    let mut open = vec![definition()];
    while let Some(command) = open.pop() {
        let taught = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in taught.lines() {
            assert!(line.chars().count() <= 80, "{} --help: {line}", command.get_name());
        }
        open.extend(command.get_subcommands().cloned());
    }
}

#[test]
fn demo_takes_a_folder_an_address_and_json() {
    let Command::Demo(demo) = parsed("demo --data /tmp/desk --listen [::1]:0 --operator-listen 127.0.0.1:9 --json")
    else {
        panic!("not demo")
    };
    assert_eq!(demo.data.as_deref(), Some(Path::new("/tmp/desk")));
    assert_eq!(demo.listen, Some("[::1]:0".parse().unwrap()));
    assert_eq!(demo.operator_listen, Some("127.0.0.1:9".parse().unwrap()));
    assert!(demo.json);
}

#[test]
fn a_wrong_address_is_explained() {
    assert_eq!(
        refused("demo --listen localhost:9000"),
        "error: invalid value 'localhost:9000' for '--listen <ADDR:PORT>': \"localhost:9000\" is not an address and a port. \
         Write an IP address and a port, such as 127.0.0.1:9000 or 0.0.0.0:9000"
    );
}

#[test]
fn tenants_and_scopes_can_be_repeated() {
    for line in [
        "client add --name Finder --tenant a --tenant b --scope x:read --scope y:read",
        "client add --name Finder --tenant a b --scope x:read y:read",
    ] {
        let Command::Client(ClientArgs { command: ClientCommand::Add(add) }) = parsed(line) else {
            panic!("not client add")
        };
        assert_eq!(add.name, "Finder");
        assert_eq!(add.tenants, ["a", "b"]);
        assert_eq!(add.scopes, ["x:read", "y:read"]);
        assert!(!add.json);
    }
}

#[test]
fn a_client_without_tenant_or_scope_is_refused() {
    assert_eq!(
        refused("client add --name Finder --scope x"),
        "error: the following required arguments were not provided:"
    );
    assert_eq!(
        refused("client add --name Finder --tenant a"),
        "error: the following required arguments were not provided:"
    );
}

#[test]
fn a_data_folder_and_a_configuration_exclude_each_other() {
    let Command::Client(ClientArgs { command: ClientCommand::Revoke(client) }) = parsed("client revoke c1 --data d")
    else {
        panic!("not client revoke")
    };
    assert_eq!((client.id.as_str(), client.data), ("c1", DataArgs { data: Some("d".into()), config: None }));
    assert_eq!(
        refused("client rotate c1 --data d --config f.toml"),
        "error: the argument '--data <DIR>' cannot be used with '--config <FILE>'"
    );
}

#[test]
fn an_export_starts_at_a_time() {
    let line = "audit export --since 2026-01-31T09:30:00+01:00 --tenant a --output out.jsonl --config f.toml";
    let Command::Audit(AuditArgs { command: AuditCommand::Export(export) }) = parsed(line) else {
        panic!("not audit export")
    };
    assert_eq!(export.since, Some(datetime!(2026-01-31 08:30:00 UTC)));
    assert_eq!((export.tenant.as_deref(), export.output.as_deref()), (Some("a"), Some(Path::new("out.jsonl"))));
    assert_eq!(
        refused("audit export --since yesterday"),
        "error: invalid value 'yesterday' for '--since <RFC3339>': \
         write date, time and zone, such as 2026-01-31T09:30:00Z or 2026-01-31T09:30:00+01:00"
    );
}

#[test]
fn serve_and_config_take_a_file_or_none() {
    let Command::Serve(ServeArgs { config, data }) = parsed("serve --config f.toml --data d") else {
        panic!("not serve")
    };
    assert_eq!(data.as_deref(), Some(Path::new("d")));
    assert_eq!(config.as_deref(), Some(Path::new("f.toml")));
    let Command::Config(ConfigArgs { command: ConfigCommand::Show(file) }) = parsed("config show") else {
        panic!("not config show")
    };
    assert_eq!(file.config, None);
    assert!(matches!(parsed("config check"), Command::Config(ConfigArgs { command: ConfigCommand::Check(_) })));
}

#[test]
fn a_contract_brings_its_own_commands() {
    let matches = definition().try_get_matches_from(words("automotive check-vin --json 1HGCM82633A004352 x")).unwrap();
    let (command, arguments) = contract::find(&matches).unwrap();
    assert_eq!(command.name, "check-vin");
    assert_eq!(arguments.get_many::<String>("vin").unwrap().collect::<Vec<_>>(), ["1HGCM82633A004352", "x"]);
    assert_eq!(refused("automotive check-vin"), "error: the following required arguments were not provided:");
    assert!(contract::find(&definition().try_get_matches_from(words("config show")).unwrap()).is_none());
}

#[test]
fn the_version_is_printed_on_one_line() {
    assert_eq!(refused("--version"), concat!("frontdesk ", env!("CARGO_PKG_VERSION")));
}

fn parsed(line: &str) -> Command {
    parse(&definition().try_get_matches_from(words(line)).unwrap()).unwrap()
}

/// The first line of the error.
fn refused(line: &str) -> String {
    let text = definition().try_get_matches_from(words(line)).unwrap_err().to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    std::iter::once("frontdesk").chain(line.split(' '))
}
