//! What a package installs besides the binary: completions and manual pages, made by the binary itself.

use std::fs;
use std::process::Command;

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::run_frontdesk;

#[test]
fn bash_takes_the_completions_and_completes_a_command() {
    let folder = TestFolder::new();
    let said = run_frontdesk(folder.path(), &["completions", "bash"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    fs::write(folder.join("completions"), said.out).unwrap();
    let script = "source ./completions; COMP_WORDS=(frontdesk clie); COMP_CWORD=1; \
                  _frontdesk frontdesk clie frontdesk; echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").args(["-c", script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "client\n");
}

#[test]
fn every_shell_has_completions_that_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = run_frontdesk(TestFolder::new().path(), &["completions", shell]);
        assert_eq!(said.code, Some(0));
        for command in ["demo", "serve", "client", "config", "audit", "backup", "restore", "stdio"] {
            assert!(said.out.contains(command), "{shell} does not know {command}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = TestFolder::new();
    let said = run_frontdesk(folder.path(), &["man", "pages"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    for page in ["frontdesk", "frontdesk-serve", "frontdesk-client-add", "frontdesk-backup", "frontdesk-stdio"] {
        let text = fs::read_to_string(folder.join("pages").join(format!("{page}.1"))).unwrap();
        assert!(text.contains(".TH ") && text.contains("frontdesk"), "{page}: {text}");
    }
    let serve = fs::read_to_string(folder.join("pages/frontdesk-serve.1")).unwrap();
    assert!(serve.contains("SIGHUP"), "{serve}");
}
