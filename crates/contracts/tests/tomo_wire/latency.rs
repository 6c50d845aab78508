//! How fast TOMO wants tools to be (§7), and what the server makes of the calls that it has answered.

use std::net::{IpAddr, Ipv4Addr};

use frontdesk_contracts::partner::PartnerSource;
use frontdesk_contracts::tomo;
use frontdesk_engine::model::latency_target::LatencyTarget;
use frontdesk_engine::model::observation::{Observation, StageTime};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::trace::Trace;
use frontdesk_engine::pipeline::record::latency_window::Percentiles;
use frontdesk_engine::pipeline::record::service_level::{LatencyStanding, LevelNews, ServiceLevel};

use crate::support::partner;

/// Milliseconds at p50, p95 and p99.
const SEARCH: [u64; 3] = [600, 1500, 3000];
const GET: [u64; 3] = [300, 800, 1500];
const CREATE: [u64; 3] = [2000, 5000, 10_000];
const TRACK: [u64; 3] = [100, 400, 800];
const CANCEL: [u64; 3] = [1000, 3000, 5000];

type Row = (&'static str, Vec<&'static str>, [u64; 3]);

fn targets(intent: &str, source: PartnerSource) -> Vec<LatencyTarget> {
    tomo::contract(&partner(intent, source)).unwrap().latency_targets
}

fn rows(intent: &str, source: PartnerSource) -> Vec<Row> {
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap();
    let row = |LatencyTarget { kind, tools, p50, p95, p99 }| (kind, tools, [p50, p95, p99].map(millis));
    targets(intent, source).into_iter().map(row).collect()
}

#[test]
fn t_110_t_111_t_112_t_113_t_114_the_targets_are_the_table() {
    let own = PartnerSource::Own;
    assert_eq!(
        rows("mobility.book_intracity_ride", own),
        [
            ("search", vec!["get_ride_estimates"], SEARCH),
            ("get", vec!["share_trip_status"], GET),
            ("create", vec!["book_ride"], CREATE),
            ("track", vec!["track_ride"], TRACK),
            ("cancel", vec!["update_ride_drop", "rate_ride", "cancel_ride"], CANCEL),
        ]
    );
    assert_eq!(
        rows("food.order_delivery", own),
        [
            ("search", vec!["search_restaurants_and_dishes"], SEARCH),
            ("get", vec!["get_restaurant_menu", "get_dish_detail", "compute_cart_total"], GET),
            ("create", vec!["place_order"], CREATE),
            ("track", vec!["track_order"], TRACK),
            ("cancel", vec!["cancel_order"], CANCEL),
        ]
    );
    for (intent, source) in [("travel.book_hotel", own), ("marketplace.buy_used_car", PartnerSource::Dealership)] {
        assert_eq!(
            rows(intent, source),
            [
                ("search", vec!["search_availability"], SEARCH),
                ("get", vec!["get_listing"], GET),
                ("create", vec!["create_booking"], CREATE),
                ("cancel", vec!["modify_booking", "cancel_booking"], CANCEL),
            ],
            "{intent}"
        );
    }
    assert_eq!(
        rows("auto.book_general_service", PartnerSource::Dealership),
        [
            ("search", vec!["search_providers"], SEARCH),
            ("get", vec!["get_provider_detail", "get_available_slots"], GET),
            ("create", vec!["book_slot"], CREATE),
            ("cancel", vec!["modify_booking", "cancel_booking"], CANCEL),
        ]
    );
}

fn level() -> ServiceLevel {
    ServiceLevel::new(&targets("mobility.book_intracity_ride", PartnerSource::Own))
}

fn at(seconds: i64) -> Millis {
    Millis(1_769_851_800_000 + seconds * 1000)
}

fn call(tool: &'static str, millis: u64, ended: i64) -> Observation {
    let began = Millis(at(ended).0 - i64::try_from(millis).unwrap());
    let mut call = Observation::new(began, Trace::new("t"), "tomo", IpAddr::V4(Ipv4Addr::LOCALHOST));
    (call.tool, call.micros) = (Some(tool), millis * 1000);
    call.stages.perform = Some(StageTime { from: 0, until: 1 });
    call
}

/// Of a hundred calls 50 take half of the p50, 45 half of the p95, 4 half of the p99, and one takes a minute.
#[test]
fn t_110_t_111_t_112_t_113_t_114_percentiles_of_known_calls() {
    let level = level();
    for target in targets("mobility.book_intracity_ride", PartnerSource::Own) {
        let half = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap() / 2;
        for (count, millis) in [(50, half(target.p50)), (45, half(target.p95)), (4, half(target.p99)), (1, 60_000)] {
            for place in 0..count {
                level.add(&call(target.tools[place % target.tools.len()], millis, 10));
            }
        }
    }
    // A bucket ends a sixteenth above what is in it at most.
    let measured = |p50, p95, p99| Some(Percentiles { calls: 100, p50, p95, p99 });
    let found: Vec<_> = level.report(at(10)).into_iter().map(|kind| (kind.target.kind, kind.measured)).collect();
    assert_eq!(
        found,
        [
            ("search", measured(311_295, 753_663, 1_507_327)),
            ("get", measured(155_647, 409_599, 753_663)),
            ("create", measured(1_015_807, 2_621_439, 5_242_879)),
            ("track", measured(51_199, 204_799, 409_599)),
            ("cancel", measured(507_903, 1_507_327, 2_621_439)),
        ]
    );
}

/// One kind after the other: a fifth above twice its p95, until it would be dropped and is fast again.
#[test]
fn t_115_each_kind_is_dropped_by_its_own_target() {
    for target in targets("mobility.book_intracity_ride", PartnerSource::Own) {
        let level = level();
        let (tool, slow) = (target.tools[0], u64::try_from(target.p95.as_millis()).unwrap() * 12 / 5);
        let mut news = Vec::new();
        for second in (0..420).step_by(10) {
            level.add(&call(tool, if second < 360 { slow } else { 20 }, second));
            news.extend(level.tick(at(second)).into_iter().map(|change| (change.kind, second, change.news)));
            let standing = level.report(at(second)).into_iter().find(|kind| kind.target.kind == target.kind);
            let expected = match second {
                0..300 => LatencyStanding::Slow { since: at(0) },
                300..410 => LatencyStanding::Dropped { since: at(0) },
                // The last slow call has left the last minute.
                _ => LatencyStanding::Rejoined { at: at(410) },
            };
            assert_eq!(standing.unwrap().standing, expected, "{} after {second} seconds", target.kind);
        }
        let kind = target.kind;
        assert_eq!(
            news,
            [(kind, 60, LevelNews::Slow), (kind, 300, LevelNews::Dropped), (kind, 410, LevelNews::Recovered)]
        );
        let others = level.report(at(420)).into_iter().filter(|report| report.target.kind != kind);
        assert!(others.into_iter().all(|report| report.standing == LatencyStanding::Good), "{kind}");
    }
}
