//! Rooms of a hotel business, searched and booked through a partner's mount and through a bare server that runs the same
//! statements, and rides that are followed through both. On SQLite only.

mod call;
mod folders;
mod hotels;
mod reference;
mod rides;

use serde_json::Value;

use crate::call::{Caller, Era};
use crate::load::{CallSource as _, Session, check};
use crate::measure::{self, CONCURRENCIES, LoadedServer, RUN_IN_CALLS, Row, WARM_UP};
use crate::process::Server;
use crate::{BenchResult, Options, report};
use call::{Kind, Offered, TomoCall};
use folders::Business;
pub use reference::serve;
use rides::TrackForm;

/// As many as there are connections at most. Each has nights of its own, so that no two of them change the same row.
const CALLERS: usize = 64;
const DATABASE: &str = "sqlite";
/// Any.
const ROOM: u64 = 7;

pub async fn measure(options: &Options) -> BenchResult<Vec<Row>> {
    let pair = Pair::start(options).await?;
    let mut rows = Vec::new();
    for kind in [Kind::Search, Kind::Create].into_iter().filter(|kind| options.includes_call(kind.name())) {
        for concurrency in CONCURRENCIES {
            rows.push(pair.compare(options, kind, *concurrency).await?);
        }
    }
    for track in TrackForm::ALL.into_iter().filter(|track| options.includes_call(track.name())) {
        for concurrency in CONCURRENCIES {
            rows.push(pair.compare_tracking(options, track, *concurrency).await?);
        }
    }
    Ok(rows)
}

/// Both servers on the same businesses, each on a copy of its own.
struct Pair {
    frontdesk: Server,
    reference: Server,
    /// Of rooms.
    callers: Vec<Caller>,
    /// Of rides.
    riders: Vec<Caller>,
    /// What each of the two has offered to each caller.
    desk_offers: &'static [Offered],
    bare_offers: &'static [Offered],
}

impl Pair {
    async fn start(options: &Options) -> BenchResult<Pair> {
        let (desk, bare) = folders::create(options).await?;
        let frontdesk = Server::frontdesk(&options.frontdesk, desk).await?;
        let reference = Server::reference(bare).await?;
        let [callers, riders] = [Business::Hotels, Business::Rides].map(|business| {
            let caller = |place| Caller {
                dealership: business.tenant().to_owned(),
                place,
                vehicles: 0,
                token: folders::bearer(business, place),
                port: frontdesk.port,
            };
            (0..CALLERS).map(caller).collect::<Vec<Caller>>()
        });
        let (desk_offers, bare_offers) = (offers(&frontdesk, &callers).await?, offers(&reference, &callers).await?);
        let pair = Pair { frontdesk, reference, callers, riders, desk_offers, bare_offers };
        pair.same_answers().await?;
        pair.same_events().await?;
        pair.run_in().await?;
        Ok(pair)
    }

    /// A look at a ride must be answered alike, as JSON and as events, except for the minutes that may pass in between.
    async fn same_events(&self) -> BenchResult<()> {
        let caller = self.riders.first().ok_or("nobody calls")?;
        for (ride, track) in TrackForm::ALL.into_iter().enumerate() {
            let mut answers = Vec::new();
            for server in [&self.frontdesk, &self.reference] {
                let caller = Caller { port: server.port, ..caller.clone() };
                let call = track.look_at(ride, &caller, 1);
                let mut session = Session::open(&server.trust, caller).await?;
                let answer = session.exchange(&call.request).await?;
                check(answer, &call.expected)?;
                answers.push(rides::messages(answer)?);
            }
            if answers.first() != answers.last() {
                return Err(format!("{} is answered in two ways: {answers:#?}", track.name()).into());
            }
        }
        Ok(())
    }

    /// Both must give the same answers, except for what is new in each: the token, the booking and its times.
    async fn same_answers(&self) -> BenchResult<()> {
        let caller = self.callers.first().ok_or("nobody calls")?;
        for kind in [Kind::Search, Kind::Create] {
            let (desk, bare) = self.sources(kind);
            let mut answers = Vec::new();
            for (server, source) in [(&self.frontdesk, desk), (&self.reference, bare)] {
                let mut content = ask(server, caller, source).await?;
                let members = content.as_object_mut().ok_or("an answer without content")?;
                for new in ["result_token", "expires_at", "booking_ref", "booked_at"] {
                    members.remove(new);
                }
                answers.push(content);
            }
            if answers.first() != answers.last() {
                return Err(format!("{} is answered in two ways: {answers:#?}", kind.name()).into());
            }
        }
        Ok(())
    }

