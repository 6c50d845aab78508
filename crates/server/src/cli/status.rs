//! `frontdesk CONTRACT status`: how fast the tools of a mount are against the targets of its contract, and when its caller
//! would stop calling. It talks to the running server only, which has measured.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use frontdesk_contracts::ENTRIES;
use frontdesk_engine::model::contract_entry::{ContractEntry, Requires};

use super::table::table;
use super::{CliError, data_flag, load_config, runtime};
use crate::admin::{AdminRequest, AdminResponse, KindView, LatencyView, ServiceLevelView, StandingView, send_request};
use crate::data_dir;

const NAME: &str = "status";

/// Only the caller of a partner has targets.
pub(super) fn definition(entry: &ContractEntry) -> Option<Command> {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    matches!(entry.requires, Requires::Partner).then(|| {
        Command::new(NAME)
            .about("Show how fast tools are against their targets, and when the live status would be dropped")
            .long_about(
                "Shows the calls of the last five minutes by kind of tool: how many there were, and how long they took \
                 at p50, p95 and p99 against the targets of the contract. Streams that stay open are left out.\n\n\
                 A kind whose p95 of the last minute is above twice its target for more than five minutes costs a \
                 partner its live status. The status says since when that is so, and how much time is left; it comes \
                 back once the p95 is below again.\n\n\
                 Each node measures the calls that it has answered itself.",
            )
            .after_help(format!(
                "Examples:\n  frontdesk {contract} status\n  frontdesk {contract} status --mount PATH --json",
                contract = entry.name
            ))
            .arg(option("mount", "PATH", "The path of one mount [default: all of the contract]"))
            .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one line of JSON"))
            .arg(option("config", "FILE", "The configuration file"))
            .arg(option("data", "FOLDER", "The data folder"))
    })
}

/// The contract whose command was given, with its arguments.
pub(super) fn find(matches: &ArgMatches) -> Option<(&'static ContractEntry, &ArgMatches)> {
    let (contract, matches) = matches.subcommand()?;
    let entry = ENTRIES.iter().find(|entry| entry.name == contract)?;
    let (name, matches) = matches.subcommand()?;
    (name == NAME && definition(entry).is_some()).then_some((entry, matches))
}

