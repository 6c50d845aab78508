//! What the tests need from outside: Python environments and Node packages for the interop steps, made once under the
//! build folder, and the programs of PostgreSQL, MariaDB, testssl.sh and Chromium. Nothing is skipped because it is missing: it is
//! installed, or the step fails and says what to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::console::{self, Console, works};
use crate::workspace::Workspace;

/// What a Python environment holds, and the names of its folder and of the file that says that it is complete.
pub struct Environment {
    requirements: &'static str,
    folder: &'static str,
    stamp: &'static str,
}

pub const PYTHON: Environment =
    Environment { requirements: "scripts/interop/requirements.txt", folder: "venv", stamp: "installed.txt" };
/// The two major versions of the official client cannot be installed into one environment.
pub const PYTHON_V1: Environment =
    Environment { requirements: "scripts/interop/requirements-v1.txt", folder: "venv-v1", stamp: "installed-v1.txt" };
/// The scanner pins libraries of its own.
pub const PYTHON_TLS: Environment = Environment {
    requirements: "scripts/interop/requirements-tls.txt",
    folder: "venv-tls",
    stamp: "installed-tls.txt",
};

/// So does what makes requests from the OpenAPI document.
pub const PYTHON_REST: Environment = Environment {
    requirements: "scripts/interop/requirements-rest.txt",
    folder: "venv-rest",
    stamp: "installed-rest.txt",
};

/// Two installations at once wait for each other.
const LOCK_TIMEOUT: (&str, &str) = ("-o", "DPkg::Lock::Timeout=300");
const NODE_SCRIPTS: &str = "scripts/interop/node";

/// Everything that is downloaded by pip and npm.
pub fn install(workspace: &Workspace, console: &mut Console) -> Result<(), String> {
    for environment in [&PYTHON, &PYTHON_V1, &PYTHON_TLS, &PYTHON_REST] {
        python(workspace, environment, console)?;
    }
    node(workspace, console).map(|_| ())
}

/// Everything that comes from the system's own packages. The tests start database servers of their own, so the programs
/// must be installed and no server has to run.
pub fn install_system(workspace: &Workspace, console: &mut Console) -> Result<(), String> {
    postgres(workspace, console)?;
    mariadb(workspace, console)?;
    testssl(workspace, console)?;
    chromium(workspace, console)
}

/// The interpreter of an environment that holds exactly what its list of requirements names.
pub fn python(workspace: &Workspace, environment: &Environment, console: &mut Console) -> Result<PathBuf, String> {
    let folder = workspace.target.join("interop");
    let venv = folder.join(environment.folder);
    let interpreter = venv.join("bin").join("python");
    let stamp = folder.join(environment.stamp);
    let wanted = read(&workspace.root.join(environment.requirements))?;
    let is_installed = fs::read_to_string(&stamp).is_ok_and(|text| text == wanted);
    if is_installed && works(console::command(&interpreter, &["--version"], &workspace.root)) {
        return Ok(interpreter);
    }

    // The stamp is removed first and written last, so that an interrupted installation is repeated.
    remove(&stamp)?;
    create_folder(&folder)?;
    create_venv(workspace, &venv, console)?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", environment.requirements];
    console.run(console::command(&interpreter, &pip, &workspace.root))?;
    write(&stamp, &wanted)?;
    Ok(interpreter)
}

/// A Node of the pinned version and the folder in which its scripts find their packages.
pub struct Node {
    program: PathBuf,
    folder: PathBuf,
}

impl Node {
    pub fn script(&self, script: &str, binary: &Path) -> Command {
        let mut command = console::command(&self.program, &[script], &self.folder);
        command.arg(binary);
        command
    }
}

/// The scripts are copied beside their packages, because Node looks for packages from where a script lies.
pub fn node(workspace: &Workspace, console: &mut Console) -> Result<Node, String> {
    let folder = workspace.target.join("interop").join("node");
    let program = folder.join("node_modules").join("node").join("bin").join("node");
    let stamp = folder.join("installed.txt");
    let sources = workspace.root.join(NODE_SCRIPTS);
    let wanted = read(&sources.join("package-lock.json"))?;
    create_folder(&folder)?;
    let entries = fs::read_dir(&sources).map_err(|cause| format!("cannot read {}: {cause}", sources.display()))?;
    for entry in entries {
        let entry = entry.map_err(|cause| format!("cannot read {}: {cause}", sources.display()))?;
        fs::copy(entry.path(), folder.join(entry.file_name()))
            .map_err(|cause| format!("cannot copy {}: {cause}", entry.path().display()))?;
    }
    let is_installed = fs::read_to_string(&stamp).is_ok_and(|text| text == wanted);
    if !is_installed || !works(console::command(&program, &["--version"], &folder)) {
        remove(&stamp)?;
        console
            .run(console::command("npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"], &folder))
            .map_err(|problem| format!("{problem}; the Node scripts need npm, which comes with any Node"))?;
        write(&stamp, &wanted)?;
    }
    Ok(Node { program, folder })
}

