//! `cargo xtask test`: the steps in order, each one run even when an earlier one failed, and the table at the end. A step
//! must never pass because something that it needs is missing.

mod background;
mod cargo_steps;
mod databases;
mod dependency_policy;
mod interop_steps;
mod packages;
mod report;
mod slowest;

use std::process::ExitCode;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Instant;

use crate::console::Console;
use crate::workspace::Workspace;
use background::Background;
use report::{Line, Report, Verdict};

#[derive(Clone, Copy)]
pub enum Selection<'a> {
    Quick,
    Full,
    /// The full run, and what takes too long for every day.
    Long,
    Step(&'a str),
}

/// Which runs a step belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frequency {
    Quick,
    Full,
    Long,
}

/// Whether a step has the terminal and the machine for itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Alone,
    /// Beside its neighbours in the list that may do so, too; it compiles nothing.
    SideBySide,
}

struct Step {
    name: &'static str,
    covers: &'static str,
    frequency: Frequency,
    order: Order,
    run: fn(&Run<'_>, &mut Console) -> Verdict,
}

impl Step {
    const fn new(
        name: &'static str,
        covers: &'static str,
        frequency: Frequency,
        run: fn(&Run<'_>, &mut Console) -> Verdict,
    ) -> Step {
        Step { name, covers, frequency, order: Order::Alone, run }
    }

    const fn interop(name: &'static str, covers: &'static str, run: fn(&Run<'_>, &mut Console) -> Verdict) -> Step {
        Step { name, covers, frequency: Frequency::Full, order: Order::SideBySide, run }
    }
}

/// Cheap checks first; of those that run side by side the longest first.
const STEPS: &[Step] = &[
    Step::new("fmt", "formatting", Frequency::Quick, cargo_steps::fmt),
    Step::new("tidy", "the project's own rules, clause coverage", Frequency::Quick, cargo_steps::tidy),
    Step::new("deny", "licences, banned and duplicate crates, sources", Frequency::Full, cargo_steps::deny),
    Step::new("clippy", "lints over all targets, warnings denied", Frequency::Quick, cargo_steps::clippy),
    Step::new(
        "tests",
        "every unit and integration test, on SQLite, PostgreSQL and MariaDB",
        Frequency::Quick,
        cargo_steps::tests,
    ),
    Step::new("doctests", "examples in the documentation", Frequency::Full, cargo_steps::doctests),
    Step::new("advisories", "known vulnerabilities of dependencies", Frequency::Full, cargo_steps::advisories),
    Step::new("release", "the binary as it is shipped", Frequency::Long, cargo_steps::release),
    Step::new("binaries", "the programs that the interop steps start", Frequency::Full, interop_steps::binaries),
    Step::new("packages", "pinned pip and npm packages, testssl.sh", Frequency::Full, interop_steps::packages),
    Step::interop("testssl", "testssl.sh: no unexpected finding of LOW or worse", interop_steps::testssl),
    Step::interop("tls", "sslyze; the certificate as sslyze, Python and curl see it", interop_steps::tls),
    Step::interop(
        "conformance",
        "MCP's conformance suite, 2025-11-25 and 2026-07-28, on the fixture contract",
        interop_steps::conformance,
    ),
    Step::interop(
        "rest",
        "schemathesis: requests made from the OpenAPI document, answers held against it",
        interop_steps::rest_schema,
    ),
    Step::interop("python client", "the official MCP client for Python, v2, over TLS", interop_steps::python_client),
    Step::interop("python client v1", "the official MCP client for Python, v1", interop_steps::python_client_v1),
    Step::interop("python stdio", "`frontdesk stdio` started by both versions of it", interop_steps::python_stdio),
    Step::interop("traces", "exported spans, read by OpenTelemetry's own library", interop_steps::traces),
    Step::interop("typescript v1", "the official TypeScript client, v1; TLS by Node", interop_steps::typescript_v1),
    Step::interop("typescript v2", "the official TypeScript client, v2, both eras", interop_steps::typescript_v2),
    Step::interop(
        "tomo",
        "TOMO's probe, calls and errors, by the TypeScript client, v1",
        interop_steps::typescript_tomo,
    ),
    Step::interop(
        "day",
        "a day at a dealership by the Python and TypeScript clients, and over REST",
        interop_steps::day,
    ),
    Step::interop(
        "connect",
        "what `frontdesk connect` prints, as printed: Inspector, Claude Code, curl, TypeScript and Python",
        interop_steps::connect,
    ),
    Step::interop("rmcp", "the official Rust client, both eras", interop_steps::rmcp),
    Step::interop("vins", "demo VINs against two independent decoders", interop_steps::vins),
    Step::new(
        "crashes",
        "200 rounds each of killing the server on SQLite, on PostgreSQL, and PostgreSQL itself",
        Frequency::Long,
        cargo_steps::crashes,
    ),
    Step::new(
        "service level",
        "five minutes of TOMO's traffic on the shipped binary, within its targets",
        Frequency::Long,
        interop_steps::service_level,
    ),
];

/// How many of the steps that may run side by side do so at once: they wait for each other's programs more than they
/// compute.
const AT_ONCE: usize = 2;

/// How much the tests of a run do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    /// Without the tests that need the machine to themselves or kill processes in rounds.
    Quick,
    Ordinary,
    /// More generated calls and rounds; the interop steps use the binary as it is shipped.
    Long,
}

impl Size {
    fn of(selection: Selection<'_>) -> Size {
        match selection {
            Selection::Quick => Size::Quick,
            Selection::Full | Selection::Step(_) => Size::Ordinary,
            Selection::Long => Size::Long,
        }
    }

