//! Work that is done beside the steps, such as downloads while the compiler runs.

use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::console::Console;

/// A job on a thread of its own. What it printed is shown only when it fails.
pub struct Background {
    state: Mutex<State>,
}

enum State {
    Running(JoinHandle<Ended>),
    Ended(Ended),
}

#[derive(Clone)]
struct Ended {
    result: Result<(), String>,
    took: Duration,
}

impl Background {
    pub fn start(job: impl FnOnce(&mut Console) -> Result<(), String> + Send + 'static) -> Self {
        let handle = thread::spawn(move || {
            let began = Instant::now();
            let mut console = Console::Buffer(String::new());
            let result = job(&mut console).map_err(|problem| match console {
                Console::Buffer(text) if !text.is_empty() => format!("{problem}\n{}", text.trim_end()),
                Console::Buffer(_) | Console::Terminal => problem,
            });
            Ended { result, took: began.elapsed() }
        });
        Background { state: Mutex::new(State::Running(handle)) }
    }

    /// A job with nothing to do.
    pub fn none() -> Self {
        Background { state: Mutex::new(State::Ended(Ended { result: Ok(()), took: Duration::ZERO })) }
    }

    /// Waits for its end, any number of times, and gives back how long the job took by itself.
    pub fn wait(&self) -> Result<Duration, String> {
        let mut state = self.state.lock().map_err(|_| "a background job panicked".to_owned())?;
        let empty = State::Ended(Ended { result: Err("a background job panicked".to_owned()), took: Duration::ZERO });
        let ended = match std::mem::replace(&mut *state, empty) {
            State::Running(handle) => handle.join().map_err(|_| "a background job panicked".to_owned())?,
            State::Ended(ended) => ended,
        };
        *state = State::Ended(ended.clone());
        ended.result.map(|()| ended.took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_waited_for_and_its_failure_is_told_each_time() {
        let job = Background::start(|console| {
            console.print("downloading");
            Err("no network".to_owned())
        });
        for _ in 0..2 {
            assert_eq!(job.wait(), Err("no network\ndownloading".to_owned()));
        }
        assert!(Background::start(|_| Ok(())).wait().is_ok());
        assert_eq!(Background::none().wait(), Ok(Duration::ZERO));
    }

    #[test]
    fn a_job_that_panics_is_a_failure() {
        let job = Background::start(|_| panic!("of this test"));
        assert!(job.wait().is_err());
        assert!(job.wait().is_err());
    }
}
