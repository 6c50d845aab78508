//! How fast the tools of mounts are, for the operator who asks. It only reads.

use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::pipeline::record::latency_window::Percentiles;
use frontdesk_engine::pipeline::record::service_level::{DROP_MILLIS, KindReport, LatencyStanding, ServiceLevel};
use serde::{Deserialize, Serialize};

use super::requests::AdminService;

/// A mount and the kinds of its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceLevelView {
    pub path: String,
    pub kinds: Vec<KindView>,
}

/// The calls of the last five minutes, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindView {
    pub kind: String,
    pub calls: u64,
    pub p50: LatencyView,
    pub p95: LatencyView,
    pub p99: LatencyView,
    pub standing: StandingView,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyView {
    /// None without calls.
    pub milliseconds: Option<u64>,
    pub target: u64,
}

impl LatencyView {
    pub fn is_over(self) -> bool {
        self.milliseconds.is_some_and(|milliseconds| milliseconds > self.target)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum StandingView {
    Good,
    /// The p95 is above twice its target; how long the caller would still wait.
    Slow {
        since: String,
        dropped_in_seconds: i64,
    },
    Dropped {
        since: String,
    },
    Rejoined {
        at: String,
    },
}

impl AdminService {
    /// Of the mounts of a contract; with a path, of one.
    pub(super) fn service_levels(&self, contract: &str, path: Option<&str>) -> Result<Vec<ServiceLevelView>, String> {
        let app = self.app()?;
        let of_contract = || app.mounts.iter().filter(|(_, mount)| mount.contract.id == contract);
        let views: Vec<ServiceLevelView> = of_contract()
            .filter(|(mounted, _)| path.is_none_or(|path| path == mounted))
            .map(|(path, mount)| ServiceLevelView::new(path, &mount.service_level, app.desk.now()))
            .collect();
        if views.is_empty() {
            let paths: Vec<&str> = of_contract().map(|(path, _)| path.as_str()).collect();
            return Err(match (path, paths.as_slice()) {
                (_, []) => format!("nothing of the contract {contract} is mounted"),
                (path, paths) => format!(
                    "nothing of the contract {contract} is mounted at `{}`; there are: {}",
                    path.unwrap_or_default(),
                    paths.join(", ")
                ),
            });
        }
        Ok(views)
    }
}

impl ServiceLevelView {
    pub fn new(path: &str, level: &ServiceLevel, now: Millis) -> ServiceLevelView {
        let kinds = level.report(now).into_iter().map(|report| kind_view(report, now)).collect();
        ServiceLevelView { path: path.to_owned(), kinds }
    }
}

fn kind_view(KindReport { target, measured, standing }: KindReport, now: Millis) -> KindView {
    let latency = |of: fn(&Percentiles) -> u64, target: std::time::Duration| LatencyView {
        milliseconds: measured.as_ref().map(|measured| of(measured).div_ceil(1000)),
        target: u64::try_from(target.as_millis()).unwrap_or(u64::MAX),
    };
    KindView {
        kind: target.kind.to_owned(),
        calls: measured.map_or(0, |measured| measured.calls),
        p50: latency(|measured| measured.p50, target.p50),
        p95: latency(|measured| measured.p95, target.p95),
        p99: latency(|measured| measured.p99, target.p99),
        standing: match standing {
            LatencyStanding::Good => StandingView::Good,
            LatencyStanding::Slow { since } => StandingView::Slow {
                since: since.to_rfc3339(),
                dropped_in_seconds: (since.0 + DROP_MILLIS - now.0).div_euclid(1000),
            },
            LatencyStanding::Dropped { since } => StandingView::Dropped { since: since.to_rfc3339() },
            LatencyStanding::Rejoined { at } => StandingView::Rejoined { at: at.to_rfc3339() },
        },
    }
}
