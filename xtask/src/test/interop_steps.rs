//! Other people's programs against ours: official clients, the conformance suite, scanners and decoders.

use std::path::PathBuf;

use super::packages::{self, Environment, PYTHON, PYTHON_REST, PYTHON_TLS, PYTHON_V1};
use super::report::Verdict;
use super::{Run, Size};
use crate::console::{self, Console, cargo};

/// The programs that the other steps start: the server and the server with the conformance suite's fixtures, both with
/// the profile of the tests, and the client made of rmcp.
pub(super) fn binaries(run: &Run<'_>, console: &mut Console) -> Verdict {
    build(run, console).into()
}

fn build(run: &Run<'_>, console: &mut Console) -> Result<(), String> {
    run.binaries
        .get_or_init(|| {
            let root = &run.workspace.root;
            console.run(cargo(&["build", "--workspace", "--bins", "--examples"], root))?;
            packages::rmcp(run.workspace, console).map(|_| ())
        })
        .clone()
}

/// What is waited for here has been downloading since the run began.
pub(super) fn packages(run: &Run<'_>, _: &mut Console) -> Verdict {
    let waited = run.packages.wait().and_then(|pinned| Ok((pinned, run.system_packages.wait()?)));
    waited
        .map(|(pinned, system)| {
            format!(
                "installed beside the other steps in {:.0} s and {:.0} s",
                pinned.as_secs_f64(),
                system.as_secs_f64()
            )
        })
        .into()
}

pub(super) fn vins(run: &Run<'_>, console: &mut Console) -> Verdict {
    check_vins(run, console).into()
}

fn check_vins(run: &Run<'_>, console: &mut Console) -> Result<String, String> {
    let python = python(run, &PYTHON, console)?;
    build(run, console)?;
    let example = run.workspace.target.join("debug").join("examples").join("demo_vins");
    let lines = console.capture(console::command(example, &[], &run.workspace.root))?;
    if lines.is_empty() {
        return Err("the example demo_vins printed nothing to check".to_owned());
    }
    console.run_with_input(console::command(python, &["scripts/interop/vins.py"], &run.workspace.root), lines)
}

pub(super) fn python_client(run: &Run<'_>, console: &mut Console) -> Verdict {
    python_script(run, &PYTHON, "scripts/interop/python_client.py", console).into()
}

pub(super) fn traces(run: &Run<'_>, console: &mut Console) -> Verdict {
    python_script(run, &PYTHON, "scripts/interop/traces.py", console).into()
}

pub(super) fn python_client_v1(run: &Run<'_>, console: &mut Console) -> Verdict {
    python_script(run, &PYTHON_V1, "scripts/interop/python_client_v1.py", console).into()
}

pub(super) fn python_stdio(run: &Run<'_>, console: &mut Console) -> Verdict {
    let script = "scripts/interop/python_stdio.py";
    let both = python_script(run, &PYTHON, script, console).and_then(|second| {
        let first = python_script(run, &PYTHON_V1, script, console)?;
        Ok(format!("v2 {second}; v1 {first}"))
    });
    both.into()
}

pub(super) fn tls(run: &Run<'_>, console: &mut Console) -> Verdict {
    python_script(run, &PYTHON_TLS, "scripts/interop/tls.py", console).into()
}

pub(super) fn rest_schema(run: &Run<'_>, console: &mut Console) -> Verdict {
    python_script(run, &PYTHON_REST, "scripts/interop/rest_schema.py", console).into()
}

pub(super) fn testssl(run: &Run<'_>, console: &mut Console) -> Verdict {
    let result = run.system_packages.wait().and_then(|_| packages::testssl(run.workspace, console));
    result.and_then(|()| python_script(run, &PYTHON, "scripts/interop/testssl.py", console)).into()
}

pub(super) fn typescript_v1(run: &Run<'_>, console: &mut Console) -> Verdict {
    server(run, console).and_then(|binary| node_script(run, "typescript_v1.mjs", binary, console)).into()
}

pub(super) fn typescript_tomo(run: &Run<'_>, console: &mut Console) -> Verdict {
    server(run, console).and_then(|binary| node_script(run, "tomo.mjs", binary, console)).into()
}

pub(super) fn typescript_v2(run: &Run<'_>, console: &mut Console) -> Verdict {
    server(run, console).and_then(|binary| node_script(run, "typescript_v2.mjs", binary, console)).into()
}

pub(super) fn day(run: &Run<'_>, console: &mut Console) -> Verdict {
    let both = python_script(run, &PYTHON, "scripts/interop/day.py", console).and_then(|python| {
        let node = node_script(run, "day.mjs", server(run, console)?, console)?;
        Ok(format!("Python and REST {python}; TypeScript {node}"))
    });
    both.into()
}

/// The pastes of `frontdesk connect`, with the interpreter that has the Python client.
pub(super) fn connect(run: &Run<'_>, console: &mut Console) -> Verdict {
    let result = python(run, &PYTHON, console).and_then(|python| {
        let binary = server(run, console)?;
        let mut command = packages::node(run.workspace, console)?.script("connect.mjs", &binary);
        command.arg(python);
        console.run_and_count(command)
    });
    result.into()
}

pub(super) fn conformance(run: &Run<'_>, console: &mut Console) -> Verdict {
    let fixture = run.workspace.debug_binary("frontdesk-conformance-fixture");
    build(run, console).and_then(|()| node_script(run, "conformance.mjs", fixture, console)).into()
}

pub(super) fn rmcp(run: &Run<'_>, console: &mut Console) -> Verdict {
    let result = server(run, console).and_then(|binary| {
        let mut client = console::command(run.workspace.debug_binary("rmcp-client"), &[], &run.workspace.root);
        client.arg(binary);
        console.run_and_count(client)
    });
    result.into()
}

/// The binary as it is shipped, whatever the run: a debug build says nothing about latencies. The script needs Python alone.
pub(super) fn service_level(run: &Run<'_>, console: &mut Console) -> Verdict {
    let build = cargo(&["build", "--release", "--package", "frontdesk"], &run.workspace.root);
    let result = console.run(build).and_then(|()| {
        let mut command = console::command("python3", &["scripts/interop/service_level.py"], &run.workspace.root);
        command.arg(run.workspace.release_binary());
        console.run_and_count(command)
    });
    result.into()
}

fn python_script(
    run: &Run<'_>,
    environment: &Environment,
    script: &str,
    console: &mut Console,
) -> Result<String, String> {
    let python = python(run, environment, console)?;
    let mut command = console::command(python, &[script], &run.workspace.root);
    command.arg(server(run, console)?);
    console.run_and_count(command)
}

fn node_script(run: &Run<'_>, script: &str, binary: PathBuf, console: &mut Console) -> Result<String, String> {
    run.packages.wait()?;
    let node = packages::node(run.workspace, console)?;
    console.run_and_count(node.script(script, &binary))
}

fn python(run: &Run<'_>, environment: &Environment, console: &mut Console) -> Result<PathBuf, String> {
    run.packages.wait()?;
    packages::python(run.workspace, environment, console)
}

/// The server to test: as it is shipped in a long run, and otherwise the one that the tests have built.
fn server(run: &Run<'_>, console: &mut Console) -> Result<PathBuf, String> {
    build(run, console)?;
    match run.size {
        Size::Long => Ok(run.workspace.release_binary()),
        Size::Quick | Size::Ordinary => Ok(run.workspace.debug_binary("frontdesk")),
    }
}
