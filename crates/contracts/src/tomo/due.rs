//! Which bookings a clock would move now: those that go through their stages by themselves where nobody reports them, for
//! trying out, and those whose time has passed. It only says so; whoever asked makes the calls. Several may ask at once:
//! the calls are the same, so each takes effect once.

use frontdesk_engine::model::page::{Direction, Filter, Order, Projection, Query, Start, Window};
use frontdesk_engine::model::schema::{Schema, optional};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{
    Effect, Future, Outcome, RateKey, ReadTool, Run, ScopeRule, Sensitivity, Tool, ToolSpec,
};
use frontdesk_engine::{Fault, Permitted, Scope};
use serde_json::{Value, json};

use super::booking::{Booking, BookingStatus};
use super::lifecycle::OwnBookings;
use super::shape::Shape;
use super::{MANAGE, listing, tenant};
use crate::record::{Entity, Stored as _, Vocabulary as _};

/// The operator's tool that says what is due.
pub const DUE: &str = "list_due_bookings";

/// So many bookings are looked at for each intent at once; the rest has its turn later.
const MAX_BOOKINGS: usize = 50;

/// A stage, and after how many seconds in the one before it comes.
type UsualStage = (&'static str, i64);

const RIDE: &[UsualStage] =
    &[("driver_assigned", 2), ("driver_arriving", 4), ("driver_arrived", 6), ("in_progress", 4), ("completed", 10)];

const DELIVERY: &[UsualStage] =
    &[("placed", 0), ("accepted", 3), ("preparing", 4), ("ready", 6), ("picked_up", 4), ("delivered", 8)];

/// The way that a booking usually takes; what is booked for a time waits for it, and has none.
fn usual_path(shape: Shape) -> &'static [UsualStage] {
    match shape {
        Shape::Mobility => RIDE,
        Shape::Order => DELIVERY,
        Shape::Listing | Shape::Service => &[],
    }
}

/// The tool, for the bookings of a mount.
pub(super) fn tool(own: OwnBookings) -> Tool {
    let input = Schema::object([
        optional("plays_stages", Schema::Boolean, "Whether bookings go through their stages by themselves."),
        optional("complete_after_hours", Schema::integer(1, 8_760), "Complete what has ended so many hours ago."),
        tenant(),
    ]);
    let spec = ToolSpec {
        name: DUE,
        title: "List due bookings",
        about: "Lists the bookings that a clock would move now.",
        input,
        output: Schema::AnyObject,
        effect: Effect::Reads,
        scope: ScopeRule::One(Scope::new(MANAGE)),
        unmask_scope: None,
        sensitivity: Sensitivity::Business,
        max_login_age: None,
        rate: RateKey::Client,
        route: None,
        codes: Vec::new(),
    };
    Tool { spec, run: Run::read(DueBookings(own)) }
}

struct DueBookings(OwnBookings);

impl ReadTool for DueBookings {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let DueBookings(own) = self;
            let arguments = &permitted.input().arguments;
            let plays_stages = arguments.get("plays_stages").and_then(Value::as_bool).unwrap_or_default();
            let hours = arguments.get("complete_after_hours").and_then(Value::as_i64);
            let mut due = Vec::new();
            for intent in &own.intents {
                let path = usual_path(intent.shape);
                if plays_stages && !path.is_empty() {
                    let open = open_bookings(permitted, own, &intent.id, None).await?;
                    due.extend(open.iter().filter_map(|booking| next_stage(booking, path, permitted.now())));
                }
                if let (Some(hours), []) = (hours, path) {
                    let before = permitted.now().plus_seconds(hours.saturating_mul(-3600));
                    let open = open_bookings(permitted, own, &intent.id, Some(before)).await?;
                    due.extend(open.iter().filter(|booking| has_ended(&booking.record, before)).map(completed));
                }
            }
            let rows = due.len();
            let due: Vec<Value> =
                due.into_iter().map(|(id, stage)| json!({"booking_ref": id, "stage": stage})).collect();
            Ok(Outcome::Raw { answer: json!({"due": due}).to_string(), rows })
        })
    }
}