pub(super) fn run(entry: &ContractEntry, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let path = |name: &str| text(name).map(PathBuf::from);
    let config = load_config(path("config"), data_flag(path("data").as_deref()))?.config;
    let request = AdminRequest::ServiceLevel { contract: entry.name.to_owned(), mount: text("mount") };
    let Some(response) = runtime()?.block_on(send_request(&data_dir::admin_socket(&config.data), &request)) else {
        let data = config.data.display();
        return Err(format!("no server runs on {data}. Start it, or name the folder of a running one").into());
    };
    let views = match response? {
        AdminResponse::ServiceLevels(views) => views,
        AdminResponse::Secret { .. }
        | AdminResponse::Clients(_)
        | AdminResponse::Revoked { .. }
        | AdminResponse::Key(_)
        | AdminResponse::Recorded
        | AdminResponse::Token(_)
        | AdminResponse::Import(_)
        | AdminResponse::Export(_)
        | AdminResponse::ErasePerson(_)
        | AdminResponse::Maintenance(_)
        | AdminResponse::Advanced(_)
        | AdminResponse::Deliveries(_)
        | AdminResponse::Description(_)
        | AdminResponse::Tenant(_) => return Err("the running server is another version of Frontdesk".into()),
    };
    let text = if matches.get_flag("json") { serde_json::to_string(&views)? } else { shown(&views) };
    writeln!(io::stdout().lock(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}

/// For people: one row for each kind.
fn shown(views: &[ServiceLevelView]) -> String {
    let head = ["MOUNT", "KIND", "CALLS", "P50", "P95", "P99", "STATUS"].map(str::to_owned);
    let rows = views.iter().flat_map(|view| view.kinds.iter().map(|kind| row(&view.path, kind)));
    table(head, rows)
}

fn row(path: &str, kind: &KindView) -> [String; 7] {
    let [p50, p95, p99] = [kind.p50, kind.p95, kind.p99].map(|LatencyView { milliseconds, target }| {
        let taken = milliseconds.map_or_else(|| "-".to_owned(), |milliseconds| milliseconds.to_string());
        format!("{taken} of {target} ms")
    });
    [path.to_owned(), kind.kind.clone(), kind.calls.to_string(), p50, p95, p99, status(kind)]
}

fn status(kind: &KindView) -> String {
    match &kind.standing {
        StandingView::Good if kind.calls == 0 => "no calls".to_owned(),
        StandingView::Good => {
            let all = [("p50", kind.p50), ("p95", kind.p95), ("p99", kind.p99)];
            let over: Vec<&str> = all.iter().filter(|(_, latency)| latency.is_over()).map(|(name, _)| *name).collect();
            if over.is_empty() { "ok".to_owned() } else { format!("over its target: {}", over.join(", ")) }
        }
        StandingView::Slow { since, dropped_in_seconds } => {
            format!(
                "p95 above twice its target since {since}: live status dropped in {}",
                time_left(*dropped_in_seconds)
            )
        }
        StandingView::Dropped { since } => {
            format!("p95 above twice its target since {since}: live status dropped by now")
        }
        StandingView::Rejoined { at } => format!("recovered at {at}: would rejoin"),
    }
}

fn time_left(seconds: i64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Duration;

    use frontdesk_engine::model::latency_target::LatencyTarget;
    use frontdesk_engine::model::observation::{Observation, StageTime};
    use frontdesk_engine::model::timestamp::Millis;
    use frontdesk_engine::model::trace::Trace;
    use frontdesk_engine::pipeline::record::service_level::ServiceLevel;

    use super::{ServiceLevelView, shown};

    /// A mount with two kinds, and a clock that the test moves.
    struct Mount {
        level: ServiceLevel,
        /// Seconds since 2027-01-15T08:00:00Z.
        seconds: i64,
    }

    impl Mount {
        fn new() -> Mount {
            let target = |kind, tool, [p50, p95, p99]: [u64; 3]| {
                let [p50, p95, p99] = [p50, p95, p99].map(Duration::from_millis);
                LatencyTarget { kind, tools: vec![tool], p50, p95, p99 }
            };
            let search = target("search", "search_availability", [600, 1500, 3000]);
            let track = target("track", "track_ride", [100, 400, 800]);
            Mount { level: ServiceLevel::new(&[search, track]), seconds: 0 }
        }

        fn now(&self) -> Millis {
            Millis(1_800_000_000_000 + self.seconds * 1000)
        }

        /// For so many seconds, ten calls that take so long and a look every ten of them.
        fn calls(&mut self, seconds: i64, tool: &'static str, millis: u64) {
            for _ in 0..seconds / 10 {
                self.seconds += 10;
                for _ in 0..10 {
                    let at = Millis(self.now().0 - i64::try_from(millis).unwrap());
                    let mut call = Observation::new(at, Trace::new("t"), "rides", IpAddr::V4(Ipv4Addr::LOCALHOST));
                    (call.tool, call.micros) = (Some(tool), millis * 1000);
                    call.stages.perform = Some(StageTime { from: 0, until: 1 });
                    self.level.add(&call);
                }
                self.level.tick(self.now());
            }
        }

        fn shown(&self) -> String {
            shown(&[ServiceLevelView::new("/mcp/ride", &self.level, self.now())])
        }
    }

    #[test]
    fn t_115_the_drop_is_predicted_and_so_is_the_return() {
        let mut mount = Mount::new();
        assert_eq!(
            mount.shown(),
            "\
MOUNT      KIND    CALLS  P50          P95           P99           STATUS
/mcp/ride  search  0      - of 600 ms  - of 1500 ms  - of 3000 ms  no calls
/mcp/ride  track   0      - of 100 ms  - of 400 ms   - of 800 ms   no calls"
        );
        mount.calls(300, "track_ride", 40);
        let ok = "/mcp/ride  track   300    41 of 100 ms  41 of 400 ms  41 of 800 ms  ok";
        assert_eq!(mount.shown().lines().last(), Some(ok));
        // Above the target and below twice of it: not good, and no danger.
        mount.calls(300, "track_ride", 500);
        let over = "/mcp/ride  track   300    508 of 100 ms  508 of 400 ms  508 of 800 ms  over its target: p50, p95";
        assert_eq!(mount.shown().lines().last(), Some(over));
        // Above twice the target for almost three minutes: two and a bit are left.
        mount.calls(180, "track_ride", 900);
        let slow = "/mcp/ride  track   300    918 of 100 ms  918 of 400 ms  918 of 800 ms  p95 above twice its target since 2027-01-15T08:10:10Z: live status dropped in 2 min 10 s";
        assert_eq!(mount.shown().lines().last(), Some(slow));
        mount.calls(140, "track_ride", 900);
        let dropped = "/mcp/ride  track   300    918 of 100 ms  918 of 400 ms  918 of 800 ms  p95 above twice its target since 2027-01-15T08:10:10Z: live status dropped by now";
        assert_eq!(mount.shown().lines().last(), Some(dropped));
        // The last minute decides: it is fast again.
        mount.calls(60, "track_ride", 40);
        let rejoined = "/mcp/ride  track   300    918 of 100 ms  918 of 400 ms  918 of 800 ms  recovered at 2027-01-15T08:16:20Z: would rejoin";
        assert_eq!(mount.shown().lines().last(), Some(rejoined));
        mount.calls(300, "track_ride", 40);
        assert_eq!(mount.shown().lines().last(), Some(ok));
    }

    #[test]
    fn a_short_slowness_ends_before_anybody_acts() {
        let mut mount = Mount::new();
        mount.calls(240, "search_availability", 3_500);
        let slow = mount.shown();
        assert!(slow.contains("since 2027-01-15T08:00:10Z: live status dropped in 1 min 10 s"), "{slow}");
        mount.calls(60, "search_availability", 200);
        let over = mount.shown();
        assert!(over.contains("over its target: p50, p95, p99"), "what was slow is still among the calls: {over}");
    }

    #[test]
    fn json_says_the_same() {
        let mut mount = Mount::new();
        mount.calls(10, "track_ride", 900);
        let view = ServiceLevelView::new("/mcp/ride", &mount.level, mount.now());
        assert_eq!(
            serde_json::to_string(&view.kinds[1]).unwrap(),
            r#"{"kind":"track","calls":10,"p50":{"milliseconds":918,"target":100},"p95":{"milliseconds":918,"target":400},"p99":{"milliseconds":918,"target":800},"standing":{"state":"slow","since":"2027-01-15T08:00:10Z","dropped_in_seconds":300}}"#
        );
    }
}
