//! How fast a contract wants its tools to be, by kind of tool. Kinds and tools are the contract's words.

use std::time::Duration;

/// The target of one kind of tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatencyTarget {
    pub kind: &'static str,
    pub tools: Vec<&'static str>,
    pub p50: Duration,
    pub p95: Duration,
    pub p99: Duration,
}
