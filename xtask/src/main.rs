//! The project's own commands: `cargo xtask test` runs every check, `cargo xtask tidy` the rules that no compiler knows.
//! It must never need anything but the standard library, so that it builds first and fast.

mod console;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use console::Console;
use test::Selection;
use workspace::Workspace;

const HELP: &str = "\
cargo xtask <command>

  test           run everything and end with a table of the steps and the slowest tests
  test --quick   formatting, lints, tidy and the tests: for the inner loop
  test --long    everything, with the release binary, 200 rounds of killing processes, and five minutes of TOMO's traffic
  test --only S  one step by the name that it has in the table
  bench          the release binary beside a bare server, as tables; docs/performance.md explains them
                 --only start|get|search|create|growth|lists|import|cms|tomo   one part
                 --database sqlite|postgres|mariadb          one database
                 --long                                      also the largest data
                 --json                                      as JSON
                 --save NAME                                 as bench/results/<date>-NAME.json
                 --charts [FILE]                             draw docs/performance/*.svg from a saved result
  attack         floods against the release binary on this machine; writes docs/security-figures.md
                 --only nested|refused|memory|silent|slow|secrets|fuzz|tenants   one attack
  tidy           the project's rules that no compiler checks
  man            manual pages and shell completions, into target/man and target/completions
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let workspace = match Workspace::locate() {
        Ok(workspace) => workspace,
        Err(problem) => return fail(&problem),
    };
    match arguments.as_slice() {
        ["test"] => test::run(&workspace, Selection::Full),
        ["test", "--quick"] => test::run(&workspace, Selection::Quick),
        ["test", "--long"] => test::run(&workspace, Selection::Long),
        ["test", "--only", step] => test::run(&workspace, Selection::Step(step)),
        ["bench", "--charts", result @ ..] => charts(&workspace, result),
        ["bench", options @ ..] => measure(&workspace, "run", options),
        ["attack", options @ ..] => measure(&workspace, "attack", options),
        ["tidy"] => run_tidy(&workspace),
        ["man"] => manuals(&workspace).map_or_else(|problem| fail(&problem), |()| ExitCode::SUCCESS),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => fail(&format!("unknown command: {}\n\n{HELP}", arguments.join(" "))),
    }
}

fn run_tidy(workspace: &Workspace) -> ExitCode {
    match tidy::check(&workspace.root) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(findings) => fail(&findings),
    }
}

/// What a package installs besides the binary; the binary itself makes both.
fn manuals(workspace: &Workspace) -> Result<(), String> {
    let frontdesk = |arguments: &[&str]| {
        let run = ["run", "--quiet", "--package", "frontdesk", "--"];
        console::cargo(&[&run, arguments].concat(), &workspace.root)
    };
    let (man, completions) = (workspace.target.join("man"), workspace.target.join("completions"));
    let mut console = Console::Terminal;
    console.run(frontdesk(&["man", &man.display().to_string()]))?;
    std::fs::create_dir_all(&completions).map_err(|cause| format!("{}: {cause}", completions.display()))?;
    for (shell, file) in [("bash", "frontdesk"), ("zsh", "_frontdesk"), ("fish", "frontdesk.fish")] {
        let file = completions.join(file);
        let text = console.capture(frontdesk(&["completions", shell]))?;
        std::fs::write(&file, text).map_err(|cause| format!("{}: {cause}", file.display()))?;
    }
    println!("{}\n{}", man.display(), completions.display());
    Ok(())
}

/// Builds both servers as they are shipped, and measures or attacks them. Standard output is the result's alone.
fn measure(workspace: &Workspace, command: &str, options: &[&str]) -> ExitCode {
    let build = ["build", "--release", "--package", "frontdesk", "--package", "frontdesk-bench"];
    let frontdesk = workspace.release_binary();
    let mut run = console::command(frontdesk.with_file_name("frontdesk-bench"), &[command], &workspace.root);
    run.arg("--frontdesk").arg(&frontdesk).arg("--work").arg(workspace.target.join("bench")).args(options);
    for mut command in [console::cargo(&build, &workspace.root), run] {
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => return fail(&format!("bench: {command:?} ended with {status}")),
            Err(cause) => return fail(&format!("bench: {command:?} did not start: {cause}")),
        }
    }
    ExitCode::SUCCESS
}

/// Drawing needs no server, so nothing is built as it is shipped.
fn charts(workspace: &Workspace, result: &[&str]) -> ExitCode {
    let draw = [&["run", "--quiet", "--package", "frontdesk-bench", "--", "charts"], result].concat();
    match Console::Terminal.run(console::cargo(&draw, &workspace.root)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem),
    }
}

fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}