type DueStage = (String, &'static str);

/// The stage that comes next, if its time has come. One that is not on the usual way begins it.
fn next_stage(booking: &Entity<Booking>, path: &[UsualStage], now: Millis) -> Option<DueStage> {
    let stage = booking.record.stage.as_deref();
    let at = path.iter().position(|(usual, _)| Some(*usual) == stage);
    let (next, seconds) = path.get(at.map_or(0, |at| at + 1))?;
    (booking.updated_at.plus_seconds(*seconds) <= now).then(|| (booking.id.clone(), *next))
}

fn completed(booking: &Entity<Booking>) -> DueStage {
    (booking.id.clone(), "completed")
}

/// Whether the time of a booking has passed by then. An appointment of the dealership's workshop is reported by it.
fn has_ended(booking: &Booking, before: Millis) -> bool {
    let end = match (&booking.stay, &booking.slot) {
        (Some(stay), _) => listing::end_of(stay),
        (None, Some(slot)) if slot.appointment_id.is_some() => return false,
        (None, Some(slot)) => slot.ends_at,
        (None, None) => booking.starts_at,
    };
    end <= before
}

/// Those that began first come first.
async fn open_bookings(
    permitted: &Permitted<'_>,
    own: &OwnBookings,
    intent: &str,
    began_before: Option<Millis>,
) -> Result<Vec<Entity<Booking>>, Fault> {
    let equals = |column, word: &str| Filter::Equals(column, Cell::Text(word.to_owned()));
    let mut filters = vec![equals("intent", intent), equals("status", BookingStatus::Confirmed.as_str())];
    filters.extend(began_before.map(|before| Filter::AtMost("starts_at", before.0)));
    let query = Query {
        projection: Projection::Rows,
        table: Booking::table(),
        filters,
        order: Order { column: "starts_at", direction: Direction::Ascending },
        window: Window { start: Start::First, limit: MAX_BOOKINGS, bytes: permitted.window().bytes },
    };
    let mut bookings = Vec::new();
    for body in permitted.page(query).await?.rows {
        let booking: Entity<Booking> = Entity::restore_listed(permitted.tenant(), &body)?;
        if own.has(&booking.record) {
            bookings.push(booking);
        }
    }
    Ok(bookings)
}

#[cfg(test)]
mod tests {
    use frontdesk_engine::TenantId;
    use frontdesk_engine::model::timestamp::Millis;

    use super::{DELIVERY, RIDE, UsualStage, has_ended, next_stage};
    use crate::record::{Entity, Integer};
    use crate::tomo::booking::{Booking, BookingMode, BookingStatus};

    fn booking(stage: Option<&str>) -> Entity<Booking> {
        let record = Booking {
            status: BookingStatus::Confirmed,
            stage: stage.map(Into::into),
            mode: BookingMode::Live,
            intent: "mobility.book_intracity_ride".into(),
            intent_version: "v1.0.0".into(),
            partner_id: None,
            request_id: None,
            item_id: "x".into(),
            total_inr: Integer::clamped(100),
            previous_total_inr: None,
            refund_inr: None,
            refund_percent: None,
            starts_at: Millis(5_000),
            cancelled_at: None,
            ended_at: None,
            net_inr: None,
            stay: None,
            car: None,
            slot: None,
            ride: None,
            order: None,
            backend: None,
            customer: None,
        };
        Entity::new("bkg_1".to_owned(), TenantId::parse("t").unwrap(), Millis(0), record)
    }

    /// Every stage with the second at which it comes, counted from the first.
    fn played(path: &'static [UsualStage], from: Option<&str>) -> Vec<(&'static str, i64)> {
        let (mut ride, mut stages) = (booking(from), Vec::new());
        for second in 0..100 {
            let now = Millis(second * 1_000);
            if let Some((_, stage)) = next_stage(&ride, path, now) {
                ride.record.stage = Some(stage.into());
                ride.updated_at = now;
                stages.push((stage, second));
            }
        }
        stages
    }

    #[test]
    fn rides_and_orders_go_through_all_stages_in_time() {
        let ride = [
            ("driver_assigned", 2),
            ("driver_arriving", 6),
            ("driver_arrived", 12),
            ("in_progress", 16),
            ("completed", 26),
        ];
        assert_eq!(played(RIDE, None), ride);
        assert_eq!(played(RIDE, Some("driver_arrived")), [("in_progress", 4), ("completed", 14)]);
        let order = [("accepted", 3), ("preparing", 7), ("ready", 13), ("picked_up", 17), ("delivered", 25)];
        assert_eq!(played(DELIVERY, Some("placed")), order);
        assert_eq!(played(DELIVERY, Some("delivered")), []);
    }

    #[test]
    fn a_car_is_due_from_its_handover_on() {
        let car = booking(None).record;
        assert_eq!([has_ended(&car, Millis(4_999)), has_ended(&car, Millis(5_000))], [false, true]);
    }
}
