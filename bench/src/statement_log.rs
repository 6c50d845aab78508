//! Checks that the reference runs the statements that Frontdesk runs: PostgreSQL logs every statement while both are
//! called in every way, and each of the reference's must be among Frontdesk's. Nothing is measured meanwhile.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use frontdesk_testkit::databases::PostgresServer;

use crate::BenchResult;
use crate::call::{Caller, Era, Kind};
use crate::load::{CallSource as _, Session, check};
use crate::process::Server;

/// Each line of the server's log begins with the name of its database, which tells the two servers apart.
pub const PREFIX: &str = "log_line_prefix=%d|";
const TIMEOUT: Duration = Duration::from_secs(10);

pub async fn check_same_statements(
    postgres: &PostgresServer,
    desk: &Server,
    bare: &Server,
    caller: &Caller,
) -> BenchResult<()> {
    postgres.sql("postgres", "ALTER SYSTEM SET log_statement = 'all'");
    postgres.sql("postgres", "SELECT pg_reload_conf()");
    let until = Instant::now() + TIMEOUT;
    let mut number = 0;
    // A connection hears of the setting with one of its next statements.
    let outcome = loop {
        for server in [desk, bare] {
            number += 1;
            call_once(server, caller, number).await?;
        }
        let log = postgres.log();
        let (ours, theirs) = (statements(&log, desk.storage.name()), statements(&log, bare.storage.name()));
        let missing: Vec<&String> = theirs.difference(&ours).collect();
        if missing.is_empty() && theirs.iter().any(|text| text.contains("INTO lead ")) {
            break Ok(());
        }
        if Instant::now() > until {
            break Err(
                format!("the reference asks what Frontdesk does not: {missing:#?}\nFrontdesk asks: {ours:#?}").into()
            );
        }
    };
    postgres.sql("postgres", "ALTER SYSTEM RESET log_statement");
    postgres.sql("postgres", "SELECT pg_reload_conf()");
    outcome
}

async fn call_once(server: &Server, caller: &Caller, number: u64) -> BenchResult<()> {
    let caller = Caller { port: server.port, ..caller.clone() };
    let mut session = Session::open(&server.trust, caller.clone()).await?;
    for (place, kind) in (0..).zip([Kind::Get, Kind::Search, Kind::SearchStatus, Kind::Create]) {
        // Far from the numbers of measured calls.
        let call = (kind, Era::Legacy).call(&caller, u64::from(u32::MAX) + number * 10 + place, 0);
        // A small dealership has fewer than 25 of a make.
        let answer = session.exchange(&call.request).await?;
        if kind != Kind::Search {
            check(answer, &call.expected)?;
        }
    }
    Ok(())
}

/// The statements of one database, by the log.
fn statements(log: &str, database: &str) -> BTreeSet<String> {
    log.lines()
        .filter_map(|line| {
            let message = line.strip_prefix(database)?.strip_prefix("|LOG:  ")?;
            let text = match message.strip_prefix("statement: ") {
                Some(text) => text,
                None => message.strip_prefix("execute ")?.split_once(": ")?.1,
            };
            Some(text.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_one_database_are_read_without_their_values() {
        let log = "desk|LOG:  statement: BEGIN READ ONLY\n\
                   bare|LOG:  execute s1: SELECT 2\n\
                   desk|LOG:  execute s0: SELECT body FROM vehicle WHERE tenant = $1\n\
                   desk|DETAIL:  parameters: $1 = 'dlr_00001'\n\
                   |LOG:  checkpoint starting: time\n";
        let found: Vec<String> = statements(log, "desk").into_iter().collect();
        assert_eq!(found, ["BEGIN READ ONLY", "SELECT body FROM vehicle WHERE tenant = $1"]);
    }
}
