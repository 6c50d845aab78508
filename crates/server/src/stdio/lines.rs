//! Lines in and out: of standard input and output, each on a thread of its own because both block, or of a socket. No line
//! longer than the limit is buffered, and every line is written in one piece.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::thread;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader as AsyncBufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

/// The most lines that are read ahead, and the most that wait to be written.
const QUEUE: usize = 16;

pub(super) enum InputLine {
    Complete(Vec<u8>),
    TooLong,
}

impl InputLine {
    fn is_blank(&self) -> bool {
        matches!(self, InputLine::Complete(bytes) if bytes.trim_ascii().is_empty())
    }
}

pub(super) struct LineReader(mpsc::Receiver<InputLine>);

impl LineReader {
    pub(super) fn stdin(limit: usize) -> LineReader {
        let (lines, receiver) = mpsc::channel(QUEUE);
        // Without the thread there is no input, which ends the session.
        let _ = thread::Builder::new().name("input".to_owned()).spawn(move || {
            let mut source = BufReader::new(io::stdin());
            while let Ok(Some(line)) = read_line(&mut source, limit) {
                if !line.is_blank() && lines.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        LineReader(receiver)
    }

    pub(super) fn socket(mut source: AsyncBufReader<OwnedReadHalf>, limit: usize) -> LineReader {
        let (lines, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            loop {
                let line = tokio::select! {
                    () = lines.closed() => return,
                    line = read_socket_line(&mut source, limit) => line,
                };
                match line {
                    Ok(Some(line)) if line.is_blank() => {}
                    Ok(Some(line)) => {
                        if lines.send(line).await.is_err() {
                            return;
                        }
                    }
                    Ok(None) | Err(_) => return,
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
    if source.take(with_end(limit)).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if is_complete(&mut line, limit) {
        return Ok(Some(InputLine::Complete(line)));
    }
    // The rest is skipped, up to the next line.
    source.skip_until(b'\n')?;
    Ok(Some(InputLine::TooLong))
}

async fn read_socket_line(source: &mut AsyncBufReader<OwnedReadHalf>, limit: usize) -> io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    if source.take(with_end(limit)).read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    if is_complete(&mut line, limit) {
        return Ok(Some(InputLine::Complete(line)));
    }
    loop {
        let buffered = source.fill_buf().await?;
        let (used, is_end) = match buffered.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at.saturating_add(1), true),
            None => (buffered.len(), buffered.is_empty()),
        };
        source.consume(used);
        if is_end {
            return Ok(Some(InputLine::TooLong));
        }
    }
}

fn with_end(limit: usize) -> u64 {
    u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1)
}

/// Whether this is a whole line; its end is removed. The last line needs none.
fn is_complete(line: &mut Vec<u8>, limit: usize) -> bool {
    line.pop_if(|last| *last == b'\n').is_some() || line.len() <= limit
}

pub(super) struct LineWriter {
    lines: mpsc::Sender<Vec<u8>>,
    written: oneshot::Receiver<()>,
}

impl LineWriter {
    pub(super) fn stdout() -> LineWriter {
        let (lines, mut queue) = mpsc::channel::<Vec<u8>>(QUEUE);
        let (done, written) = oneshot::channel();
        // Without the thread the queue is closed, which ends the session.
        let _ = thread::Builder::new().name("output".to_owned()).spawn(move || {
            while let Some(line) = queue.blocking_recv() {
                let mut out = io::stdout().lock();
                if out.write_all(&line).and_then(|()| out.flush()).is_err() {
                    break;
                }
            }
            let _ = done.send(());
        });
        LineWriter { lines, written }
    }

    pub(super) fn socket(mut target: OwnedWriteHalf) -> LineWriter {
        let (lines, mut queue) = mpsc::channel::<Vec<u8>>(QUEUE);
        let (done, written) = oneshot::channel();
        tokio::spawn(async move {
            while let Some(line) = queue.recv().await {
                if target.write_all(&line).await.is_err() {
                    break;
                }
            }
            let _ = target.shutdown().await;
            let _ = done.send(());
        });
        LineWriter { lines, written }
    }

    /// Waits while too many lines are not yet taken. After the reader has closed its end, lines are discarded.
    pub(super) async fn write(&self, line: Vec<u8>) {
        let _ = self.lines.send(line).await;
    }

    /// Whether the reader has closed its end.
    pub(super) fn is_closed(&self) -> bool {
        self.lines.is_closed()
    }

    /// Waits until everything is written, and closes a socket.
    pub(super) async fn finish(self) {
        drop(self.lines);
        let _ = self.written.await;
    }
}