    /// As `.config/nextest.toml` has it.
    fn nextest_profile(self) -> &'static str {
        match self {
            Size::Quick => "quick",
            Size::Ordinary | Size::Long => "default",
        }
    }
}

/// What the steps of a run share.
struct Run<'a> {
    workspace: &'a Workspace,
    size: Size,
    /// pip and npm.
    packages: Background,
    /// The system's packages.
    system_packages: Background,
    /// The programs of the interop steps, built once.
    binaries: OnceLock<Result<(), String>>,
}

pub fn run(workspace: &Workspace, selection: Selection<'_>) -> ExitCode {
    let chosen: Vec<&Step> = STEPS.iter().filter(|step| is_selected(step, selection)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        eprintln!("no such step; the steps are: {}", names.join(", "));
        return ExitCode::FAILURE;
    }
    let began = Instant::now();
    let run = Run::start(workspace, selection, &chosen);
    let mut report = Report { load: load_average(), ..Report::default() };
    for group in chosen.chunk_by(|one, next| one.order == Order::SideBySide && next.order == Order::SideBySide) {
        match group {
            [step] => report.lines.push(execute(step, &run, &mut Console::Terminal)),
            steps => report.lines.extend(side_by_side(steps, &run)),
        }
    }
    report.took = began.elapsed();
    if chosen.iter().any(|step| step.name == "tests") {
        report.slowest_tests = slowest::slowest(&workspace.junit_file(run.size.nextest_profile()));
    }
    println!();
    print!("{}", report.render());
    if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Run<'_> {
    /// Downloads begin at once, while the compiler has the processors.
    fn start<'a>(workspace: &'a Workspace, selection: Selection<'_>, steps: &[&Step]) -> Run<'a> {
        let job = |install: fn(&Workspace, &mut Console) -> Result<(), String>| {
            let workspace = workspace.clone();
            Background::start(move |console| install(&workspace, console))
        };
        let uses_packages = steps.iter().any(|step| step.order == Order::SideBySide || step.name == "packages");
        let uses_databases = steps.iter().any(|step| matches!(step.name, "tests" | "crashes"));
        Run {
            workspace,
            size: Size::of(selection),
            packages: if uses_packages { job(packages::install) } else { Background::none() },
            system_packages: if uses_packages || uses_databases {
                job(packages::install_system)
            } else {
                Background::none()
            },
            binaries: OnceLock::new(),
        }
    }
}

