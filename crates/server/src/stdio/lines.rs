//! Standard input and output as lines, each on a thread of its own, because both block. No line longer than the limit is
//! buffered, and every line is written in one piece.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc as async_mpsc;

/// The most lines that are read ahead.
const READ_AHEAD: usize = 16;

pub(super) enum InputLine {
    Complete(Vec<u8>),
    TooLong,
}

pub(super) struct LineReader(async_mpsc::Receiver<InputLine>);

impl LineReader {
    pub(super) fn open(limit: usize) -> LineReader {
        let (lines, receiver) = async_mpsc::channel(READ_AHEAD);
        // Without the thread there is no input, which ends the session.
        let _ = thread::Builder::new().name("input".to_owned()).spawn(move || {
            let mut source = BufReader::new(io::stdin());
            while let Ok(Some(line)) = read_line(&mut source, limit) {
                let blank = matches!(&line, InputLine::Complete(bytes) if bytes.trim_ascii().is_empty());
                if !blank && lines.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        LineReader(receiver)
    }

    pub(super) async fn next(&mut self) -> Option<InputLine> {
        self.0.recv().await
    }
}

fn read_line(source: &mut impl BufRead, limit: usize) -> io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    let max = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    if source.take(max).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= limit {
        return Ok(Some(InputLine::Complete(line)));
    }
    // The rest is skipped, up to the next line.
    source.skip_until(b'\n')?;
    Ok(Some(InputLine::TooLong))
}

pub(super) struct LineWriter {
    /// None only while it is dropped.
    lines: Option<mpsc::Sender<Vec<u8>>>,
    closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LineWriter {
    pub(super) fn open() -> LineWriter {
        let (lines, queue) = mpsc::channel::<Vec<u8>>();
        let closed = Arc::new(AtomicBool::new(false));
        let closed_flag = Arc::clone(&closed);
        let thread = thread::Builder::new().name("output".to_owned()).spawn(move || {
            for line in queue {
                let mut out = io::stdout().lock();
                if out.write_all(&line).and_then(|()| out.flush()).is_err() {
                    closed_flag.store(true, Ordering::Relaxed);
                    return;
                }
            }
        });
        LineWriter { lines: Some(lines), closed, thread: thread.ok() }
    }

    pub(super) fn write(&self, line: Vec<u8>) {
        if let Some(lines) = &self.lines {
            // After the reader has closed the pipe, lines are discarded.
            let _ = lines.send(line);
        }
    }

    /// Whether the reader has closed the pipe.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        drop(self.lines.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
