//! `cargo xtask test`: every step in order, each one run even when an earlier one failed, and the table at the end.
//! A step must never pass because something it needs is missing.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::interop::{Environment, PYTHON, PYTHON_TLS, PYTHON_V1};
use crate::report::{Line, Report, Verdict};
use crate::workspace::Workspace;
use crate::{interop, process, tidy};

#[derive(Clone, Copy)]
pub enum Extent<'a> {
    Quick,
    Whole,
    /// The whole, and what takes too long for every day.
    Long,
    Only(&'a str),
}

/// How often a step is worth its time: in the inner loop, before a change goes out, or now and then.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Quick,
    Slow,
    Long,
}

struct Step {
    name: &'static str,
    covers: &'static str,
    pace: Pace,
    run: fn(&Workspace) -> Verdict,
}

/// Cheap and telling first.
const STEPS: &[Step] = &[
    Step { name: "fmt", covers: "formatting", pace: Pace::Quick, run: fmt },
    Step { name: "tidy", covers: "house rules, clause coverage, dependency direction", pace: Pace::Quick, run: tidy },
    Step { name: "clippy", covers: "lints over all targets, warnings denied", pace: Pace::Quick, run: clippy },
    Step {
        name: "tests",
        covers: "every unit and integration test, on SQLite and PostgreSQL",
        pace: Pace::Quick,
        run: tests,
    },
    Step { name: "doctests", covers: "examples in the documentation", pace: Pace::Slow, run: doctests },
    Step { name: "deny", covers: "licences, banned and doubled crates, sources", pace: Pace::Slow, run: deny },
    Step { name: "advisories", covers: "known vulnerabilities of dependencies", pace: Pace::Slow, run: advisories },
    Step { name: "release", covers: "the binary as it is shipped", pace: Pace::Slow, run: release },
    Step { name: "interop", covers: "the pinned packages that judge us", pace: Pace::Slow, run: environment },
    Step { name: "vins", covers: "demo VINs against two independent decoders", pace: Pace::Slow, run: vins },
    Step {
        name: "python client",
        covers: "the official MCP client over TLS against the shipped binary",
        pace: Pace::Slow,
        run: python_client,
    },
    Step {
        name: "traces",
        covers: "what a collector is sent, by OpenTelemetry's own reader and the official client's spans",
        pace: Pace::Slow,
        run: traces,
    },
    Step {
        name: "python client v1",
        covers: "its first line, as most have it installed",
        pace: Pace::Slow,
        run: python_client_v1,
    },
    Step {
        name: "python stdio",
        covers: "`frontdesk stdio` started by both lines of it",
        pace: Pace::Slow,
        run: python_stdio,
    },
    Step {
        name: "typescript v1",
        covers: "the official TypeScript client, first line; the certificate before Node",
        pace: Pace::Slow,
        run: typescript_v1,
    },
    Step {
        name: "typescript v2",
        covers: "the official TypeScript client, second line, both eras",
        pace: Pace::Slow,
        run: typescript_v2,
    },
    Step { name: "rmcp", covers: "the official Rust client, both eras", pace: Pace::Slow, run: rmcp },
    Step {
        name: "conformance",
        covers: "MCP's conformance suite, 2025-11-25 and 2026-07-28, on the fixture contract",
        pace: Pace::Slow,
        run: conformance,
    },
    Step { name: "tls", covers: "sslyze; the certificate before sslyze, Python and curl", pace: Pace::Slow, run: tls },
    Step {
        name: "testssl",
        covers: "testssl.sh; nothing LOW or worse but what is named",
        pace: Pace::Slow,
        run: testssl,
    },
    Step {
        name: "crashes",
        covers: "200 rounds of kills each of the desk on SQLite, on PostgreSQL, and of PostgreSQL itself",
        pace: Pace::Long,
        run: crashes,
    },
];

