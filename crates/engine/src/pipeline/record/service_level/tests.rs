//! When calls are too slow, for how long, and what is said about it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use super::{KindReport, LatencyStanding, LevelNews, ServiceLevel};
use crate::model::latency_target::LatencyTarget;
use crate::model::observation::{Observation, StageTime, Streamed};
use crate::model::timestamp::Millis;
use crate::model::trace::Trace;

fn target(kind: &'static str, tools: &[&'static str], p95: u64) -> LatencyTarget {
    let p95 = Duration::from_millis(p95);
    LatencyTarget { kind, tools: tools.to_vec(), p50: p95 / 2, p95, p99: p95 * 2 }
}

fn level() -> ServiceLevel {
    ServiceLevel::new(&[target("search", &["find", "seek"], 1_500), target("track", &["track"], 400)])
}

fn at(seconds: i64) -> Millis {
    Millis(1_700_000_000_000 + seconds * 1000)
}

fn call(tool: &'static str, millis: u64, ended: i64) -> Observation {
    let ended = Millis(at(ended).0 - i64::try_from(millis).unwrap());
    let mut call = Observation::new(ended, Trace::new("t"), "made-up", IpAddr::V4(Ipv4Addr::LOCALHOST));
    call.tool = Some(tool);
    call.micros = millis * 1000;
    call.stages.perform = Some(StageTime { from: 0, until: 1 });
    call
}

fn calls(level: &ServiceLevel, now: i64) -> Vec<u64> {
    level.report(at(now)).iter().map(|kind| kind.measured.map_or(0, |measured| measured.calls)).collect()
}

#[test]
fn calls_count_for_the_kind_of_their_tool() {
    let level = level();
    for tool in ["find", "seek", "track", "other"] {
        level.add(&call(tool, 10, 0));
    }
    assert_eq!(calls(&level, 0), [2, 1]);
    let KindReport { target, measured, standing } = level.report(at(0)).remove(1);
    assert_eq!((target.kind, measured.unwrap().p95, standing), ("track", 10_239, LatencyStanding::Good));
}

#[test]
fn what_did_not_run_does_not_count() {
    let level = level();
    let refused = Observation { stages: Default::default(), ..call("find", 1, 0) };
    let limited = Observation { outcome: "rate_limited", ..call("find", 1, 0) };
    let held = Observation { streamed: Streamed::Held, ..call("track", 60_000, 0) };
    let imported = Observation { import_id: Some(Arc::from("i")), ..call("find", 1, 0) };
    for left_out in [refused, limited, held, imported] {
        level.add(&left_out);
    }
    assert_eq!(calls(&level, 0), [0, 0]);
    level.add(&Observation { streamed: Streamed::AtOnce, outcome: "not_found", ..call("track", 1, 0) });
    assert_eq!(calls(&level, 0), [0, 1], "a stream that is complete at once is a call like others");
}

/// Every ten seconds a call of so many milliseconds and a look at it; gives what was worth telling.
fn run(level: &ServiceLevel, seconds: std::ops::Range<i64>, millis: Option<u64>) -> Vec<(i64, LevelNews)> {
    let mut news = Vec::new();
    for now in seconds.step_by(10) {
        if let Some(millis) = millis {
            level.add(&call("track", millis, now));
        }
        news.extend(level.tick(at(now)).into_iter().map(|change| (now, change.news)));
    }
    news
}

fn standing(level: &ServiceLevel, now: i64) -> LatencyStanding {
    level.report(at(now)).remove(1).standing
}

#[test]
fn five_minutes_above_twice_the_target_are_too_long() {
    let level = level();
    assert_eq!(run(&level, 0..100, Some(750)), [], "above the target and below twice of it");
    assert_eq!(standing(&level, 100), LatencyStanding::Good);
    assert_eq!(run(&level, 100..400, Some(900)), [(160, LevelNews::Slow)], "told once");
    assert_eq!(standing(&level, 399), LatencyStanding::Slow { since: at(100) });
    assert_eq!(standing(&level, 400), LatencyStanding::Dropped { since: at(100) }, "also before somebody looks");
    assert_eq!(run(&level, 400..500, Some(900)), [(400, LevelNews::Dropped)]);
    // Nobody calls, which is no recovery.
    assert_eq!(run(&level, 500..900, None), []);
    assert_eq!(standing(&level, 900), LatencyStanding::Dropped { since: at(100) });
    assert_eq!(run(&level, 900..1000, Some(20)), [(900, LevelNews::Recovered)]);
    assert_eq!(standing(&level, 1000), LatencyStanding::Rejoined { at: at(900) });
    assert_eq!(run(&level, 1000..1210, Some(20)), []);
    assert_eq!(standing(&level, 1210), LatencyStanding::Good);
    assert_eq!(run(&level, 1210..1300, Some(900)), [(1270, LevelNews::Slow)], "it begins anew");
}

#[test]
fn a_short_time_is_no_matter() {
    let level = level();
    assert_eq!(run(&level, 0..50, Some(5_000)), []);
    assert_eq!(standing(&level, 50), LatencyStanding::Slow { since: at(0) });
    // The slow calls leave the last minute one after the other.
    assert_eq!(run(&level, 50..110, Some(20)), [(60, LevelNews::Slow), (100, LevelNews::Recovered)]);
    assert_eq!(standing(&level, 110), LatencyStanding::Good);
}

#[test]
fn silence_ends_what_was_slow_for_a_while() {
    let level = level();
    run(&level, 0..30, Some(5_000));
    assert_eq!(run(&level, 30..100, None), [(60, LevelNews::Slow), (80, LevelNews::Recovered)]);
    assert_eq!(standing(&level, 100), LatencyStanding::Good);
}

#[test]
fn other_targets_keep_what_was_measured() {
    let level = level();
    level.add(&call("track", 500, 0));
    let changed = level.with_targets(&[target("track", &["track", "follow"], 100), target("get", &["get"], 800)]);
    changed.add(&call("follow", 500, 0));
    assert_eq!(calls(&changed, 0), [2, 0]);
    assert_eq!(calls(&level, 0), [0, 2], "a call under the old ones counts for the new ones");
}
