//! The tools that judge us and that nobody can be asked to have: a Python environment and `cargo-deny`, made once under
//! the build folder, and PostgreSQL. Nothing is skipped because it is missing: it is made, or the step fails and says what to do.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process;
use crate::workspace::Workspace;

const REQUIREMENTS: &str = "scripts/judges/requirements.txt";
/// The build on the Python index is too old for today's `cargo metadata`, so it is built from source, once.
const DENY_VERSION: &str = "0.20.2";

/// The interpreter of an environment that holds exactly what `requirements.txt` names.
pub fn python(workspace: &Workspace) -> Result<PathBuf, String> {
    let folder = workspace.target.join("judges");
    let interpreter = folder.join("venv").join("bin").join("python");
    let stamp = folder.join("installed.txt");
    let wanted = read(&workspace.root.join(REQUIREMENTS))?;
    let installed = fs::read_to_string(&stamp).is_ok_and(|text| text == wanted);
    if installed && process::works(process::command(&interpreter, &["--version"], &workspace.root)) {
        return Ok(interpreter);
    }

    // The stamp goes first and comes back last: an install that is cut short is done again.
    if stamp.exists() {
        fs::remove_file(&stamp).map_err(|cause| format!("cannot remove {}: {cause}", stamp.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|cause| format!("cannot make {}: {cause}", folder.display()))?;
    make_environment(workspace, &folder.join("venv"))?;
    process::stream(process::command(
        &interpreter,
        &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS],
        &workspace.root,
    ))?;
    fs::write(&stamp, wanted).map_err(|cause| format!("cannot write {}: {cause}", stamp.display()))?;
    Ok(interpreter)
}

/// A `cargo-deny` of the pinned version.
pub fn cargo_deny(workspace: &Workspace) -> Result<PathBuf, String> {
    let tools = workspace.target.join("tools");
    let program = tools.join("bin").join("cargo-deny");
    let present = process::works(process::command(&program, &["--version"], &workspace.root))
        && process::capture(process::command(&program, &["--version"], &workspace.root))
            .is_ok_and(|answer| String::from_utf8_lossy(&answer).trim() == format!("cargo-deny {DENY_VERSION}"));
    if !present {
        let mut install = process::cargo(
            &["install", "cargo-deny", "--locked", "--force", "--version", DENY_VERSION, "--root"],
            &workspace.root,
        );
        // It runs for a second and is built for minutes: build it fast rather than make it fast.
        install.arg(&tools).args([
            "--config",
            "profile.release.opt-level=1",
            "--config",
            "profile.release.lto=false",
            "--config",
            "profile.release.codegen-units=16",
        ]);
        process::stream(install)?;
    }
    Ok(program)
}

/// The tests start PostgreSQL servers of their own, so its programs must be there; none has to run.
pub fn postgres(workspace: &Workspace) -> Result<(), String> {
    if has_postgres(workspace) {
        return Ok(());
    }
    let advice = "the tests need PostgreSQL (on Debian: apt-get install -y postgresql)";
    if !is_root(workspace) {
        return Err(advice.to_owned());
    }
    process::stream(process::command("apt-get", &["install", "-y", "postgresql"], &workspace.root))
        .map_err(|problem| format!("{problem}; {advice}"))?;
    if has_postgres(workspace) { Ok(()) } else { Err(advice.to_owned()) }
}

/// Debian keeps the server's programs apart from everybody's.
fn has_postgres(workspace: &Workspace) -> bool {
    let folders: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|found| found.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect())
        .unwrap_or_default();
    ["initdb", "postgres", "psql"].iter().all(|name| {
        folders.iter().any(|folder| folder.join(name).exists())
            || process::works(process::command(name, &["--version"], &workspace.root))
    })
}

fn is_root(workspace: &Workspace) -> bool {
    process::capture(process::command("id", &["-u"], &workspace.root))
        .is_ok_and(|answer| String::from_utf8_lossy(&answer).trim() == "0")
}

fn make_environment(workspace: &Workspace, folder: &Path) -> Result<(), String> {
    let make = || {
        let mut command = process::command("python3", &["-m", "venv", "--clear"], &workspace.root);
        command.arg(folder);
        process::stream(command)
    };
    let Err(problem) = make() else { return Ok(()) };
    let advice = "the judges need python3 with its venv module (on Debian: apt-get install -y python3 python3-venv)";
    if !is_root(workspace) {
        return Err(format!("{problem}; {advice}"));
    }
    process::stream(process::command("apt-get", &["install", "-y", "python3", "python3-venv"], &workspace.root))
        .and_then(|()| make())
        .map_err(|again| format!("{again}; {advice}"))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|cause| format!("cannot read {}: {cause}", path.display()))
}
