//! Problems of a configuration, in words: the key, what is wrong and what to do. A value that may be secret is never repeated.

use std::fmt;

/// A problem or a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The key, or the variable or file when no key is meant.
    pub key: String,
    /// The file or variable it is in; empty if there is no single one.
    pub source: String,
    pub problem: String,
    pub advice: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, source, problem, advice } = self;
        if source.is_empty() {
            write!(out, "{key}: {problem}. {advice}")
        } else {
            write!(out, "{key} ({source}): {problem}. {advice}")
        }
    }
}

/// All problems of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors {
    pub problems: Vec<Finding>,
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.len() {
            1 => write!(out, "the configuration has a problem:")?,
            count => write!(out, "the configuration has {count} problems:")?,
        }
        for problem in &self.problems {
            write!(out, "\n  {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

/// What is wrong with one value, without its key and source.
#[derive(Debug)]
pub(super) struct ConfigError {
    /// Where inside the value, such as `[1].path`; empty for the whole.
    pub(super) at: String,
    pub(super) problem: String,
    pub(super) advice: String,
}

impl ConfigError {
    pub(super) fn new(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { at: String::new(), problem: problem.into(), advice: advice.into() }
    }

    pub(super) fn at(self, at: impl Into<String>) -> Self {
        Self { at: at.into(), ..self }
    }

    pub(super) fn at_key(self, key: &str, source: &str) -> Finding {
        Finding {
            key: format!("{key}{}", self.at),
            source: source.to_owned(),
            problem: self.problem,
            advice: self.advice,
        }
    }
}
