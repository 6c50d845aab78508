//! The arguments and answers of the tools. The description of `metric` publishes every definition.

use frontdesk_engine::model::schema::{Schema, TextFormat, optional, required};

use super::{Dimension, METRICS, PeriodKind, SignalMetric, SignalUnit};
use crate::automotive::resource::{TENANT, paging, tenant};
use crate::automotive::values::MAX_SAFE_INTEGER;
use crate::record::vocabulary::UNKNOWN;
use crate::record::{FieldType as _, Vocabulary};

pub(super) fn list_input() -> Schema {
    let own = [
        optional("metric", SignalMetric::input(), "Only this figure; signals.get defines each."),
        optional("period", PeriodKind::input(), "month if absent."),
        optional(
            "dimension",
            Dimension::input(),
            "Groups instead of totals. source: of leads and appointments; the others: of vehicles.",
        ),
        optional(
            "since",
            Schema::Text(TextFormat::Timestamp),
            "Only periods that end after this; 12 periods if absent.",
        ),
        optional("until", Schema::Text(TextFormat::Timestamp), "Only periods that begin before this; now if absent."),
    ];
    // There is no count of all pages: it would cost as much as reading them.
    let paging = paging().into_iter().take(2);
    Schema::object(own.into_iter().chain(paging).chain([tenant()]))
}

pub(super) fn output() -> Schema {
    const TYPE: &[&str] = &["signal"];
    let time = || Schema::Text(TextFormat::Timestamp);
    let period = Schema::object([
        required("kind", published::<PeriodKind>(), "A day, a week from Monday, or a month."),
        required("start", time(), "When it begins at the dealership."),
        required("end", time(), "The first instant after it."),
        required("complete", Schema::Boolean, "false while it lasts: the figure is one so far."),
    ]);
    let definitions: Vec<String> =
        METRICS.iter().map(|metric| format!("{}: {}", metric.as_str(), metric.definition())).collect();
    // Made once per contract, so the text is leaked instead of counted.
    let definitions = format!("What is measured. {}.", definitions.join(". ")).leak();
    Schema::object([
        required("id", Schema::text(64), "Stable id of this figure, period and group."),
        required("type", Schema::one_of(TYPE), "Always signal."),
        required(TENANT, Schema::text(64), "The dealership it belongs to."),
        required("metric", published::<SignalMetric>(), definitions),
        required("period", period, "In the time zone of the dealership's first workshop; UTC without one."),
        optional("dimension", published::<Dimension>(), "What the group is of; absent for all records together."),
        optional("dimension_value", Schema::text(40), "The group: a word of the records' own field."),
        required(
            "unit",
            SignalUnit::input(),
            "Of the value. basis_points: hundredths of a percent. hundredths_per_year: 250 is 2.5 times a year.",
        ),
        optional(
            "value",
            Schema::integer(0, MAX_SAFE_INTEGER),
            "The figure; absent if it is suppressed, or nothing can be said.",
        ),
        optional("sample_size", Schema::integer(0, MAX_SAFE_INTEGER), "How many records it is from."),
        required(
            "suppressed",
            Schema::Boolean,
            "true: the group is too small, or would give a small one away. Its value is not shown.",
        ),
        optional("capped", Schema::Boolean, "true: there are more records than the 100,000 that were counted."),
    ])
}

/// The words of an answer, which may have more in a later version.
fn published<V: Vocabulary>() -> Schema {
    // Made once per contract, so the list is leaked instead of counted.
    Schema::one_of([V::WORDS, &[UNKNOWN]].concat().leak())
}
