//! Running other programs. Their output goes to the terminal as it comes or, for steps that run side by side, into a
//! buffer that is shown when the step has ended; a failure becomes one sentence.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Where the output of a step goes.
pub enum Console {
    Terminal,
    Buffer(String),
}

/// A command that starts in the given folder.
pub fn command(program: impl AsRef<OsStr>, arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command
}

pub fn cargo(arguments: &[&str], root: &Path) -> Command {
    command("cargo", arguments, root)
}

/// True when the program can be started and reports success; shows nothing.
pub fn works(mut command: Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

impl Console {
    pub fn print(&mut self, line: &str) {
        match self {
            Console::Terminal => println!("{line}"),
            Console::Buffer(text) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }

    /// Runs to the end; fails when it cannot start or exits with anything but zero.
    pub fn run(&mut self, mut command: Command) -> Result<(), String> {
        let shown = self.announce(&command);
        match self {
            Console::Terminal => {
                let status = command.status().map_err(|cause| cannot_start(&shown, &cause))?;
                success(&shown, status)
            }
            Console::Buffer(_) => self.read_lines(&shown, command, |_| ()),
        }
    }

    /// Like `run`, and gives back the last line that contains `wanted`.
    pub fn run_and_find(&mut self, command: Command, wanted: &str) -> (Result<(), String>, Option<String>) {
        let shown = self.announce(&command);
        let mut found = None;
        let result = self.read_lines(&shown, command, |line| {
            if line.contains(wanted) {
                found = Some(line.to_owned());
            }
        });
        (result, found)
    }

    /// Like `run`, for programs that count their checks: gives back the line with the count. Without one the program
    /// has checked nothing, which is a failure.
    pub fn run_and_count(&mut self, command: Command) -> Result<String, String> {
        let shown = show(&command);
        let (result, count) = self.run_and_find(command, " passed, ");
        result?;
        count.ok_or_else(|| format!("`{shown}` counted nothing"))
    }

    /// Runs to the end and gives back its standard output.
    pub fn capture(&mut self, mut command: Command) -> Result<Vec<u8>, String> {
        let shown = self.announce(&command);
        let output = command.stdin(Stdio::null()).output().map_err(|cause| cannot_start(&shown, &cause))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        if !errors.is_empty() {
            self.print(errors.trim_end());
        }
        success(&shown, output.status)?;
        Ok(output.stdout)
    }

    /// Runs with `input` on its standard input.
    pub fn run_with_input(&mut self, mut command: Command, input: Vec<u8>) -> Result<String, String> {
        let shown = self.announce(&command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|cause| cannot_start(&shown, &cause))?;
        let writer = child.stdin.take().map(|mut pipe| {
            // A reader that stops early closes the pipe; its exit status says why.
            thread::spawn(move || pipe.write_all(&input).is_ok())
        });
        let mut text = String::new();
        if let Some(mut output) = child.stdout.take() {
            output.read_to_string(&mut text).map_err(|cause| format!("`{shown}`: {cause}"))?;
        }
        self.print(text.trim_end());
        let status = child.wait().map_err(|cause| cannot_start(&shown, &cause))?;
        if let Some(writer) = writer {
            writer.join().map_err(|_| format!("`{shown}`: the thread that writes its input panicked"))?;
        }
        success(&shown, status)?;
        Ok(text.lines().last().unwrap_or_default().to_owned())
    }

    /// Runs with a deadline, for programs that wait for a network.
    pub fn run_within(&mut self, limit: Duration, mut command: Command) -> Result<(), String> {
        let shown = self.announce(&command);
        let mut child = command.spawn().map_err(|cause| cannot_start(&shown, &cause))?;
        match wait_until(&mut child, Instant::now() + limit)? {
            Some(status) => success(&shown, status),
            None => Err(format!("`{shown}` was stopped after {} s", limit.as_secs())),
        }
    }

    fn announce(&mut self, command: &Command) -> String {
        let shown = show(command);
        self.print(&format!("$ {shown}"));
        shown
    }

    /// Both output streams, line by line as they come.
    fn read_lines(&mut self, shown: &str, mut command: Command, mut each: impl FnMut(&str)) -> Result<(), String> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|cause| cannot_start(shown, &cause))?;
        let (sender, lines) = mpsc::channel();
        let streams: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
            child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        ];
        for stream in streams.into_iter().flatten() {
            let sender = sender.clone();
            thread::spawn(move || {
                for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                    if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for line in lines {
            self.print(&line);
            each(&line);
        }
        let status = child.wait().map_err(|cause| cannot_start(shown, &cause))?;
        success(shown, status)
    }
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

fn success(shown: &str, status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("`{shown}` ended with {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        command("sh", &["-c", script], Path::new("/"))
    }

    #[test]
    fn a_buffer_holds_both_streams_and_a_failure_is_told() {
        let mut console = Console::Buffer(String::new());
        assert_eq!(console.run(shell("echo out; echo err >&2")), Ok(()));
        let failure = console.run(shell("exit 3")).unwrap_err();
        assert!(failure.starts_with("`sh -c exit 3` ended with"), "{failure}");
        let Console::Buffer(text) = console else { unreachable!() };
        assert!(text.contains("\nout\n") && text.contains("\nerr\n"), "{text}");
    }

    #[test]
    fn a_program_that_counts_nothing_has_failed() {
        let mut console = Console::Buffer(String::new());
        assert_eq!(console.run_and_count(shell("echo 2 passed, 0 failed")), Ok("2 passed, 0 failed".to_owned()));
        assert_eq!(console.run_and_count(shell("true")), Err("`sh -c true` counted nothing".to_owned()));
    }

    #[test]
    fn a_program_that_takes_too_long_is_stopped() {
        let mut console = Console::Buffer(String::new());
        let result = console.run_within(Duration::from_millis(100), command("sleep", &["5"], Path::new("/")));
        assert_eq!(result, Err("`sleep 5` was stopped after 0 s".to_owned()));
    }
}