/// The client made of rmcp. It has its own workspace and lock file, and is built into the same folder with the same
/// profile, so that crates of the same version and features are compiled once.
pub fn rmcp(workspace: &Workspace, console: &mut Console) -> Result<PathBuf, String> {
    let mut build = console::cargo(
        &["build", "--locked", "--manifest-path", "scripts/interop/rmcp/Cargo.toml", "--target-dir"],
        &workspace.root,
    );
    build.arg(&workspace.target);
    console.run(build)?;
    Ok(workspace.target.join("debug").join("rmcp-client"))
}

pub fn postgres(workspace: &Workspace, console: &mut Console) -> Result<(), String> {
    installed(workspace, "postgresql", "the tests need PostgreSQL", console, has_postgres)
}

fn mariadb(workspace: &Workspace, console: &mut Console) -> Result<(), String> {
    installed(workspace, "mariadb-server", "the tests need MariaDB", console, |workspace| {
        let is_there = |name: &str| {
            Path::new("/usr/sbin").join(name).exists() || works(console::command(name, &["--version"], &workspace.root))
        };
        ["mariadbd", "mariadb"].into_iter().all(is_there)
    })
}

/// Debian's program is called `testssl`, the authors' is called `testssl.sh`.
pub fn testssl(workspace: &Workspace, console: &mut Console) -> Result<(), String> {
    installed(workspace, "testssl.sh", "this step runs testssl.sh", console, |workspace| {
        ["testssl", "testssl.sh"].iter().any(|name| works(console::command(name, &["--version"], &workspace.root)))
    })
}

/// A real browser; it is driven over its own protocol, so no driver is needed.
pub fn chromium(workspace: &Workspace, console: &mut Console) -> Result<(), String> {
    installed(workspace, "chromium", "this step drives Chromium", console, |workspace| {
        works(console::command("chromium", &["--version"], &workspace.root))
    })
}

/// Installs a package of the system when it is missing and we are root; otherwise says how.
fn installed(
    workspace: &Workspace,
    package: &str,
    reason: &str,
    console: &mut Console,
    is_there: fn(&Workspace) -> bool,
) -> Result<(), String> {
    if is_there(workspace) {
        return Ok(());
    }
    let advice = format!("{reason} (on Debian: apt-get install -y {package})");
    if !is_root(workspace, console) {
        return Err(advice);
    }
    console
        .run(console::command(
            "apt-get",
            &["install", "-y", "-q", LOCK_TIMEOUT.0, LOCK_TIMEOUT.1, package],
            &workspace.root,
        ))
        .map_err(|problem| format!("{problem}; {advice}"))?;
    if is_there(workspace) { Ok(()) } else { Err(advice) }
}

/// Debian keeps the server's programs outside of `PATH`.
fn has_postgres(workspace: &Workspace) -> bool {
    let folders: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|found| found.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect())
        .unwrap_or_default();
    ["initdb", "postgres", "psql"].iter().all(|name| {
        folders.iter().any(|folder| folder.join(name).exists())
            || works(console::command(name, &["--version"], &workspace.root))
    })
}

fn is_root(workspace: &Workspace, console: &mut Console) -> bool {
    console
        .capture(console::command("id", &["-u"], &workspace.root))
        .is_ok_and(|answer| String::from_utf8_lossy(&answer).trim() == "0")
}

fn create_venv(workspace: &Workspace, folder: &Path, console: &mut Console) -> Result<(), String> {
    let create = |console: &mut Console| {
        let mut command = console::command("python3", &["-m", "venv", "--clear"], &workspace.root);
        command.arg(folder);
        console.run(command)
    };
    let Err(problem) = create(console) else { return Ok(()) };
    let advice = "the scripts need python3 with its venv module (on Debian: apt-get install -y python3 python3-venv)";
    if !is_root(workspace, console) {
        return Err(format!("{problem}; {advice}"));
    }
    console
        .run(console::command(
            "apt-get",
            &["install", "-y", "-q", LOCK_TIMEOUT.0, LOCK_TIMEOUT.1, "python3", "python3-venv"],
            &workspace.root,
        ))
        .and_then(|()| create(console))
        .map_err(|again| format!("{again}; {advice}"))
}

fn create_folder(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|cause| format!("cannot create {}: {cause}", path.display()))
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
