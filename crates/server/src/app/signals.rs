//! The signals of the process: SIGINT and SIGTERM request a graceful shutdown, SIGHUP a reload.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::net::{Shutdown, ShutdownReason};

/// From here on Ctrl-C and SIGTERM request a graceful shutdown instead of killing the process.
pub fn install_signal_handlers() -> io::Result<Shutdown> {
    let shutdown = Shutdown::new();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let requested = shutdown.clone();
    tokio::spawn(async move {
        let reason = tokio::select! {
            _ = interrupt.recv() => ShutdownReason::Interrupt,
            _ = terminate.recv() => ShutdownReason::Terminate,
        };
        tracing::info!(reason = reason.as_str(), "shutting down");
        requested.request(reason);
    });
    Ok(shutdown)
}

/// From here on SIGHUP requests a reload of the configuration instead of killing the process.
pub fn install_sighup_handler() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}
