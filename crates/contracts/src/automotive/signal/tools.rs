//! `signals.list` and `signals.get`.

use frontdesk_engine::model::contract::{ResourceSource, ResourceTemplate};
use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::page::{Page, PageKey, Start};
use frontdesk_engine::model::route::Route;
use frontdesk_engine::model::schema::{Schema, required};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{
    Effect, Future, Item, Outcome, RateKey, ReadTool, Run, ScopeRule, Sensitivity, Tool, ToolSpec,
};
use frontdesk_engine::{Code, Fault, FaultKind, Permitted, Scope};
use jiff::civil::Date;
use serde_json::{Value, json};

use super::measure::{Figure, MAX_COUNT, Measurer};
use super::period::Period;
use super::schema::{list_input, output};
use super::suppression::suppressed;
use super::{Dimension, METRICS, PeriodKind, SignalMetric, SignalSettings};
use crate::automotive::codes::CodeSpec;
use crate::automotive::domains;
use crate::automotive::resource::{TENANT, list_schema, tenant};
use crate::automotive::service::workshop::Workshop;
use crate::calendar::LocalCalendar;
use crate::record::Vocabulary as _;
use crate::record::query::list_records;

pub const LIST: &str = "signals.list";
pub const GET: &str = "signals.get";

pub const NOT_FOUND: CodeSpec = CodeSpec {
    code: Code("signals.not_found"),
    means: "There is no signal with this id: its period lies in the future, or nothing happened in it.",
    next: "Find it with `signals.list`.",
};

/// How many periods a list goes back, and how many it can be made to.
const DEFAULT_PERIODS: usize = 12;
const MAX_PERIODS: usize = 120;
/// What one call may cost. A list ends its page early, with a cursor, when it has cost as much.
const MAX_QUERIES: usize = 400;
const MAX_ROWS: usize = 500_000;
/// Stands for all groups of a figure where a page ended between two figures.
const WHOLE: &str = "*";
const PREFIX: &str = "sig";
const ALL: &str = "all";

/// The tools, with groups of at least so many records.
pub fn tools(settings: SignalSettings) -> Vec<Tool> {
    let spec = |name: &'static str, title, about, input, output, path| ToolSpec {
        name,
        title,
        about,
        input,
        output,
        effect: Effect::Reads,
        scope: ScopeRule::One(Scope::new(domains::SIGNALS.read)),
        unmask_scope: None,
        sensitivity: Sensitivity::Business,
        rate: RateKey::Client,
        max_login_age: None,
        route: Some(Route::new(Verb::Get, path)),
        codes: Vec::new(),
    };
    let list = spec(
        LIST,
        "List signals",
        "Lists figures of the dealership's own business per period of its time zone, the newest period first: lead volume \
         and response time, appointment show rate, inventory turn, days' supply, price position. Totals, or groups of one \
         dimension. Too small groups are suppressed: say so, and do not estimate them.",
        list_input(),
        Schema::object(list_schema(output()).fields().iter().take(2).cloned()),
        "/signals",
    );
    let get = spec(
        GET,
        "Get a signal",
        "Reads one figure by its id, with its definition.",
        Schema::object([required("id", Schema::text(64), "The signal's id, as lists give it."), tenant()]),
        output(),
        "/signals/{id}",
    );
    vec![
        Tool { spec: list, run: Run::read(ListSignals(settings)) },
        Tool { spec: ToolSpec { codes: vec![NOT_FOUND.code], ..get }, run: Run::read(GetSignal(settings)) },
    ]
}

pub fn templates() -> Vec<ResourceTemplate> {
    let of_tool = |name| ResourceSource::Tool { name, lists: None };
    vec![
        ResourceTemplate {
            template: "amcp://{dealership_id}/signals{?cursor,limit}",
            name: "signals",
            title: "Signals",
            about: "Monthly figures of the dealership, newest first.",
            source: of_tool(LIST),
        },
        ResourceTemplate {
            template: "amcp://{dealership_id}/signals/{id}",
            name: "signal",
            title: "Signal",
            about: "One figure by its id.",
            source: of_tool(GET),
        },
    ]
}

/// Where a figure stands: its id says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    metric: SignalMetric,
    period: Period,
    dimension: Option<Dimension>,
}

impl Place {
    fn id(&self, word: &str) -> String {
        let (metric, kind) = (self.metric.as_str(), self.period.kind.as_str());
        let day = self.period.first.strftime("%Y%m%d");
        match self.dimension {
            Some(dimension) => format!("{PREFIX}_{metric}-{kind}-{day}-{}-{word}", dimension.as_str()),
            None => format!("{PREFIX}_{metric}-{kind}-{day}-{ALL}"),
        }
    }

