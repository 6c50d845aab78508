//! Records of the models: templates, variables, snippets, users and so on, by structured filters only (E-32).

use frontdesk_engine::model::contract_entry::QueryLimits;
use std::sync::Arc;

use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::{Field, Schema, optional, required};
use frontdesk_engine::model::tool::{Future, Outcome, ReadTool, Tool};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::ports::site_db::{Expr, Predicate, Select, SiteDb as _, SiteRow};
use frontdesk_engine::{Fault, Permitted};
use serde_json::Value as Json;

use super::content::limit_and_offset;
use super::{ToolDescription, read_tool};
use crate::emcp::model::{self, Model};
use crate::emcp::query::{BASE, column, equals};
use crate::emcp::{filter, schemas};

const MAX_CONDITIONS: usize = 20;

pub(super) fn list(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.model.list",
        title: "List records of a model",
        about: "Lists what a site is built from, such as templates, template variables, snippets, categories, users and \
            roles; by structured filters, all of which must hold.",
    };
    let mut condition =
        vec![required("field", Schema::one_of(model::FIELDS), "A field of the model, as its records show it.")];
    condition.extend(filter::fields());
    let conditions = Schema::list(Schema::Object(condition), MAX_CONDITIONS);
    let filters = Schema::object([optional("where", conditions, "Conditions; all must hold.")]);
    let mut input = vec![
        model_field(),
        optional("filters", filters, "Which records; all if absent."),
        optional("order_by", Schema::one_of(model::FIELDS), "A field of the model to order by; id if absent."),
        optional("order_dir", Schema::one_of(schemas::DIRECTIONS), "The direction of order_by; asc if absent."),
    ];
    input.extend(schemas::limit_and_offset(&limits));
    let output = schemas::list(model::schema(), &limits, Some(meta_field()));
    read_tool(description, input, output, Arc::new(List { limits }))
}

pub(super) fn get(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.model.get",
        title: "Get a record of a model",
        about: "Reads one record of a model by its id; null if there is none.",
    };
    let input = vec![model_field(), schemas::id("The record's id.")];
    let output = schemas::single(model::schema(), Some(meta_field()));
    read_tool(description, input, output, Arc::new(Get { limits }))
}

fn model_field() -> Field {
    required("model", Schema::one_of(model::NAMES), "Which kind of record.")
}

fn meta_field() -> Field {
    required("model", Schema::one_of(model::NAMES), "Which kind of record this is.")
}

struct List {
    limits: QueryLimits,
}

impl ReadTool for List {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let input = permitted.input();
            let model = requested_model(input)?;
            let (limit, offset) = limit_and_offset(input);
            let select = Select {
                filter: conditions(input, model)?,
                order: order(input, model)?,
                offset,
                limit,
                ..all(model, &self.limits)
            };
            let rows = rows(permitted, model, &select).await?;
            let mut answer = String::from("{\"items\":[");
            for (number, row) in rows.iter().enumerate() {
                answer.push_str(if number == 0 { "" } else { "," });
                model.write(row, &mut answer);
            }
            answer.push_str("],\"meta\":");
            schemas::write_list_meta(limit, offset, rows.len(), Some(model.name), &mut answer);
            answer.push('}');
            Ok(Outcome::Raw { answer, rows: rows.len() })
        })
    }
}

struct Get {
    limits: QueryLimits,
}

impl ReadTool for Get {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let input = permitted.input();
            let model = requested_model(input)?;
            let filter = vec![equals(column("id"), input.integer("id").unwrap_or(0))];
            let select = Select { filter, limit: 1, ..all(model, &self.limits) };
            let rows = rows(permitted, model, &select).await?;
            let mut answer = String::from("{\"item\":");
            match rows.first() {
                Some(row) => model.write(row, &mut answer),
                None => answer.push_str("null"),
            }
            answer.push_str(",\"meta\":");
            schemas::write_single_meta(Some(model.name), &mut answer);
            answer.push('}');
            Ok(Outcome::Raw { answer, rows: rows.len() })
        })
    }
}

/// Another CMS version may lack the table; it then has no such rows.
async fn rows(permitted: &Permitted<'_>, model: &Model, select: &Select) -> Result<Vec<SiteRow>, Fault> {
    let site_db = permitted.site_db()?;
    if site_db.has_table(model.table).await? { site_db.select(select).await } else { Ok(Vec::new()) }
}

fn all(model: &Model, limits: &QueryLimits) -> Select {
    Select {
        from: (BASE, model.table),
        joins: Vec::new(),
        columns: model.columns(),
        filter: Vec::new(),
        order: Vec::new(),
        offset: 0,
        limit: 0,
        bytes: limits.bytes,
    }
}

fn requested_model(input: &ToolInput) -> Result<&'static Model, Fault> {
    input.text("model").and_then(model::by_name).ok_or_else(|| Fault::internal("a checked model is unknown"))
}

fn conditions(input: &ToolInput, model: &Model) -> Result<Vec<Predicate>, Fault> {
    let filters = input.object("filters").and_then(|filters| filters.get("where"));
    let conditions = filters.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_object);
    let test = |(number, condition): (usize, &serde_json::Map<String, Json>)| {
        let pointer = format!("/filters/where/{number}");
        let field = field(model, condition.get("field"), &format!("{pointer}/field"))?;
        filter::condition(field, condition, &pointer, filter::FilterTarget::Field)
    };
    conditions.enumerate().map(test).collect()
}

/// The id makes the order total, so that consecutive pages of the list do not overlap.
fn order(input: &ToolInput, model: &Model) -> Result<Vec<(Expr, Direction)>, Fault> {
    let by_id = (column("id"), Direction::Ascending);
    let Some(name) = input.arguments.get("order_by") else {
        return Ok(vec![by_id]);
    };
    let direction = match input.text("order_dir") {
        Some("desc") => Direction::Descending,
        Some(_) | None => Direction::Ascending,
    };
    Ok(vec![(field(model, Some(name), "/order_by")?, direction), by_id])
}

fn field(model: &Model, name: Option<&Json>, pointer: &str) -> Result<Expr, Fault> {
    match name.and_then(Json::as_str).and_then(|name| model.field(name)) {
        Some(name) => Ok(column(name)),
        None => {
            let expected = format!("a field of this model is expected: {}", model.field_names());
            Err(Fault::invalid_argument(pointer, "enum", expected))
        }
    }
}
