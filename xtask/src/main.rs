//! The project's own commands: `cargo xtask test` interop the tree, `cargo xtask tidy` checks the rules that no
//! compiler knows. It must never need anything but the standard library, so that it builds first and fast.

mod interop;
mod process;
mod report;
mod steps;
mod tidy;
mod workspace;

use std::process::ExitCode;

use steps::Extent;
use workspace::Workspace;

const HELP: &str = "\
cargo xtask <command>

  test           run everything and end with a table of what ran
  test --quick   the inner loop: formatting, clippy, tidy and the tests
  test --long    everything, and 200 rounds of kills instead of only the 20 that are in the tests
  test --only S  one step by the name it has in the table
  bench          the release binary beside a bare server, as tables; docs/performance.md says how to read them
                 --json as data, --only start|get|search|create|growth a part, --database sqlite|postgres one
                 of them, --long also the largest data
  tidy           the rules of the house that no compiler checks
  man            the manual pages and shell completions, into target/man and target/completions
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let workspace = match Workspace::locate() {
        Ok(workspace) => workspace,
        Err(problem) => return complain(&problem),
    };
    match words.as_slice() {
        ["test"] => steps::run(&workspace, Extent::Whole),
        ["test", "--quick"] => steps::run(&workspace, Extent::Quick),
        ["test", "--long"] => steps::run(&workspace, Extent::Long),
        ["test", "--only", step] => steps::run(&workspace, Extent::Only(step)),
        ["bench", wishes @ ..] => bench(&workspace, wishes),
        ["tidy"] => tidy_alone(&workspace),
        ["man"] => manuals(&workspace).map_or_else(|problem| complain(&problem), |()| ExitCode::SUCCESS),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => complain(&format!("unknown command: {}\n\n{HELP}", words.join(" "))),
    }
}

fn tidy_alone(workspace: &Workspace) -> ExitCode {
    match tidy::check(&workspace.root) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(findings) => complain(&findings),
    }
}

/// What a package installs besides the binary; the binary itself makes both.
fn manuals(workspace: &Workspace) -> Result<(), String> {
    let frontdesk = |arguments: &[&str]| {
        let run = ["run", "--quiet", "--package", "frontdesk", "--"];
        process::cargo(&[&run, arguments].concat(), &workspace.root)
    };
    let (man, completions) = (workspace.target.join("man"), workspace.target.join("completions"));
    process::stream(frontdesk(&["man", &man.display().to_string()]))?;
    std::fs::create_dir_all(&completions).map_err(|cause| format!("{}: {cause}", completions.display()))?;
    for (shell, file) in [("bash", "frontdesk"), ("zsh", "_frontdesk"), ("fish", "frontdesk.fish")] {
        let file = completions.join(file);
        let text = process::capture(frontdesk(&["completions", shell]))?;
        std::fs::write(&file, text).map_err(|cause| format!("{}: {cause}", file.display()))?;
    }
    println!("{}\n{}", man.display(), completions.display());
    Ok(())
}

/// Builds both servers as they are shipped, and lets the one run the other.
fn bench(workspace: &Workspace, wishes: &[&str]) -> ExitCode {
    let build = ["build", "--release", "--package", "frontdesk", "--package", "frontdesk-bench"];
    let frontdesk = workspace.release_binary();
    let mut run = process::command(frontdesk.with_file_name("frontdesk-bench"), &["run"], &workspace.root);
    run.arg("--frontdesk").arg(&frontdesk).arg("--work").arg(workspace.target.join("bench")).args(wishes);
    // Standard output is the result's alone.
    let built = process::quietly(process::cargo(&build, &workspace.root));
    match built.and_then(|()| process::quietly(run)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => complain(&problem),
    }
}

fn complain(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}
