//! Computes figures with bounded counts over indexed columns, at the time of the call. Nothing is stored beside the
//! records, so figures are right after imports, changes, erasures and retention. No personal column is read.

use frontdesk_engine::model::page::{Direction, Filter, Order, Projection, Query, Start, Window};
use frontdesk_engine::model::table::{Cell, TableSpec};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value;

use super::period::Period;
use super::{Dimension, SignalMetric};
use crate::automotive::lead::Lead;
use crate::automotive::service::appointment::{Appointment, AppointmentStatus};
use crate::automotive::vehicle::{Vehicle, VehicleStatus};
use crate::record::{Stored as _, Vocabulary as _};

/// How far records are counted for one figure.
pub(super) const MAX_COUNT: usize = 100_000;
const YEAR_MILLIS: i128 = 365 * DAY_MILLIS;
const DAY_MILLIS: i128 = 24 * 60 * 60 * 1000;
const BASIS_POINTS: i128 = 10_000;

/// A figure of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Figure {
    /// How many records it is from.
    pub(super) size: usize,
    /// Absent where nothing can be said, as when nothing was sold.
    pub(super) value: Option<i64>,
    /// There are more records than were counted, so only a volume is known, as a minimum.
    pub(super) is_capped: bool,
}

/// Reads for one call, and counts what it costs.
pub(super) struct Measurer<'a> {
    pub(super) permitted: &'a Permitted<'a>,
    pub(super) queries: usize,
    pub(super) rows: usize,
}