    /// Also books something in most of the nights that are searched.
    async fn run_in(&self) -> BenchResult<()> {
        for kind in [Kind::Create, Kind::Search] {
            let (desk, bare) = self.sources(kind);
            for (server, source) in [(&self.frontdesk, desk), (&self.reference, bare)] {
                let mut side = LoadedServer::open(server, &self.callers, CALLERS).await?;
                while side.answered < run_in_calls(kind) {
                    side.run_slice(source, WARM_UP).await?;
                }
            }
        }
        for (server, source) in [&self.frontdesk, &self.reference].into_iter().zip(TrackForm::Json.calls()) {
            let mut side = LoadedServer::open(server, &self.riders, CALLERS).await?;
            while side.answered < RUN_IN_CALLS {
                side.run_slice(source, WARM_UP).await?;
            }
        }
        Ok(())
    }

    fn sources(&self, kind: Kind) -> (TomoCall, TomoCall) {
        (TomoCall { kind, offers: self.desk_offers }, TomoCall { kind, offers: self.bare_offers })
    }

    async fn compare(&self, options: &Options, kind: Kind, concurrency: usize) -> BenchResult<Row> {
        let (desk_calls, bare_calls) = self.sources(kind);
        let mut desk = LoadedServer::open(&self.frontdesk, &self.callers, concurrency).await?;
        let mut bare = LoadedServer::open(&self.reference, &self.callers, concurrency).await?;
        let before = (bookings(&self.frontdesk)?, bookings(&self.reference)?);
        measure::measure_in_turns(&mut desk, &mut bare, desk_calls, bare_calls).await?;
        if kind == Kind::Create {
            measure::check_count(before.0, bookings(&self.frontdesk)?, desk.answered)?;
            measure::check_count(before.1, bookings(&self.reference)?, bare.answered)?;
        }
        let row = measure::row((DATABASE, kind.name(), Era::Legacy), concurrency, desk, bare)?;
        log(options, &row);
        Ok(row)
    }

    async fn compare_tracking(&self, options: &Options, track: TrackForm, concurrency: usize) -> BenchResult<Row> {
        let mut desk = LoadedServer::open(&self.frontdesk, &self.riders, concurrency).await?;
        let mut bare = LoadedServer::open(&self.reference, &self.riders, concurrency).await?;
        let [desk_calls, bare_calls] = track.calls();
        measure::measure_in_turns(&mut desk, &mut bare, desk_calls, bare_calls).await?;
        let row = measure::row((DATABASE, track.name(), Era::Legacy), concurrency, desk, bare)?;
        log(options, &row);
        Ok(row)
    }
}

fn log(options: &Options, row: &Row) {
    options.log(&format!("{DATABASE} {} at {} {}", row.call, row.concurrency, report::line(row)));
}

fn run_in_calls(kind: Kind) -> u64 {
    match kind {
        Kind::Search => RUN_IN_CALLS,
        // Two for each room and caller.
        Kind::Create => (CALLERS * hotels::ROOMS_OF_A_CITY * 2) as u64,
    }
}

fn bookings(server: &Server) -> BenchResult<u64> {
    server.storage.count("tomo_booking")
}

/// Makes one call and gives its content.
async fn ask(server: &Server, caller: &Caller, source: TomoCall) -> BenchResult<Value> {
    let caller = Caller { port: server.port, ..caller.clone() };
    // The same numbers for both servers, so that both are asked for the same room; others for each caller, because limits
    // count by session.
    let call = source.call(&caller, caller.place as u64 + 1, ROOM);
    let mut session = Session::open(&server.trust, caller).await?;
    let answer = session.exchange(&call.request).await?;
    check(answer, &call.expected)?;
    let mut answer: Value = serde_json::from_slice(answer)?;
    Ok(answer.pointer_mut("/result/structuredContent").ok_or("an answer without content")?.take())
}

/// One search for each caller. What it offers is called for until the process ends.
async fn offers(server: &Server, callers: &[Caller]) -> BenchResult<&'static [Offered]> {
    let mut all = Vec::new();
    for caller in callers {
        let content = ask(server, caller, TomoCall { kind: Kind::Search, offers: &[] }).await?;
        all.push(Offered::read(&content).ok_or_else(|| format!("a search without offers: {content}"))?);
    }
    Ok(all.leak())
}
