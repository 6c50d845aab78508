//! The tools that judge us and that nobody can be asked to have: Python environments, Node packages and `cargo-deny`, made
//! once under the build folder, PostgreSQL and testssl.sh. Nothing is skipped because it is missing: it is made, or the step fails and
//! says what to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;
use crate::workspace::Workspace;

/// What a Python environment holds, and the names of its folder and of the file that says it is whole.
pub struct Environment {
    requirements: &'static str,
    folder: &'static str,
    stamp: &'static str,
}

pub const PYTHON: Environment =
    Environment { requirements: "scripts/interop/requirements.txt", folder: "venv", stamp: "installed.txt" };
/// The two lines of the official client cannot live in one environment.
pub const PYTHON_V1: Environment =
    Environment { requirements: "scripts/interop/requirements-v1.txt", folder: "venv-v1", stamp: "installed-v1.txt" };
/// The scanner pins libraries of its own.
pub const PYTHON_TLS: Environment = Environment {
    requirements: "scripts/interop/requirements-tls.txt",
    folder: "venv-tls",
    stamp: "installed-tls.txt",
};

const NODE_JUDGES: &str = "scripts/interop/node";
/// The build on the Python index is too old for today's `cargo metadata`, so it is built from source, once.
const DENY_VERSION: &str = "0.20.2";

/// The interpreter of an environment that holds exactly what its list of requirements names.
pub fn python(workspace: &Workspace, environment: &Environment) -> Result<PathBuf, String> {
    let folder = workspace.target.join("judges");
    let place = folder.join(environment.folder);
    let interpreter = place.join("bin").join("python");
    let stamp = folder.join(environment.stamp);
    let wanted = read(&workspace.root.join(environment.requirements))?;
    let installed = fs::read_to_string(&stamp).is_ok_and(|text| text == wanted);
    if installed && process::works(process::command(&interpreter, &["--version"], &workspace.root)) {
        return Ok(interpreter);
    }

    // The stamp goes first and comes back last: an install that is cut short is done again.
    remove(&stamp)?;
    make_folder(&folder)?;
    make_environment(workspace, &place)?;
    process::stream(process::command(
        &interpreter,
        &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", environment.requirements],
        &workspace.root,
    ))?;
    write(&stamp, &wanted)?;
    Ok(interpreter)
}

/// A Node of the pinned version and the folder in which the judges that run on it find their packages.
pub struct Node {
    program: PathBuf,
    folder: PathBuf,
}

impl Node {
    pub fn judge(&self, script: &str, binary: &Path) -> Command {
        let mut command = process::command(&self.program, &[script], &self.folder);
        command.arg(binary);
        command
    }
}

/// The judges are copied beside their packages, because Node looks for packages from where a script lies.
pub fn node(workspace: &Workspace) -> Result<Node, String> {
    let folder = workspace.target.join("judges").join("node");
    let program = folder.join("node_modules").join("node").join("bin").join("node");
    let stamp = folder.join("installed.txt");
    let sources = workspace.root.join(NODE_JUDGES);
    let wanted = read(&sources.join("package-lock.json"))?;
    make_folder(&folder)?;
    let entries = fs::read_dir(&sources).map_err(|cause| format!("cannot read {}: {cause}", sources.display()))?;
    for entry in entries {
        let entry = entry.map_err(|cause| format!("cannot read {}: {cause}", sources.display()))?;
        fs::copy(entry.path(), folder.join(entry.file_name()))
            .map_err(|cause| format!("cannot copy {}: {cause}", entry.path().display()))?;
    }
    let installed = fs::read_to_string(&stamp).is_ok_and(|text| text == wanted);
    if !installed || !process::works(process::command(&program, &["--version"], &folder)) {
        remove(&stamp)?;
        process::stream(process::command("npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"], &folder))
            .map_err(|problem| format!("{problem}; these judges need npm, which comes with any Node"))?;
        write(&stamp, &wanted)?;
    }
    Ok(Node { program, folder })
}

/// The judge that is made of rmcp, built apart from the product.
pub fn rmcp(workspace: &Workspace) -> Result<PathBuf, String> {
    let target = workspace.target.join("judges").join("rmcp");
    let mut build = process::cargo(
        &["build", "--locked", "--manifest-path", "scripts/interop/rmcp/Cargo.toml", "--target-dir"],
        &workspace.root,
    );
    build.arg(&target);
    process::stream(build)?;
    Ok(target.join("debug").join("rmcp-judge"))
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

/// The tests start database servers of their own, so their programs must be there; none has to run.
pub fn databases(workspace: &Workspace) -> Result<(), String> {
    postgres(workspace)?;
    installed(workspace, "mariadb-server", "the tests need MariaDB", |workspace| {
        let is_there = |name: &str| {
            Path::new("/usr/sbin").join(name).exists()
                || process::works(process::command(name, &["--version"], &workspace.root))
        };
        ["mariadbd", "mariadb"].into_iter().all(is_there)
    })
}

pub fn postgres(workspace: &Workspace) -> Result<(), String> {
    installed(workspace, "postgresql", "the tests need PostgreSQL", has_postgres)
}

/// Debian's program is called `testssl`, the authors' is called `testssl.sh`.
pub fn testssl(workspace: &Workspace) -> Result<(), String> {
    installed(workspace, "testssl.sh", "this judge is testssl.sh", |workspace| {
        let works = |name: &str| process::works(process::command(name, &["--version"], &workspace.root));
        works("testssl") || works("testssl.sh")
    })
}

/// Installs a package of the system when it is missing and we may; otherwise says how.
fn installed(
    workspace: &Workspace,
    package: &str,
    because: &str,
    is_there: fn(&Workspace) -> bool,
) -> Result<(), String> {
    if is_there(workspace) {
        return Ok(());
    }
    let advice = format!("{because} (on Debian: apt-get install -y {package})");
    if !is_root(workspace) {
        return Err(advice);
    }
    process::stream(process::command("apt-get", &["install", "-y", package], &workspace.root))
        .map_err(|problem| format!("{problem}; {advice}"))?;
    if is_there(workspace) { Ok(()) } else { Err(advice) }
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

fn make_folder(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|cause| format!("cannot make {}: {cause}", path.display()))
}

fn remove(path: &Path) -> Result<(), String> {
    if !path.exists() {
        return Ok(());
    }
    fs::remove_file(path).map_err(|cause| format!("cannot remove {}: {cause}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|cause| format!("cannot write {}: {cause}", path.display()))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|cause| format!("cannot read {}: {cause}", path.display()))
}