    /// The place, and the word of its group.
    fn parse<'a>(id: &'a str, calendar: &LocalCalendar) -> Option<(Place, &'a str)> {
        let mut parts = id.strip_prefix(PREFIX)?.strip_prefix('_')?.split('-');
        let metric = SignalMetric::parse(parts.next()?)?;
        let kind = PeriodKind::parse(parts.next()?)?;
        let first = Date::strptime("%Y%m%d", parts.next()?).ok()?;
        let (dimension, word) = match (parts.next()?, parts.next()) {
            (ALL, None) => (None, ""),
            (dimension, Some(word)) => (Some(Dimension::parse(dimension)?), word),
            (_, None) => return None,
        };
        let period = Period::from_date(calendar, kind, first).filter(|period| period.first == first)?;
        parts.next().is_none().then_some((Place { metric, period, dimension }, word))
    }

    /// Whether there is such a figure at all.
    fn exists(&self, now: Millis) -> bool {
        let has_groups = match self.dimension {
            Some(dimension) => self.metric.dimensions().contains(&dimension),
            None => self.metric.has_total(),
        };
        // Prices are known as they are now.
        let is_known = self.metric != SignalMetric::PricePosition || !self.period.is_complete(now);
        has_groups && is_known && self.period.start <= now
    }

    /// The figures of all its groups that are not empty, by their words.
    async fn measure(
        &self,
        measurer: &mut Measurer<'_>,
        settings: SignalSettings,
    ) -> Result<Vec<(&'static str, Figure, bool)>, Fault> {
        let mut figures = Vec::new();
        match self.dimension {
            Some(dimension) => {
                for word in dimension.words() {
                    let figure = measurer.figure(self.metric, &self.period, Some((dimension, word))).await?;
                    figures.push((*word, figure));
                }
            }
            None => figures.push(("", measurer.figure(self.metric, &self.period, None).await?)),
        }
        let sizes: Vec<usize> = figures.iter().map(|(_, figure)| figure.size).collect();
        let hidden = suppressed(&sizes, settings.min_group);
        let groups = figures.into_iter().zip(hidden).map(|((word, figure), hidden)| (word, figure, hidden));
        Ok(groups.filter(|(_, figure, _)| figure.size > 0).collect())
    }

    fn to_json(self, permitted: &Permitted<'_>, calendar: &LocalCalendar, group: &(&str, Figure, bool)) -> Value {
        let (word, figure, is_hidden) = group;
        let local = |at: Millis| calendar.local_text(at).unwrap_or_else(|| at.to_rfc3339());
        let mut signal = json!({
            "id": self.id(word),
            "type": "signal",
            TENANT: permitted.tenant().as_str(),
            "metric": self.metric.as_str(),
            "period": {
                "kind": self.period.kind.as_str(),
                "start": local(self.period.start),
                "end": local(self.period.end),
                "complete": self.period.is_complete(permitted.now()),
            },
            "unit": self.metric.unit().as_str(),
            "suppressed": is_hidden,
        });
        if let Some(members) = signal.as_object_mut() {
            let mut insert = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
            if let Some(dimension) = self.dimension {
                insert("dimension", dimension.as_str().into());
                insert("dimension_value", (*word).into());
            }
            if !is_hidden {
                insert("sample_size", figure.size.min(MAX_COUNT).into());
                if let Some(value) = figure.value {
                    insert("value", value.into());
                }
                if figure.is_capped {
                    insert("capped", true.into());
                }
            }
        }
        signal
    }
}

/// Days begin and end as at the dealership's first workshop.
async fn calendar(permitted: &Permitted<'_>) -> Result<LocalCalendar, Fault> {
    let workshops = list_records::<Workshop>(permitted, Vec::new(), MAX_WORKSHOPS).await?;
    let zone = workshops.last().map_or("UTC", |workshop| &*workshop.record.time_zone);
    LocalCalendar::new(zone, [], [], 1)
        .or_else(|| LocalCalendar::new("UTC", [], [], 1))
        .ok_or_else(|| Fault::internal("there is no time zone UTC"))
}

const MAX_WORKSHOPS: usize = 20;

struct GetSignal(SignalSettings);

impl ReadTool for GetSignal {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let id = permitted.input().text("id").unwrap_or_default();
            let calendar = calendar(permitted).await?;
            let missing =
                || Fault::new(FaultKind::NotFound, "No signal with this id exists here. Find it with signals.list.");
            let (place, word) = Place::parse(id, &calendar).ok_or_else(missing)?;
            if !place.exists(permitted.now()) {
                return Err(missing());
            }
            let mut measurer = Measurer { permitted, queries: 0, rows: 0 };
            let groups = place.measure(&mut measurer, self.0).await?;
            let group = groups.iter().find(|(known, ..)| *known == word).ok_or_else(missing)?;
            let body = place.to_json(permitted, &calendar, group).to_string();
            Ok(Outcome::One(Item { id: id.to_owned(), version: 1, body, masked: None, personal: None }))
        })
    }
}

