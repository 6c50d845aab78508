//! One PostgreSQL and one MariaDB for all tests of a run, held by the program `test-databases` of crates/testkit: it
//! prints `NAME=VALUE` lines and then an empty line, and stops its servers when its standard input closes. Building the
//! tests builds it, too.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::console::{self, Console};
use crate::workspace::Workspace;

pub(super) struct Databases {
    program: Child,
    environment: Vec<(String, String)>,
}

impl Databases {
    pub(super) fn start(workspace: &Workspace, console: &mut Console) -> Result<Databases, String> {
        let mut command = console::command(workspace.debug_binary("test-databases"), &[], &workspace.root);
        let mut program = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|cause| format!("test-databases did not start: {cause}"))?;
        let output = program.stdout.take().ok_or("test-databases has no output")?;
        let environment = environment(BufReader::new(output));
        let databases = Databases { program, environment: environment? };
        for (name, value) in &databases.environment {
            console.print(&format!("{name}={value}"));
        }
        Ok(databases)
    }

    /// What the tests need to find the servers.
    pub(super) fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl Drop for Databases {
    fn drop(&mut self) {
        drop(self.program.stdin.take());
        let _ = self.program.wait();
    }
}

fn environment(output: impl BufRead) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for line in output.lines() {
        let line = line.map_err(|cause| format!("test-databases: {cause}"))?;
        if line.is_empty() {
            return Ok(found);
        }
        let (name, value) =
            line.split_once('=').ok_or_else(|| format!("test-databases printed `{line}` instead of NAME=VALUE"))?;
        found.push((name.to_owned(), value.to_owned()));
    }
    Err("test-databases ended before its servers were ready".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_up_to_the_empty_line() {
        let found = environment("A=1\nB=x=y\n\nC=3\n".as_bytes()).unwrap();
        assert_eq!(found, [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "x=y".to_owned())]);
    }

    #[test]
    fn servers_that_never_were_ready_are_a_failure() {
        assert_eq!(
            environment("A=1\n".as_bytes()),
            Err("test-databases ended before its servers were ready".to_owned())
        );
        assert!(environment("panicked\n\n".as_bytes()).is_err());
    }
}
