//! How fast TOMO wants tools to be (§7), by their roles. Roles that its table does not have count for the nearest one, and
//! of two the faster.

use std::time::Duration;

use frontdesk_engine::model::intern::intern;
use frontdesk_engine::model::latency_target::LatencyTarget;

use super::intent::{Intent, Role};

/// The kinds of §7 with p50, p95 and p99 in milliseconds.
const TARGETS: [(&str, [u64; 3]); 5] = [
    ("search", [600, 1500, 3000]),
    ("get", [300, 800, 1500]),
    ("create", [2000, 5000, 10_000]),
    ("track", [100, 400, 800]),
    ("cancel", [1000, 3000, 5000]),
];

/// The kinds that some tool of these intents belongs to.
pub(super) fn targets<'a>(intents: impl Iterator<Item = &'a Intent> + Clone) -> Vec<LatencyTarget> {
    let target = |(kind, times): (&'static str, [u64; 3])| {
        let tools = intents.clone().flat_map(|intent| &intent.tools).filter(|tool| kind_of(tool.role) == kind);
        let [p50, p95, p99] = times.map(Duration::from_millis);
        LatencyTarget { kind, tools: tools.map(|tool| intern(&tool.name)).collect(), p50, p95, p99 }
    };
    TARGETS.into_iter().map(target).filter(|target| !target.tools.is_empty()).collect()
}

fn kind_of(role: Role) -> &'static str {
    match role {
        Role::Search => "search",
        // A total of a cart or the link of a trip is read while somebody waits.
        Role::GetDetail | Role::Utility => "get",
        Role::Create => "create",
        Role::Track => "track",
        // They change what was booked before, without a new payment.
        Role::Cancel | Role::Modify | Role::Rate => "cancel",
    }
}

#[cfg(test)]
mod tests {
    use super::super::intent::{BUILT_IN, parse};
    use super::targets;

    #[test]
    fn every_tool_has_one_target() {
        for (id, text) in BUILT_IN {
            let intent = parse(text).unwrap();
            let targets = targets(std::iter::once(&intent));
            for tool in &intent.tools {
                let of_tool = targets.iter().filter(|target| target.tools.contains(&tool.name.as_str()));
                assert_eq!(of_tool.count(), 1, "{id} {}", tool.name);
            }
        }
    }
}
