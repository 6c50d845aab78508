//! The database servers that all tests of a run share.
//!
//! Protocol: prints the lines `FRONTDESK_TEST_POSTGRES=<folder>` and `FRONTDESK_TEST_MARIADB=<folder>` and then an
//! empty line once both servers accept connections; the tests need these two variables in their environment.
//! Runs until its standard input closes (or SIGINT, SIGTERM), then stops the servers and removes their folders.
#![expect(clippy::print_stdout, reason = "the caller reads the two lines")]

use std::io::{Read as _, Write as _};

use frontdesk_testkit::databases::{MARIADB_VARIABLE, MariadbServer, POSTGRES_VARIABLE, PostgresServer, WalSync};
use tokio::signal::unix::{SignalKind, signal};

/// Many tests at once, and nothing that must outlive the machine.
const POSTGRES: [&str; 5] =
    ["max_connections=400", "shared_buffers=64MB", "full_page_writes=off", "autovacuum=off", "max_wal_size=512MB"];
const MARIADB: [&str; 3] = ["--max-connections=400", "--innodb-doublewrite=0", "--debug-no-sync"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mariadb = std::thread::spawn(|| MariadbServer::start_with(&MARIADB));
    let postgres = PostgresServer::start_with(WalSync::Off, &POSTGRES);
    let mariadb = mariadb.join().map_err(|_| std::io::Error::other("MariaDB did not start"))?;
    println!("{POSTGRES_VARIABLE}={}", postgres.folder().display());
    println!("{MARIADB_VARIABLE}={}\n", mariadb.folder().display());
    std::io::stdout().flush()?;
    tokio::select! {
        _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())) => {}
        _ = interrupted.recv() => {}
        _ = terminated.recv() => {}
    }
    drop((postgres, mariadb));
    // The thread that waits for standard input may still wait after a signal.
    std::process::exit(0)
}
