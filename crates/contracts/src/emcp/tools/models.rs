//! What the site is built from: templates, variables, snippets, users and so on, by structured filters only (E-32).

use std::sync::Arc;

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::{Field, Schema, optional, required};
use frontdesk_engine::model::tool::{Future, Outcome, ReadTool, Tool};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::ports::site_db::{Expr, Predicate, Select, SiteRow};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value as Json;

use super::content::window;
use super::{Words, reading};
use crate::emcp::model::{self, Model};
use crate::emcp::words::{HERE, column, is};
use crate::emcp::{Limits, filter, shapes};

const MOST_CONDITIONS: usize = 20;

pub(super) fn list(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.model.list",
        title: "List records of a model",
        about: "Lists what a site is built from, such as templates, template variables, snippets, categories, users and \
            roles; by structured filters, all of which must hold.",
    };
    let mut condition =
        vec![required("field", Schema::one_of(model::FIELDS), "A field of the model, as its records show it.")];
    condition.extend(filter::fields());
    let conditions = Schema::list(Schema::Object(condition), MOST_CONDITIONS);
    let filters = Schema::object([optional("where", conditions, "Conditions; all must hold.")]);
    let mut input = vec![
        model_field(),
        optional("filters", filters, "Which records; all if absent."),
        optional("order_by", Schema::one_of(model::FIELDS), "A field of the model to order by; id if absent."),
        optional("order_dir", Schema::one_of(shapes::DIRECTIONS), "The direction of order_by; asc if absent."),
    ];
    input.extend(shapes::window(&limits));
    let output = shapes::list_of(model::schema(), &limits, Some(meta_field()));
    reading(words, input, output, Arc::new(List { limits }))
}

pub(super) fn get(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.model.get",
        title: "Get a record of a model",
        about: "Reads one record of a model by its id; null if there is none.",
    };
    let input = vec![model_field(), shapes::id("The record's id.")];
    let output = shapes::one_of(model::schema(), Some(meta_field()));
    reading(words, input, output, Arc::new(Get { limits }))
}

fn model_field() -> Field {
    required("model", Schema::one_of(model::NAMES), "Which kind of record.")
}

fn meta_field() -> Field {
    required("model", Schema::one_of(model::NAMES), "Which kind of record this is.")
}

struct List {
    limits: Limits,
}

impl ReadTool for List {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let reading = permitted.input();
            let model = asked_model(reading)?;
            let (limit, offset) = window(reading);
            let select = Select {
                filter: conditions(reading, model)?,
                order: order(reading, model)?,
                offset,
                limit,
                ..all(model, &self.limits)
            };
            let records = records(permitted, model, &select).await?;
            let mut answer = String::from("{\"items\":[");
            for (number, record) in records.iter().enumerate() {
                answer.push_str(if number == 0 { "" } else { "," });
                model.write(record, &mut answer);
            }
            answer.push_str("],\"meta\":");
            shapes::write_list_meta(limit, offset, records.len(), Some(model.name), &mut answer);
            answer.push('}');
            Ok(Outcome::Raw { answer, rows: records.len() })
        })
    }
}

struct Get {
    limits: Limits,
}

impl ReadTool for Get {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let reading = permitted.input();
            let model = asked_model(reading)?;
            let tests = vec![is(column("id"), reading.integer("id").unwrap_or(0))];
            let select = Select { filter: tests, limit: 1, ..all(model, &self.limits) };
            let records = records(permitted, model, &select).await?;
            let mut answer = String::from("{\"item\":");
            match records.first() {
                Some(record) => model.write(record, &mut answer),
                None => answer.push_str("null"),
            }
            answer.push_str(",\"meta\":");
            shapes::write_one_meta(Some(model.name), &mut answer);
            answer.push('}');
            Ok(Outcome::Raw { answer, rows: records.len() })
        })
    }
}

/// A site of another age may lack a whole table; it then has no such records.
async fn records(permitted: &Permitted<'_>, model: &Model, select: &Select) -> Result<Vec<SiteRow>, Fault> {
    let archive = permitted.archive()?;
    match archive.has_table(model.table).await? {
        true => archive.select(select).await,
        false => Ok(Vec::new()),
    }
}

fn all(model: &Model, limits: &Limits) -> Select {
    Select {
        from: (HERE, model.table),
        joins: Vec::new(),
        columns: model.columns(),
        filter: Vec::new(),
        order: Vec::new(),
        offset: 0,
        limit: 0,
        bytes: limits.max_result_bytes,
    }
}

fn asked_model(reading: &ToolInput) -> Result<&'static Model, Fault> {
    reading.text("model").and_then(model::by_name).ok_or_else(|| Fault::internal("a checked model is not one of ours"))
}

fn conditions(reading: &ToolInput, model: &Model) -> Result<Vec<Predicate>, Fault> {
    let filters = reading.object("filters").and_then(|filters| filters.get("where"));
    let conditions = filters.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_object);
    let test = |(number, condition): (usize, &serde_json::Map<String, Json>)| {
        let at = format!("/filters/where/{number}");
        let field = field(model, condition.get("field"), &format!("{at}/field"))?;
        filter::test(field, condition, &at, filter::Values::OfFields)
    };
    conditions.enumerate().map(test).collect()
}

/// The id comes last, so that pages do not overlap.
fn order(reading: &ToolInput, model: &Model) -> Result<Vec<(Expr, Direction)>, Fault> {
    let by_id = (column("id"), Direction::Ascending);
    let Some(named) = reading.arguments.get("order_by") else {
        return Ok(vec![by_id]);
    };
    let direction = match reading.text("order_dir") {
        Some("desc") => Direction::Descending,
        Some(_) | None => Direction::Ascending,
    };
    Ok(vec![(field(model, Some(named), "/order_by")?, direction), by_id])
}

fn field(model: &Model, named: Option<&Json>, at: &str) -> Result<Expr, Fault> {
    match named.and_then(Json::as_str).and_then(|name| model.field(name)) {
        Some(name) => Ok(column(name)),
        None => {
            let expected = format!("a field of this model is expected: {}", model.field_names());
            Err(Fault::invalid_argument(at, "enum", expected))
        }
    }
}
