//! Running other programs, with their output streamed to the terminal and their failure as one sentence.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A command that starts in the root of the workspace.
pub fn command(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str], root: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root);
    command
}

pub fn cargo(arguments: &[&str], root: &Path) -> Command {
    command("cargo", arguments, root)
}

/// Runs to the end, streaming; fails when it cannot start or answers with anything but zero.
pub fn stream(mut command: Command) -> Result<(), String> {
    let shown = show(&command);
    println!("$ {shown}");
    let status = command.status().map_err(|cause| cannot_start(&shown, &cause))?;
    judge(&shown, status)
}

/// Like `stream`, without a word of its own on standard output.
pub fn quietly(mut command: Command) -> Result<(), String> {
    let shown = show(&command);
    let status = command.status().map_err(|cause| cannot_start(&shown, &cause))?;
    judge(&shown, status)
}

/// Like `stream`, and gives back the last line of the error stream that contains `wanted`.
pub fn stream_and_keep(mut command: Command, wanted: &str) -> (Result<(), String>, Option<String>) {
    let shown = show(&command);
    println!("$ {shown}");
    let mut child = match command.stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(cause) => return (Err(cannot_start(&shown, &cause)), None),
    };
    let mut kept = None;
    if let Some(errors) = child.stderr.take() {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            eprintln!("{line}");
            if line.contains(wanted) {
                kept = Some(line);
            }
        }
    }
    let result = child.wait().map_err(|cause| cannot_start(&shown, &cause)).and_then(|status| judge(&shown, status));
    (result, kept)
}

/// Like `stream`, for judges: gives back the last line of their output that counts what passed.
pub fn stream_and_count(command: Command) -> Result<String, String> {
    stream_and_find(command, " passed, ")
}

/// Like `stream`, and gives back the last line of the output that contains `wanted`; without one it has failed.
pub fn stream_and_find(mut command: Command, wanted: &str) -> Result<String, String> {
    let shown = show(&command);
    println!("$ {shown}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|cause| cannot_start(&shown, &cause))?;
    let mut count = None;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            if line.contains(wanted) {
                count = Some(line);
            }
        }
    }
    let status = child.wait().map_err(|cause| cannot_start(&shown, &cause))?;
    judge(&shown, status)?;
    count.ok_or_else(|| format!("`{shown}` counted nothing"))
}

/// Runs to the end and gives back what it wrote; its errors still go to the terminal.
pub fn capture(mut command: Command) -> Result<Vec<u8>, String> {
    let shown = show(&command);
    println!("$ {shown}");
    let output = command.stderr(Stdio::inherit()).output().map_err(|cause| cannot_start(&shown, &cause))?;
    judge(&shown, output.status)?;
    Ok(output.stdout)
}

/// Runs with `input` on its standard input.
pub fn feed(mut command: Command, input: Vec<u8>) -> Result<(), String> {
    let shown = show(&command);
    println!("$ {shown} < {} bytes", input.len());
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(|cause| cannot_start(&shown, &cause))?;
    let writer = child.stdin.take().map(|mut pipe| {
        // A reader that stops early closes the pipe; its exit status tells the story.
        thread::spawn(move || pipe.write_all(&input).is_ok())
    });
    let status = child.wait().map_err(|cause| cannot_start(&shown, &cause))?;
    if let Some(writer) = writer {
        writer.join().map_err(|_| format!("`{shown}`: the feeding thread stopped"))?;
    }
    judge(&shown, status)
}

/// Runs with a deadline, for programs that wait on a network.
pub fn within(limit: Duration, mut command: Command) -> Result<(), String> {
    let shown = show(&command);
    println!("$ {shown}");
    let mut child = command.spawn().map_err(|cause| cannot_start(&shown, &cause))?;
    match wait_until(&mut child, Instant::now() + limit)? {
        Some(status) => judge(&shown, status),
        None => Err(format!("`{shown}` was stopped after {} s", limit.as_secs())),
    }
}

/// True when the program can be started at all and reports success; silent.
pub fn works(mut command: Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn wait_until(child: &mut Child, deadline: Instant) -> Result<Option<ExitStatus>, String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(50)),
            Ok(None) => {
                child.kill().map_err(|cause| format!("cannot stop a program: {cause}"))?;
                child.wait().map_err(|cause| format!("cannot stop a program: {cause}"))?;
                return Ok(None);
            }
            Err(cause) => return Err(format!("cannot wait for a program: {cause}")),
        }
    }
}

fn show(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

fn cannot_start(shown: &str, cause: &std::io::Error) -> String {
    format!("`{shown}` did not start: {cause}")
}

fn judge(shown: &str, status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("`{shown}` ended with {status}")) }
}