impl Measurer<'_> {
    /// The figure of the records with this word, or of all.
    pub(super) async fn figure(
        &mut self,
        metric: SignalMetric,
        period: &Period,
        group: Option<(Dimension, &'static str)>,
    ) -> Result<Figure, Fault> {
        match metric {
            SignalMetric::LeadVolume => {
                let size = self.count(Lead::table(), with_group(recorded(period), group)).await?;
                Ok(Figure { size, value: i64::try_from(size).ok(), is_capped: size >= MAX_COUNT })
            }
            SignalMetric::LeadResponseTime => self.response_time(period, group).await,
            SignalMetric::AppointmentShowRate => self.show_rate(period, group).await,
            SignalMetric::InventoryTurn | SignalMetric::DaysSupply => self.stock_figure(metric, period, group).await,
            SignalMetric::PricePosition => self.price_position(group).await,
        }
    }

    async fn response_time(
        &mut self,
        period: &Period,
        group: Option<(Dimension, &'static str)>,
    ) -> Result<Figure, Fault> {
        let mut filters = recorded(period);
        filters.push(Filter::AtLeast("response_minutes", 0));
        let filters = with_group(filters, group);
        let size = self.count(Lead::table(), filters.clone()).await?;
        let median = self.median(Lead::table(), filters, "response_minutes", "/response_minutes", size).await?;
        Ok(capped(Figure { size, value: median, is_capped: false }))
    }

    async fn show_rate(&mut self, period: &Period, group: Option<(Dimension, &'static str)>) -> Result<Figure, Fault> {
        use AppointmentStatus::{CheckedIn, Completed, InProgress, NoShow};
        let of_status = |statuses: &[AppointmentStatus]| {
            let words = statuses.iter().map(|status| Cell::Text(status.as_str().to_owned())).collect();
            let mut filters = within("start", period.start, period.end);
            filters.push(Filter::AnyOf("status", words));
            with_group(filters, group)
        };
        let shown = self.count(Appointment::table(), of_status(&[CheckedIn, InProgress, Completed])).await?;
        let missed = self.count(Appointment::table(), of_status(&[NoShow])).await?;
        let size = shown.saturating_add(missed);
        Ok(capped(Figure { size, value: ratio(shown, BASIS_POINTS, size), is_capped: shown >= MAX_COUNT }))
    }

    async fn stock_figure(
        &mut self,
        metric: SignalMetric,
        period: &Period,
        group: Option<(Dimension, &'static str)>,
    ) -> Result<Figure, Fault> {
        let end = period.end.min(self.permitted.now());
        let mut sold = within("sold_at", period.start, end);
        sold.push(Filter::Equals("status", Cell::Text(VehicleStatus::Sold.as_str().to_owned())));
        let sold = self.count(Vehicle::table(), with_group(sold, group)).await?;
        let stock_end = self.count(Vehicle::table(), with_group(in_stock(end), group)).await?;
        let size = sold.saturating_add(stock_end);
        let elapsed = i128::from(end.0.saturating_sub(period.start.0));
        let mut is_capped = sold >= MAX_COUNT || stock_end >= MAX_COUNT;
        let value = if metric == SignalMetric::DaysSupply {
            // Stock at the end, by how many were sold a day.
            divided(wide(stock_end).saturating_mul(elapsed), wide(sold).saturating_mul(DAY_MILLIS))
        } else {
            let stock_start = self.count(Vehicle::table(), with_group(in_stock(period.start), group)).await?;
            is_capped |= stock_start >= MAX_COUNT;
            // In hundredths; twice the average is the sum of both.
            let yearly = wide(sold).saturating_mul(YEAR_MILLIS).saturating_mul(200);
            divided(yearly, wide(stock_start.saturating_add(stock_end)).saturating_mul(elapsed))
        };
        Ok(capped(Figure { size, value, is_capped }))
    }

    async fn price_position(&mut self, group: Option<(Dimension, &'static str)>) -> Result<Figure, Fault> {
        const NONE: Figure = Figure { size: 0, value: None, is_capped: false };
        let available = Filter::Equals("status", Cell::Text(VehicleStatus::Available.as_str().to_owned()));
        let newest = self.row(Vehicle::table(), vec![available.clone()], "created_at", 0).await?;
        let currency = newest.as_ref().and_then(|row| row.pointer("/price/currency")).and_then(Value::as_str);
        let Some(currency) = currency else { return Ok(NONE) };
        let all = vec![available, Filter::Equals("currency", Cell::Text(currency.to_owned()))];
        let of_group = with_group(all.clone(), group);
        let size = self.count(Vehicle::table(), of_group.clone()).await?;
        if size == 0 {
            return Ok(NONE);
        }
        let total = self.count(Vehicle::table(), all.clone()).await?;
        let own = self.median(Vehicle::table(), of_group, "price_minor", "/price/amount", size).await?;
        let usual = self.median(Vehicle::table(), all, "price_minor", "/price/amount", total).await?;
        let value = own
            .zip(usual)
            .and_then(|(own, usual)| divided(i128::from(own).saturating_mul(BASIS_POINTS), i128::from(usual)));
        Ok(capped(Figure { size, value, is_capped: total >= MAX_COUNT }))
    }

    async fn count(&mut self, table: &'static TableSpec, filters: Vec<Filter>) -> Result<usize, Fault> {
        let found = self.permitted.count(table, filters, MAX_COUNT).await?;
        self.queries = self.queries.saturating_add(1);
        self.rows = self.rows.saturating_add(found);
        Ok(found)
    }

    /// The value in the middle, the smaller one of two.
    async fn median(
        &mut self,
        table: &'static TableSpec,
        filters: Vec<Filter>,
        column: &'static str,
        member: &str,
        size: usize,
    ) -> Result<Option<i64>, Fault> {
        if size == 0 || size >= MAX_COUNT {
            return Ok(None);
        }
        let row = self.row(table, filters, column, size.saturating_sub(1) / 2).await?;
        self.rows = self.rows.saturating_add(size);
        Ok(row.as_ref().and_then(|row| row.pointer(member)).and_then(Value::as_i64))
    }

    /// The row at this place, the smallest first; of creation times the largest.
    async fn row(
        &mut self,
        table: &'static TableSpec,
        filters: Vec<Filter>,
        column: &'static str,
        place: usize,
    ) -> Result<Option<Value>, Fault> {
        let direction = if column == "created_at" { Direction::Descending } else { Direction::Ascending };
        let start = Start::Offset(u64::try_from(place).unwrap_or(u64::MAX));
        let window = Window { start, limit: 1, bytes: self.permitted.window().bytes };
        let order = Order { column, direction };
        let query = Query { projection: Projection::Rows, table, filters, order, window };
        let page = self.permitted.page(query).await?;
        self.queries = self.queries.saturating_add(1);
        Ok(page.rows.first().and_then(|text| serde_json::from_str(text).ok()))
    }
}

/// More than was counted makes anything but a volume wrong.
fn capped(figure: Figure) -> Figure {
    let is_capped = figure.is_capped || figure.size >= MAX_COUNT;
    Figure { is_capped, value: figure.value.filter(|_| !is_capped), ..figure }
}

/// A lead counts when it was recorded.
fn recorded(period: &Period) -> Vec<Filter> {
    within("created_at", period.start, period.end)
}

fn within(column: &'static str, start: Millis, end: Millis) -> Vec<Filter> {
    vec![Filter::AtLeast(column, start.0), Filter::AtMost(column, end.0.saturating_sub(1))]
}

/// Units that had come in and were not sold before this instant. When others left the stock is not recorded, so what is
/// withdrawn or was sold wholesale never counts.
fn in_stock(at: Millis) -> Vec<Filter> {
    use VehicleStatus::{Available, OnHold, Pending, Reserved, Sold};
    let word = |status: VehicleStatus| Cell::Text(status.as_str().to_owned());
    let here = [Available, Pending, Reserved, OnHold].map(word).to_vec();
    vec![
        Filter::AtMost("in_stock_at", at.0.saturating_sub(1)),
        Filter::Either(vec![
            vec![Filter::AnyOf("status", here)],
            vec![Filter::Equals("status", word(Sold)), Filter::AtLeast("sold_at", at.0)],
        ]),
    ]
}

fn with_group(mut filters: Vec<Filter>, group: Option<(Dimension, &'static str)>) -> Vec<Filter> {
    if let Some((dimension, word)) = group {
        filters.push(Filter::Equals(dimension.column(), Cell::Text(word.to_owned())));
    }
    filters
}

fn ratio(part: usize, scale: i128, whole: usize) -> Option<i64> {
    divided(wide(part).saturating_mul(scale), wide(whole))
}

/// Rounded half up; none by zero.
fn divided(dividend: i128, divisor: i128) -> Option<i64> {
    let doubled = dividend.saturating_mul(2).saturating_add(divisor);
    doubled.checked_div(divisor.saturating_mul(2)).and_then(|value| i64::try_from(value).ok())
}

fn wide(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX)
}