struct ListSignals(SignalSettings);

impl ReadTool for ListSignals {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let calendar = calendar(permitted).await?;
            let window = permitted.window();
            let after = match &window.start {
                Start::After(key) => Place::parse(&key.id, &calendar),
                Start::First | Start::Offset(_) => None,
            };
            let mut measurer = Measurer { permitted, queries: 0, rows: 0 };
            let mut page = Page::default();
            let mut last: Option<String> = None;
            for place in places(permitted, &calendar)? {
                let passed = match &after {
                    Some((known, word)) if *known == place => Some(*word),
                    Some((known, _)) if is_before(&place, known) => continue,
                    _ => None,
                };
                if passed == Some(WHOLE) {
                    continue;
                }
                if measurer.queries >= MAX_QUERIES || measurer.rows >= MAX_ROWS {
                    page.next = last.map(|id| PageKey { value: 0, id });
                    return Ok(Outcome::Many(page.into()));
                }
                // By its place among the words: the group itself may be empty by now.
                let words = place.dimension.map_or(&[][..], Dimension::words);
                let order = |word: &str| words.iter().position(|known| *known == word);
                for group in place.measure(&mut measurer, self.0).await? {
                    if passed.is_some_and(|word| word == group.0 || order(group.0) <= order(word)) {
                        continue;
                    }
                    if page.rows.len() >= window.limit {
                        page.next = last.map(|id| PageKey { value: 0, id });
                        return Ok(Outcome::Many(page.into()));
                    }
                    page.rows.push(place.to_json(permitted, &calendar, &group).to_string());
                    last = Some(place.id(group.0));
                }
                if page.rows.len() < window.limit {
                    // Should the next figure be too costly for this page, it goes on there.
                    last = Some(match place.dimension {
                        Some(_) => place.id(WHOLE),
                        None => place.id(""),
                    });
                }
            }
            Ok(Outcome::Many(page.into()))
        })
    }
}

/// Whether a place comes before another in a list.
fn is_before(place: &Place, other: &Place) -> bool {
    let order = |place: &Place| {
        let metric = METRICS.iter().position(|metric| *metric == place.metric);
        (std::cmp::Reverse(place.period.first), metric)
    };
    order(place) < order(other)
}

/// What a list is about, in its order.
fn places(permitted: &Permitted<'_>, calendar: &LocalCalendar) -> Result<Vec<Place>, Fault> {
    let input = permitted.input();
    let metric = input.text("metric").and_then(SignalMetric::parse);
    let dimension = input.text("dimension").and_then(Dimension::parse);
    let kind = input.text("period").and_then(PeriodKind::parse).unwrap_or(PeriodKind::Month);
    let (since, until) = (input.text("since").and_then(Millis::parse), input.text("until").and_then(Millis::parse));
    if let (Some(metric), Some(dimension)) = (metric, dimension)
        && !metric.dimensions().contains(&dimension)
    {
        let words: Vec<&str> = metric.dimensions().iter().map(|dimension| dimension.as_str()).collect();
        let expected = format!("{} has these: {}", metric.as_str(), words.join(", "));
        return Err(Fault::invalid_argument("/dimension", "enum", expected));
    }
    let now = permitted.now();
    let newest = Millis(until.map_or(now.0, |until| until.0.saturating_sub(1)).min(now.0));
    let wanted = if since.is_some() { MAX_PERIODS } else { DEFAULT_PERIODS };
    let mut places = Vec::new();
    let mut next = Period::containing(calendar, kind, newest);
    for _ in 0..wanted {
        let Some(period) = next.filter(|period| since.is_none_or(|since| period.end > since)) else {
            return Ok(places);
        };
        let of_metric = METRICS.into_iter().filter(|known| metric.is_none_or(|metric| metric == *known));
        let of_period = of_metric.map(|metric| Place { metric, period, dimension });
        places.extend(of_period.filter(|place| place.exists(now)));
        next = period.before(calendar);
    }
    let has_more = since.is_some_and(|since| next.is_some_and(|period| period.end > since));
    if has_more {
        let expected = format!("at most {MAX_PERIODS} periods before until; choose longer ones");
        return Err(Fault::invalid_argument("/since", "minimum", expected));
    }
    Ok(places)
}
