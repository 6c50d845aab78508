//! A trip that its rider has shared: whoever has the link sees how it stands, and nothing of the people in it.

use frontdesk_engine::model::schema::{Schema, required};
use frontdesk_engine::model::tool::{
    Effect, Future, Outcome, RateKey, ReadTool, Run, ScopeRule, Sensitivity, Tool, ToolSpec,
};
use frontdesk_engine::{Fault, Permitted, Scope};
use serde_json::Value;

use super::codes::NOT_FOUND;
use super::mobility::trip_status;
use super::{MANAGE, tenant};

/// The operator's tool that opens a link.
pub const READ_TRIP: &str = "read_shared_trip";

pub(super) fn tool() -> Tool {
    let input = Schema::object([required("token", Schema::text(2_000), "The end of the link."), tenant()]);
    let spec = ToolSpec {
        name: READ_TRIP,
        title: "Read a shared trip",
        about: "Says how a trip stands whose link was shared.",
        input,
        output: Schema::AnyObject,
        effect: Effect::Reads,
        scope: ScopeRule::One(Scope::new(MANAGE)),
        unmask_scope: None,
        sensitivity: Sensitivity::Business,
        max_login_age: None,
        rate: RateKey::Client,
        route: None,
        codes: vec![NOT_FOUND],
    };
    Tool { spec, run: Run::read(ReadTrip) }
}

struct ReadTrip;

impl ReadTool for ReadTrip {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let token = permitted.input().text("token").unwrap_or_default();
            let trip = trip_status(permitted, token).await?;
            Ok(Outcome::Raw { answer: trip.to_string(), rows: 1 })
        })
    }
}

/// The heading of a trip's page and its rows. What is not known is left out, and what nobody has listed here never shows.
pub(crate) fn page(trip: &Value) -> (String, Vec<(&'static str, String)>) {
    let text = |name: &str| trip.get(name).and_then(Value::as_str).map(str::to_owned);
    let minutes = |minutes: i64| match minutes {
        ..=0 => "now".to_owned(),
        1 => "in 1 minute".to_owned(),
        _ => format!("in {minutes} minutes"),
    };
    let eta = trip.get("eta_minutes").and_then(Value::as_i64).map(minutes);
    let words = |text: String| text.replace('_', " ");
    let rows = [
        ("Stage", text("stage").map(words)),
        ("Expected", eta),
        ("Vehicle", text("vehicle_class").map(words)),
        ("City", text("city")),
        ("This link ends", text("expires_at").and_then(|at| local_time(&at))),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some((name, value?)));
    (text("message").unwrap_or_else(|| "A trip is under way.".to_owned()), rows.collect())
}

/// The trips are in India.
fn local_time(at: &str) -> Option<String> {
    let at: jiff::Timestamp = at.parse().ok()?;
    let local = at.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::Offset::from_seconds(19_800).ok()?));
    Some(local.strftime("%H:%M on %d %B %Y").to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::page;

    #[test]
    fn a_page_has_the_known_facts_and_no_others() {
        let trip = json!({"stage": "driver_arriving", "message": "The driver is on the way to the pickup.",
            "eta_minutes": 4, "vehicle_class": "auto_rickshaw", "city": "Bengaluru",
            "expires_at": "2027-03-01T20:00:00Z", "driver_name": "Ravi", "plate": "KA01AB1234"});
        let (heading, rows) = page(&trip);
        assert_eq!(heading, "The driver is on the way to the pickup.");
        let rows: Vec<String> = rows.into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let expected = [
            "Stage: driver arriving",
            "Expected: in 4 minutes",
            "Vehicle: auto rickshaw",
            "City: Bengaluru",
            "This link ends: 01:30 on 02 March 2027",
        ];
        assert_eq!(rows, expected);
        assert_eq!(page(&json!({"eta_minutes": 0})).1, [("Expected", "now".to_owned())]);
    }
}
