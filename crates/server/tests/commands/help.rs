//! `--help` and `--version`, and what is said to somebody who typed something else.

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::run_frontdesk;

#[test]
fn the_version_is_one_line() {
    let said = run_frontdesk(TestFolder::new().path(), &["--version"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), concat!("frontdesk ", env!("CARGO_PKG_VERSION"), "\n")));
}

#[test]
fn help_begins_with_demo_and_every_command_has_examples() {
    let folder = TestFolder::new();
    let help = run_frontdesk(folder.path(), &["--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.out.contains("Start here:\n  frontdesk demo "), "{}", help.out);
    for command in [
        &["demo"][..],
        &["serve"],
        &["client", "add"],
        &["client", "list"],
        &["client", "rotate"],
        &["client", "revoke"],
        &["connect"],
        &["config", "check"],
        &["config", "show"],
        &["audit", "verify"],
        &["audit", "export"],
        &["key", "rotate"],
        &["backup"],
        &["restore"],
        &["token", "issue"],
        &["tenant", "export"],
        &["tenant", "import"],
        &["automotive", "check-vin"],
        &["completions"],
        &["man"],
    ] {
        let said = run_frontdesk(folder.path(), &[command, &["--help"]].concat());
        assert_eq!(said.code, Some(0));
        let example = format!("\n  frontdesk {}", command.join(" "));
        assert!(said.out.contains(&example), "{command:?}: {}", said.out);
    }
}

#[test]
fn the_help_of_rotate_says_that_tokens_end_too() {
    let said = run_frontdesk(TestFolder::new().path(), &["client", "rotate", "--help"]);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("tokens that were issued already end within a second"), "{words}");
}

#[test]
fn a_misspelled_command_names_the_right_one_and_exits_with_2() {
    let said = run_frontdesk(TestFolder::new().path(), &["client", "rotaet"]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("a similar subcommand exists: 'rotate'"), "{}", said.err);
}