pub fn run(workspace: &Workspace, extent: Extent<'_>) -> ExitCode {
    let chosen: Vec<&Step> = STEPS.iter().filter(|step| wanted(step, extent)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        eprintln!("no such step; the steps are: {}", names.join(", "));
        return ExitCode::FAILURE;
    }
    let mut report = Report::default();
    for step in chosen {
        println!("\n== {}: {}", step.name, step.covers);
        let started = Instant::now();
        let verdict = (step.run)(workspace);
        if let Verdict::Failed(reason) = &verdict {
            eprintln!("{} FAILED: {reason}", step.name);
        }
        report.lines.push(Line { step: step.name, verdict, took: started.elapsed(), covers: step.covers });
    }
    println!();
    print!("{}", report.render());
    if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn wanted(step: &Step, extent: Extent<'_>) -> bool {
    match extent {
        Extent::Quick => step.pace == Pace::Quick,
        Extent::Whole => step.pace != Pace::Long,
        Extent::Long => true,
        Extent::Only(name) => step.name == name,
    }
}

fn fmt(workspace: &Workspace) -> Verdict {
    process::stream(process::cargo(&["fmt", "--all", "--check"], &workspace.root)).into()
}

fn tidy(workspace: &Workspace) -> Verdict {
    match tidy::check(&workspace.root) {
        Ok(summary) => Verdict::Passed(summary),
        Err(findings) => Verdict::Failed(findings),
    }
}

fn clippy(workspace: &Workspace) -> Verdict {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    process::stream(process::cargo(&arguments, &workspace.root)).into()
}

fn tests(workspace: &Workspace) -> Verdict {
    if let Err(problem) = interop::databases(workspace) {
        return Verdict::Failed(problem);
    }
    if !process::works(process::cargo(&["nextest", "--version"], &workspace.root)) {
        let arguments = ["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"];
        return process::stream(process::cargo(&arguments, &workspace.root)).into();
    }
    let arguments = ["nextest", "run", "--workspace", "--no-fail-fast"];
    let (result, summary) = process::stream_and_keep(process::cargo(&arguments, &workspace.root), "tests run:");
    match result {
        // The line reads `Summary [ 1.2s] 12 tests run: 12 passed, 0 skipped`.
        Ok(()) => Verdict::Passed(
            summary.and_then(|line| Some(line.split_once(']')?.1.trim().to_owned())).unwrap_or_default(),
        ),
        Err(problem) => Verdict::Failed(problem),
    }
}

fn doctests(workspace: &Workspace) -> Verdict {
    process::stream(process::cargo(&["test", "--workspace", "--doc", "--no-fail-fast"], &workspace.root)).into()
}

fn deny(workspace: &Workspace) -> Verdict {
    interop::cargo_deny(workspace)
        .and_then(|program| {
            let arguments = ["check", "licenses", "bans", "sources"];
            process::stream(process::command(program, &arguments, &workspace.root))
        })
        .into()
}

/// The database lives on a server that is not ours: when it cannot be reached, that is said, and is no pass.
fn advisories(workspace: &Workspace) -> Verdict {
    let program = match interop::cargo_deny(workspace) {
        Ok(program) => program,
        Err(problem) => return Verdict::Failed(problem),
    };
    let fetch = process::command(&program, &["fetch", "db"], &workspace.root);
    if process::within(Duration::from_secs(60), fetch).is_err() {
        return Verdict::NotChecked("database unreachable".to_owned());
    }
    let check = process::command(&program, &["check", "--disable-fetch", "advisories"], &workspace.root);
    process::stream(check).into()
}

fn release(workspace: &Workspace) -> Verdict {
    build_release(workspace).into()
}

fn environment(workspace: &Workspace) -> Verdict {
    interop::python(workspace, &PYTHON)
        .and_then(|_| interop::python(workspace, &PYTHON_V1))
        .and_then(|_| interop::python(workspace, &PYTHON_TLS))
        .and_then(|_| interop::node(workspace))
        .and_then(|_| interop::testssl(workspace))
        .into()
}

fn vins(workspace: &Workspace) -> Verdict {
    let judge = || {
        let python = interop::python(workspace, &PYTHON)?;
        let arguments = ["run", "--quiet", "--package", "frontdesk-contracts", "--example", "demo_vins"];
        let lines = process::capture(process::cargo(&arguments, &workspace.root))?;
        if lines.is_empty() {
            return Err("the example demo_vins printed nothing to judge".to_owned());
        }
        process::feed(process::command(python, &["scripts/interop/vins.py"], &workspace.root), lines)
    };
    judge().into()
}

fn python_client(workspace: &Workspace) -> Verdict {
    on_python(workspace, &PYTHON, "scripts/interop/python_client.py")
}

fn traces(workspace: &Workspace) -> Verdict {
    on_python(workspace, &PYTHON, "scripts/interop/traces.py")
}

fn python_client_v1(workspace: &Workspace) -> Verdict {
    on_python(workspace, &PYTHON_V1, "scripts/interop/python_client_v1.py")
}

fn python_stdio(workspace: &Workspace) -> Verdict {
    let script = "scripts/interop/python_stdio.py";
    let both = judge_on_python(workspace, &PYTHON, script).and_then(|second| {
        let first = judge_on_python(workspace, &PYTHON_V1, script)?;
        Ok(format!("{second}; first line {first}"))
    });
    counted(both)
}

fn on_python(workspace: &Workspace, environment: &Environment, script: &str) -> Verdict {
    counted(judge_on_python(workspace, environment, script))
}

fn judge_on_python(workspace: &Workspace, environment: &Environment, script: &str) -> Result<String, String> {
    let python = interop::python(workspace, environment)?;
    let mut client = process::command(python, &[script], &workspace.root);
    client.arg(shipped(workspace)?);
    process::stream_and_count(client)
}

fn tls(workspace: &Workspace) -> Verdict {
    on_python(workspace, &PYTHON_TLS, "scripts/interop/tls.py")
}

fn testssl(workspace: &Workspace) -> Verdict {
    match interop::testssl(workspace) {
        Ok(()) => on_python(workspace, &PYTHON, "scripts/interop/testssl.py"),
        Err(problem) => Verdict::Failed(problem),
    }
}

fn typescript_v1(workspace: &Workspace) -> Verdict {
    on_node(workspace, "typescript_v1.mjs")
}

fn typescript_v2(workspace: &Workspace) -> Verdict {
    on_node(workspace, "typescript_v2.mjs")
}

fn on_node(workspace: &Workspace, script: &str) -> Verdict {
    counted(
        interop::node(workspace).and_then(|node| process::stream_and_count(node.judge(script, &shipped(workspace)?))),
    )
}

fn rmcp(workspace: &Workspace) -> Verdict {
    counted(interop::rmcp(workspace).and_then(|program| {
        let mut client = process::command(program, &[], &workspace.root);
        client.arg(shipped(workspace)?);
        process::stream_and_count(client)
    }))
}

fn conformance(workspace: &Workspace) -> Verdict {
    counted(interop::node(workspace).and_then(|node| {
        process::stream(process::cargo(&["build", "--package", "frontdesk-fixture"], &workspace.root))?;
        process::stream_and_count(node.judge("conformance.mjs", &workspace.fixture_binary()))
    }))
}

/// The desk on SQLite, the desk on PostgreSQL, and PostgreSQL itself.
const KINDS_OF_ROUNDS: usize = 3;

/// The same tests as among all others, for longer, and with what they count shown.
fn crashes(workspace: &Workspace) -> Verdict {
    if let Err(problem) = interop::postgres(workspace) {
        return Verdict::Failed(problem);
    }
    let arguments = ["test", "--package", "frontdesk", "--test", "crashes", "--", "--nocapture", "rounds::"];
    let mut rounds = process::cargo(&arguments, &workspace.root);
    rounds.env("FRONTDESK_CRASH_ROUNDS", "200");
    counted(process::stream_and_find(rounds, "test result: ").and_then(|line| all_rounds(&line)))
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

fn counted(result: Result<String, String>) -> Verdict {
    match result {
        Ok(count) => Verdict::Passed(count),
        Err(problem) => Verdict::Failed(problem),
    }
}

/// Built again, which costs nothing when it is fresh, so that an old binary is never what is judged.
fn shipped(workspace: &Workspace) -> Result<PathBuf, String> {
    build_release(workspace)?;
    Ok(workspace.release_binary())
}

fn build_release(workspace: &Workspace) -> Result<(), String> {
    process::stream(process::cargo(&["build", "--release", "--package", "frontdesk"], &workspace.root))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(extent: Extent<'_>) -> Vec<&'static str> {
        STEPS.iter().filter(|step| wanted(step, extent)).map(|step| step.name).collect()
    }

    #[test]
    fn the_long_run_adds_the_long_rounds_to_the_whole_one() {
        let long = names(Extent::Long);
        assert_eq!((long.len(), long.last()), (names(Extent::Whole).len() + 1, Some(&"crashes")));
        assert_eq!(names(Extent::Only("crashes")), ["crashes"]);
    }

    #[test]
    fn long_rounds_that_did_not_run_are_no_pass() {
        let said =
            |count| all_rounds(&format!("test result: ok. {count} passed; 0 failed; 0 ignored; 21 filtered out"));
        assert_eq!(said(3), Ok("3 passed".to_owned()));
        assert_eq!(said(0), Err("0 tests of rounds have run instead of 3".to_owned()));
        assert_eq!(said(2), Err("2 tests of rounds have run instead of 3".to_owned()));
        assert_eq!(all_rounds("test result: ok."), Err("cargo counted nothing: test result: ok.".to_owned()));
    }

    #[test]
    fn the_inner_loop_is_short_and_the_whole_run_leaves_nothing_out() {
        assert_eq!(names(Extent::Quick), ["fmt", "tidy", "clippy", "tests"]);
        assert_eq!(
            names(Extent::Whole),
            [
                "fmt",
                "tidy",
                "clippy",
                "tests",
                "doctests",
                "deny",
                "advisories",
                "release",
                "interop",
                "vins",
                "python client",
                "traces",
                "python client v1",
                "python stdio",
                "typescript v1",
                "typescript v2",
                "rmcp",
                "conformance",
                "tls",
                "testssl"
            ]
        );
        assert_eq!(names(Extent::Only("deny")), ["deny"]);
    }
}
