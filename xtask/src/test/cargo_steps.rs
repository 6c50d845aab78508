//! The steps that cargo does: formatting, lints, tests and the policy for dependencies.

use std::process::Command;
use std::time::Duration;

use super::databases::Databases;
use super::report::Verdict;
use super::{Run, Size, dependency_policy, packages};
use crate::console::{Console, cargo, works};
use crate::tidy;

/// How many times more generated calls and questions the tests of a long run make.
const LONG_SCALE: &str = "10";
/// The tests of killing: the server on SQLite, the server on PostgreSQL, and PostgreSQL itself.
const KINDS_OF_ROUNDS: usize = 3;

pub(super) fn fmt(run: &Run<'_>, console: &mut Console) -> Verdict {
    console.run(cargo(&["fmt", "--all", "--check"], &run.workspace.root)).into()
}

pub(super) fn tidy(run: &Run<'_>, _: &mut Console) -> Verdict {
    tidy::check(&run.workspace.root).into()
}

pub(super) fn clippy(run: &Run<'_>, console: &mut Console) -> Verdict {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    console.run(cargo(&arguments, &run.workspace.root)).into()
}

pub(super) fn tests(run: &Run<'_>, console: &mut Console) -> Verdict {
    all_tests(run, console).into()
}

fn all_tests(run: &Run<'_>, console: &mut Console) -> Result<String, String> {
    let root = &run.workspace.root;
    let has_nextest = works(cargo(&["nextest", "--version"], root));
    let profile = run.size.nextest_profile();
    let _ = std::fs::remove_file(run.workspace.junit_file(profile));
    if has_nextest {
        console.run(cargo(&["nextest", "run", "--workspace", "--no-run"], root))?;
    } else {
        console.run(cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--no-run"], root))?;
    }
    run.system_packages.wait()?;
    let databases = Databases::start(run.workspace, console)?;
    let environment = |mut command: Command| {
        command.envs(databases.environment());
        if run.size == Size::Long {
            command.env("FRONTDESK_TEST_SCALE", LONG_SCALE);
        }
        command
    };
    if !has_nextest {
        let arguments = ["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"];
        return console.run(environment(cargo(&arguments, root))).map(|()| "without nextest".to_owned());
    }
    let arguments = ["nextest", "run", "--workspace", "--no-fail-fast", "--profile", profile];
    let (result, summary) = console.run_and_find(environment(cargo(&arguments, root)), "tests run:");
    result?;
    // The line reads `Summary [ 1.2s] 12 tests run: 12 passed, 0 skipped`.
    Ok(summary.and_then(|line| Some(line.split_once(']')?.1.trim().to_owned())).unwrap_or_default())
}

/// rustdoc takes long to find out that a crate has no examples, so the sources are searched first.
pub(super) fn doctests(run: &Run<'_>, console: &mut Console) -> Verdict {
    match tidy::has_documented_examples(&run.workspace.root) {
        Ok(true) => console.run(cargo(&["test", "--workspace", "--doc", "--no-fail-fast"], &run.workspace.root)).into(),
        Ok(false) => Verdict::Passed("there are none".to_owned()),
        Err(problem) => Verdict::Failed(problem),
    }
}

/// By cargo-deny where it is installed; otherwise by lighter means, which the table says.
pub(super) fn deny(run: &Run<'_>, console: &mut Console) -> Verdict {
    if !has_cargo_deny(run) {
        return dependency_policy::check(run.workspace, console).into();
    }
    console.run(cargo(&["deny", "check", "licenses", "bans", "sources"], &run.workspace.root)).into()
}

/// The database of advisories is on a server that may be unreachable. That is shown, and is no pass.
pub(super) fn advisories(run: &Run<'_>, console: &mut Console) -> Verdict {
    if !has_cargo_deny(run) {
        return Verdict::NotChecked("cargo-deny is not installed: cargo install --locked cargo-deny".to_owned());
    }
    let fetch = cargo(&["deny", "fetch", "db"], &run.workspace.root);
    if console.run_within(Duration::from_secs(60), fetch).is_err() {
        return Verdict::NotChecked("database unreachable".to_owned());
    }
    console.run(cargo(&["deny", "check", "--disable-fetch", "advisories"], &run.workspace.root)).into()
}

fn has_cargo_deny(run: &Run<'_>) -> bool {
    works(cargo(&["deny", "--version"], &run.workspace.root))
}

pub(super) fn release(run: &Run<'_>, console: &mut Console) -> Verdict {
    console.run(cargo(&["build", "--release", "--package", "frontdesk"], &run.workspace.root)).into()
}

/// The same tests as in every run, for longer, and with their counts shown.
pub(super) fn crashes(run: &Run<'_>, console: &mut Console) -> Verdict {
    if let Err(problem) = packages::postgres(run.workspace, console) {
        return Verdict::Failed(problem);
    }
    let arguments = ["test", "--package", "frontdesk", "--test", "crashes", "--", "--nocapture", "rounds::"];
    let mut rounds = cargo(&arguments, &run.workspace.root);
    rounds.env("FRONTDESK_CRASH_ROUNDS", "200");
    let (result, count) = console.run_and_find(rounds, "test result: ");
    result.and_then(|()| all_rounds(&count.unwrap_or_default())).into()
}

/// A filter that fits no test is no failure to cargo, so the tests are counted. The line reads
/// `test result: ok. 3 passed; 0 failed; ..`.
fn all_rounds(line: &str) -> Result<String, String> {
    let passed = line.split_once(" passed; ").and_then(|(before, _)| before.rsplit(' ').next()?.parse::<usize>().ok());
    match passed {
        Some(KINDS_OF_ROUNDS) => Ok(format!("{KINDS_OF_ROUNDS} passed")),
        Some(other) => Err(format!("{other} tests of rounds have run instead of {KINDS_OF_ROUNDS}")),
        None => Err(format!("cargo counted nothing: {line}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rounds_that_did_not_run_are_no_pass() {
        let result =
            |count| all_rounds(&format!("test result: ok. {count} passed; 0 failed; 0 ignored; 21 filtered out"));
        assert_eq!(result(3), Ok("3 passed".to_owned()));
        assert_eq!(result(0), Err("0 tests of rounds have run instead of 3".to_owned()));
        assert_eq!(result(2), Err("2 tests of rounds have run instead of 3".to_owned()));
        assert_eq!(all_rounds("test result: ok."), Err("cargo counted nothing: test result: ok.".to_owned()));
    }
}