/// Of one minute before the run, as Linux counts it; the run's own load is not in it.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ')
        .next()
        .filter(|load| !load.is_empty())
        .map_or_else(String::new, |load| format!(", load average {load} before"))
}

fn execute(step: &Step, run: &Run<'_>, console: &mut Console) -> Line {
    console.print(&format!("\n== {}: {}", step.name, step.covers));
    let began = Instant::now();
    let verdict = (step.run)(run, console);
    if let Verdict::Failed(reason) = &verdict {
        console.print(&format!("{} FAILED: {reason}", step.name));
    }
    Line { step: step.name, verdict, took: began.elapsed(), covers: step.covers }
}

/// The lines in the order of the steps, whichever ended first. The output of a step is shown when it ends.
fn side_by_side(steps: &[&Step], run: &Run<'_>) -> Vec<Line> {
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    println!("\n== {AT_ONCE} at once: {}", names.join(", "));
    let waiting = Mutex::new(steps.iter().enumerate());
    let ended = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some((index, step)) = lock(&waiting).next() else { return };
                    let mut console = Console::Buffer(String::new());
                    let line = execute(step, run, &mut console);
                    let mut ended = lock(&ended);
                    if let Console::Buffer(text) = console {
                        print!("{text}");
                    }
                    ended.push((index, line));
                }
            });
        }
    });
    let mut ended = std::mem::take(&mut *lock(&ended));
    ended.sort_by_key(|(index, _)| *index);
    ended.into_iter().map(|(_, line)| line).collect()
}

/// A step that panicked must not hide the others; its scope tells of the panic.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn is_selected(step: &Step, selection: Selection<'_>) -> bool {
    match selection {
        Selection::Quick => step.frequency == Frequency::Quick,
        Selection::Full => step.frequency != Frequency::Long,
        Selection::Long => true,
        Selection::Step(name) => step.name == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(selection: Selection<'_>) -> Vec<&'static str> {
        STEPS.iter().filter(|step| is_selected(step, selection)).map(|step| step.name).collect()
    }

    #[test]
    fn the_long_run_adds_the_release_and_the_long_rounds() {
        let full = names(Selection::Full);
        let added: Vec<&str> = names(Selection::Long).into_iter().filter(|name| !full.contains(name)).collect();
        assert_eq!(added, ["release", "crashes", "service level"]);
        assert_eq!(names(Selection::Step("crashes")), ["crashes"]);
    }

    #[test]
    fn the_quick_run_is_short_and_the_full_run_leaves_nothing_out() {
        assert_eq!(names(Selection::Quick), ["fmt", "tidy", "clippy", "tests"]);
        assert_eq!(
            names(Selection::Full),
            [
                "fmt",
                "tidy",
                "deny",
                "clippy",
                "tests",
                "doctests",
                "advisories",
                "binaries",
                "packages",
                "testssl",
                "tls",
                "conformance",
                "rest",
                "python client",
                "python client v1",
                "python stdio",
                "traces",
                "typescript v1",
                "typescript v2",
                "tomo",
                "day",
                "connect",
                "rmcp",
                "vins"
            ]
        );
        assert_eq!(names(Selection::Step("deny")), ["deny"]);
    }

    #[test]
    fn steps_side_by_side_are_reported_in_their_order() {
        let slow = Step::interop("slow", "", |_, _| {
            thread::sleep(std::time::Duration::from_millis(50));
            Verdict::Passed(String::new())
        });
        let failing = Step::interop("failing", "", |_, _| Verdict::Failed("no".to_owned()));
        let last = Step::interop("last", "", |_, _| Verdict::Passed(String::new()));
        let workspace = Workspace::locate().unwrap();
        let run = Run::start(&workspace, Selection::Full, &[]);
        let lines = side_by_side(&[&slow, &failing, &last], &run);
        let names: Vec<&str> = lines.iter().map(|line| line.step).collect();
        assert_eq!(names, ["slow", "failing", "last"]);
        assert_eq!(lines.iter().filter(|line| matches!(line.verdict, Verdict::Failed(_))).count(), 1);
    }
}
