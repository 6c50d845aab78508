//! The limits of a listener: connections, bytes and time.

use std::time::Duration;

use crate::config::IpNetwork;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Open connections in total.
    pub connections: usize,
    /// Open connections of one address; IPv6 is counted per /64, because one subscriber has all of it.
    pub per_address: usize,
    /// Addresses without a limit of their own.
    pub trusted_proxies: Vec<IpNetwork>,
    /// From the accepted socket to the finished TLS handshake.
    pub handshake: Duration,
    /// For a whole request head: the first from the handshake on, a later one from its first byte on.
    pub head: Duration,
    /// For a whole request body; for [`IncomingBody::collect`](super::IncomingBody::collect).
    pub body: Duration,
    /// Between the end of an answer and the first byte of the next request.
    pub idle: Duration,
    /// A request line and its headers together; never less than 8 KiB.
    pub head_bytes: usize,
    /// Header lines of one request.
    pub headers: usize,
    /// How long a client may not read a pending answer.
    pub write: Duration,
    /// How long a shutdown waits for running calls.
    pub drain: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 4096,
            per_address: 256,
            trusted_proxies: Vec::new(),
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            head_bytes: 32 * 1024,
            headers: 100,
            write: Duration::from_secs(30),
            drain: Duration::from_secs(25),
        }
    }
}
