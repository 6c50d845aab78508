//! How many rooms of a kind are booked in a night: a single row, which every booking of that night changes together with
//! itself. So two bookings cannot take the same room, and what a search shows is never stale.

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{OnConflict, Step};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};

use super::dates::{MAX_NIGHTS, StayDates};
use crate::Record;
use crate::record::{Day, Entity, Integer, Stored as _, Text, Vocabulary as _, list_records};
use crate::tomo::TENANT;
use crate::tomo::booking::BookingMode;

/// No tool shows it.
#[derive(Debug, Clone, PartialEq, Record)]
#[table("tomo_night", prefix = "ngt", not_found = "NOT_FOUND", noun = "night")]
pub(crate) struct RoomNight {
    /// The kind of room.
    #[field(indexed)]
    pub room_id: Text<64>,
    /// The day on which the night begins.
    #[field(column)]
    pub night: Day,
    /// Those of the sandbox are counted apart.
    #[field(column)]
    pub mode: BookingMode,
    /// How many rooms are booked.
    pub rooms: Integer<0, 1_000_000>,
}

/// The id of the row of a night. It is made of its parts, so that it can be read without a search.
fn id_of(room_id: &str, night: Day, mode: BookingMode) -> String {
    let room = room_id.split_once('_').map_or(room_id, |(_, own)| own);
    let suffix = if mode == BookingMode::Live { "" } else { "_sandbox" };
    format!("{}_{room}_{night}{suffix}", RoomNight::ID_PREFIX)
}

/// The nights that a call changes, each once.
pub(super) struct Nights {
    mode: BookingMode,
    open: Vec<OpenNight>,
}

struct OpenNight {
    row: Entity<RoomNight>,
    rooms_before: i64,
}

impl Nights {
    /// Those that count the bookings of this mode.
    pub(super) fn of(mode: BookingMode) -> Nights {
        Nights { mode, open: Vec::new() }
    }

    /// Adds this many rooms to a night, or takes them away, and says how many are booked then.
    pub(super) async fn add(
        &mut self,
        permitted: &Permitted<'_>,
        room_id: &str,
        night: Day,
        rooms: i64,
    ) -> Result<i64, Fault> {
        let mode = self.mode;
        let id = id_of(room_id, night, mode);
        if !self.open.iter().any(|open| open.row.id == id) {
            let row = match permitted.get_to_change(RoomNight::table(), &id).await? {
                Some(row) => Entity::restore(permitted.tenant(), &row)?,
                None => {
                    let rooms = Integer::constant::<0>();
                    let record = RoomNight { room_id: room_id.into(), night, mode, rooms };
                    let entity = Entity::new(id.clone(), permitted.tenant().clone(), permitted.now(), record);
                    // It has no row yet.
                    Entity { version: 0, ..entity }
                }
            };
            self.open.push(OpenNight { rooms_before: row.record.rooms.get(), row });
        }
        let open = self.open.iter_mut().find(|open| open.row.id == id);
        let open = open.ok_or_else(|| Fault::internal("a night that was just opened is missing"))?;
        let booked = open.row.record.rooms.get().saturating_add(rooms);
        open.row.record.rooms = Integer::clamped(booked);
        Ok(booked)
    }

    /// The changes, in the order of the rows' ids. If one of the rows has changed since it was read, the call runs again.
    pub(super) fn steps(mut self, now: Millis) -> Vec<Step> {
        self.open.sort_by(|one, other| one.row.id.cmp(&other.row.id));
        let mut steps = Vec::new();
        for OpenNight { row, rooms_before } in self.open {
            if row.record.rooms.get() == rooms_before {
                continue;
            }
            let expect_version = row.version;
            let row = Entity { updated_at: now, version: expect_version.saturating_add(1), ..row }.row(TENANT);
            let on_duplicate = Fault::internal("a night has no unique values");
            let table = RoomNight::table();
            if expect_version == 0 {
                steps.push(Step::RequireAbsent { table, id: row.id.clone() });
                steps.push(Step::Insert { table, row, on_duplicate });
            } else {
                let on_conflict = OnConflict::Retry;
                steps.push(Step::Update { table, row, expect_version, on_conflict, on_duplicate });
            }
        }
        steps
    }
}

/// The nights of these rooms in which something is booked, for the caller's mode.
pub(super) async fn booked(
    permitted: &Permitted<'_>,
    room_ids: &[String],
    dates: StayDates,
) -> Result<Vec<RoomNight>, Fault> {
    if room_ids.is_empty() {
        return Ok(Vec::new());
    }
    let filters = vec![
        Filter::AnyOf("room_id", room_ids.iter().map(|id| Cell::Text(id.clone())).collect()),
        Filter::AtLeast("night", dates.check_in.number()),
        Filter::AtMost("night", dates.last_night().number()),
        Filter::Equals("mode", Cell::Text(BookingMode::of(permitted).as_str().to_owned())),
    ];
    let most = room_ids.len().saturating_mul(usize::try_from(MAX_NIGHTS).unwrap_or(usize::MAX));
    let rows: Vec<Entity<RoomNight>> = list_records(permitted, filters, most).await?;
    Ok(rows.into_iter().map(|row| row.record).collect())
}
