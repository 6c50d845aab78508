//! Standard input and output as lines, each on a thread of its own, because neither can be waited for
//! without holding one up. No line is ever taken in beyond the limit or written in pieces.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc as waiting;

/// Lines that have been read and wait for their turn.
const AHEAD: usize = 16;

pub(super) enum Line {
    Whole(Vec<u8>),
    TooLong,
}

pub(super) struct Input(waiting::Receiver<Line>);

impl Input {
    pub(super) fn open(most: usize) -> Input {
        let (lines, taken) = waiting::channel(AHEAD);
        // Without the thread there is no input, which ends the conversation.
        let _ = thread::Builder::new().name("input".to_owned()).spawn(move || {
            let mut source = BufReader::new(io::stdin());
            while let Ok(Some(line)) = next(&mut source, most) {
                let blank = matches!(&line, Line::Whole(bytes) if bytes.trim_ascii().is_empty());
                if !blank && lines.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Input(taken)
    }

    pub(super) async fn next(&mut self) -> Option<Line> {
        self.0.recv().await
    }
}

fn next(source: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    if source.take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= most {
        return Ok(Some(Line::Whole(line)));
    }
    // The rest of it is read and forgotten, so that the next line begins where it does.
    source.skip_until(b'\n')?;
    Ok(Some(Line::TooLong))
}

pub(super) struct Output {
    /// Gone only while it is being dropped.
    lines: Option<mpsc::Sender<Vec<u8>>>,
    closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Output {
    pub(super) fn open() -> Output {
        let (lines, queue) = mpsc::channel::<Vec<u8>>();
        let closed = Arc::new(AtomicBool::new(false));
        let gone = Arc::clone(&closed);
        let thread = thread::Builder::new().name("output".to_owned()).spawn(move || {
            for line in queue {
                let mut out = io::stdout().lock();
                if out.write_all(&line).and_then(|()| out.flush()).is_err() {
                    gone.store(true, Ordering::Relaxed);
                    return;
                }
            }
        });
        Output { lines: Some(lines), closed, thread: thread.ok() }
    }

    pub(super) fn write(&self, line: Vec<u8>) {
        if let Some(lines) = &self.lines {
            // A reader who has gone does not mind not being told.
            let _ = lines.send(line);
        }
    }

    /// Whether nobody reads any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        drop(self.lines.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
