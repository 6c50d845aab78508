//! A CMS's site of 50,000 documents, read through Frontdesk and through a bare server that runs the same statements.

mod call;
mod reference;
mod site;

use crate::call::{Caller, Era};
use crate::load::{CallSource as _, Session, check};
use crate::measure::{self, LoadedServer, RUN_IN_CALLS, Row, WARM_UP};
use crate::process::Server;
use crate::{BenchResult, Options, report};
use call::{Kind, SiteCall};
pub use reference::serve;
pub use site::Database;
pub(crate) use site::SiteSource;

/// What is measured in both eras, at which concurrency. What takes long by itself is not called by many at once: that
/// would measure the queue before it.
const CALLS: &[(Kind, &[usize])] = &[(Kind::Get, &[1, 16, 64]), (Kind::Search, FEW)];
const SLOW_CALLS: &[Kind] = &[Kind::SearchFar, Kind::Descendants, Kind::DescendantsFar, Kind::Ancestors];
const FEW: &[usize] = &[1, 4];
/// So many before anything is measured; see `measure`.
const RUN_IN_CONNECTIONS: usize = 4;
const RUN_IN: &[(Kind, u64)] = &[(Kind::Get, RUN_IN_CALLS), (Kind::Search, 50)];

pub async fn measure(options: &Options, database: Database) -> BenchResult<Vec<Row>> {
    let pair = Pair::start(options, database).await?;
    let mut rows = Vec::new();
    for (kind, crowds) in CALLS.iter().filter(|(kind, _)| options.includes_call(kind.name())) {
        for era in [Era::Legacy, Era::Modern] {
            for concurrency in *crowds {
                rows.push(pair.compare(options, *kind, era, *concurrency).await?);
            }
        }
    }
    for kind in SLOW_CALLS.iter().filter(|kind| options.includes_call(kind.name())) {
        for concurrency in FEW {
            rows.push(pair.compare(options, *kind, Era::Legacy, *concurrency).await?);
        }
    }
    Ok(rows)
}

/// Both servers on the same site, which neither can change.
struct Pair {
    database: Database,
    frontdesk: Server,
    reference: Server,
    callers: Vec<Caller>,
}

impl Pair {
    async fn start(options: &Options, database: Database) -> BenchResult<Pair> {
        options.log(&format!("making a site of {} documents on {}", site::DOCUMENTS, database.name()));
        let (desk, bare) = site::create(options, database)?;
        let agent = site::prepare(&desk, &bare).await?;
        let frontdesk = Server::frontdesk(&options.frontdesk, desk).await?;
        let reference = Server::reference(bare).await?;
        let token = frontdesk.log_in(&agent, site::SCOPES).await?;
        let (dealership, port) = (agent.dealership, frontdesk.port);
        let callers = vec![Caller { dealership, place: 0, vehicles: site::DOCUMENTS, token, port }];
        let pair = Pair { database, frontdesk, reference, callers };
        pair.same_answers().await?;
        pair.run_in().await?;
        Ok(pair)
    }

    /// Both must give the same answers, byte for byte.
    async fn same_answers(&self) -> BenchResult<()> {
        let caller = self.callers.first().ok_or("nobody calls")?;
        for (number, kind) in (1..).zip(Kind::ALL) {
            for era in [Era::Legacy, Era::Modern] {
                let mut answers = Vec::new();
                for server in [&self.frontdesk, &self.reference] {
                    let caller = Caller { port: server.port, ..caller.clone() };
                    let call = SiteCall(*kind, era).call(&caller, number, number);
                    let mut session = Session::open(&server.trust, caller).await?;
                    let answer = session.exchange(&call.request).await?;
                    check(answer, &call.expected)?;
                    answers.push(String::from_utf8(answer.to_vec())?);
                }
                if answers.first() != answers.last() {
                    return Err(format!("{} is answered in two ways: {answers:#?}", kind.name()).into());
                }
            }
        }
        Ok(())
    }

    async fn run_in(&self) -> BenchResult<()> {
        for (kind, calls) in RUN_IN {
            for server in [&self.frontdesk, &self.reference] {
                let mut side = LoadedServer::open(server, &self.callers, RUN_IN_CONNECTIONS).await?;
                while side.answered < *calls {
                    side.run_slice(SiteCall(*kind, Era::Legacy), WARM_UP).await?;
                }
            }
        }
        Ok(())
    }

    async fn compare(&self, options: &Options, kind: Kind, era: Era, concurrency: usize) -> BenchResult<Row> {
        let names = (self.database.name(), kind.name(), era);
        let mut desk = LoadedServer::open(&self.frontdesk, &self.callers, concurrency).await?;
        let mut bare = LoadedServer::open(&self.reference, &self.callers, concurrency).await?;
        measure::measure_in_turns(&mut desk, &mut bare, SiteCall(kind, era), SiteCall(kind, era)).await?;
        let row = measure::row(names, concurrency, desk, bare)?;
        options.log(&format!("{} {} {} at {concurrency} {}", names.0, names.1, era.name(), report::line(&row)));
        Ok(row)
    }
}
