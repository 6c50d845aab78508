//! Searching pages by position, state, template variables and tags, in a chosen order. All filters must hold.

use frontdesk_engine::Fault;
use frontdesk_engine::model::contract_entry::QueryLimits;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::{Field, Schema, TextFormat, optional, required};
use frontdesk_engine::model::tool::Tool;
use frontdesk_engine::ports::site_db::{Expr, Join, JoinKind, Literal, Name, Predicate, Select, TableAlias};
use serde_json::{Map, Value as Json};

use super::ToolDescription;
use super::content::{DocumentQuery, QueryContext, list};
use super::tree::{depth_field, descendants_of, requested_depth};
use crate::emcp::patterns::{self, VariableFallback};
use crate::emcp::query::{column, columns_equal, equals};
use crate::emcp::variables::{FILTERS, MAX_FILTERS, MAX_ORDERS, ORDER};
use crate::emcp::{filter, schemas};

const ORDERS: &[&str] = &["id", "pagetitle", "menuindex", "createdon", "pub_date"];

/// Which tags a page has, and their names. The CMS itself has neither table; a tagging extension creates them.
const TAG_LINKS: Name = "site_content_tags";
const TAGS: Name = "tags";
const LINK: TableAlias = TableAlias(3);
const TAG: TableAlias = TableAlias(4);
const MAX_TAGS: usize = 50;
const MAX_TAG_LENGTH: usize = 255;

pub(super) fn search(limits: QueryLimits) -> Tool {
    let description = ToolDescription {
        name: "evo.content.search",
        title: "Search pages",
        about: "Finds pages by where they are, their state, template, template variables and tags; all filters must \
            hold. Pages in the bin are left out unless deleted is true.",
    };
    list(limits, description, fields(&limits), |context| {
        Box::pin(async move { document_query(context).await.map(Some) })
    })
}

fn fields(limits: &QueryLimits) -> Vec<Field> {
    vec![
        optional(
            "parent",
            Schema::integer(0, schemas::MAX_ID),
            "Only pages below this page, at any level down to depth.",
        ),
        optional("published", Schema::Boolean, "Only pages that are, or are not, published."),
        optional("deleted", Schema::Boolean, "Only pages in the bin (true) or not in it (false, as if absent)."),
        optional("template", Schema::integer(0, schemas::MAX_ID), "Only pages with this template, by its id."),
        optional("hidemenu", Schema::Boolean, "Only pages that menus leave out, or do not."),
        depth_field(
            limits,
            "How many levels below parent; as many as allowed if absent. Without parent it means nothing.",
        ),
        optional(
            FILTERS,
            Schema::list(filter_schema(), MAX_FILTERS),
            "Conditions on template variables; all must hold.",
        ),
        optional(
            ORDER,
            Schema::list(order_schema(), MAX_ORDERS),
            "Order by template variables, before any other order. What has no value is first when rising.",
        ),
        optional("tags_data", tags_schema(), "Only pages that have at least one of these tags."),
        optional("order_by", Schema::one_of(ORDERS), "The field to order by; id if absent."),
        optional("order_dir", Schema::one_of(schemas::DIRECTIONS), "The direction of order_by; asc if absent."),
        optional(
            "order_by_date",
            Schema::one_of(schemas::DIRECTIONS),
            "Order by pub_date, or createdon where there is none; goes before order_by.",
        ),
    ]
}

fn filter_schema() -> Schema {
    let mut fields = vec![variable()];
    fields.extend(filter::fields());
    fields.extend([cast("Compare as numbers of this kind."), use_default()]);
    Schema::Object(fields)
}

fn order_schema() -> Schema {
    Schema::object([
        variable(),
        optional("dir", Schema::one_of(schemas::DIRECTIONS), "The direction; asc if absent."),
        cast("Order as numbers of this kind."),
        use_default(),
    ])
}

fn tags_schema() -> Schema {
    Schema::object([
        required("tv_id", Schema::integer(0, schemas::MAX_ID), "Id of the template variable that holds the tags."),
        required("tags", Schema::non_empty_list(Schema::text(MAX_TAG_LENGTH), MAX_TAGS), "Names of tags."),
    ])
}

fn variable() -> Field {
    required("tv", Schema::Text(TextFormat::Pattern(&patterns::NAME)), "Name of the template variable.")
}

fn cast(about: &'static str) -> Field {
    optional("cast", Schema::Text(TextFormat::Pattern(&patterns::CAST)), about)
}

fn use_default() -> Field {
    optional("use_default", Schema::Boolean, "Whether the variable's default counts where a page has no value.")
}

async fn document_query(context: &QueryContext<'_>) -> Result<DocumentQuery, Fault> {
    let mut query = match context.input.integer("parent") {
        Some(parent) => descendants_of(parent, requested_depth(context).unwrap_or(context.limits.depth.into())),
        None => DocumentQuery::default(),
    };
    query.filter.push(equals(column("deleted"), boolean(&context.input.arguments, "deleted").unwrap_or(0)));
    for name in ["published", "hidemenu"] {
        query.filter.extend(boolean(&context.input.arguments, name).map(|value| equals(column(name), value)));
    }
    query.filter.extend(context.input.integer("template").map(|template| equals(column("template"), template)));
    for (number, condition) in objects(context, FILTERS).enumerate() {
        let pointer = format!("/{FILTERS}/{number}");
        query.filter.push(filter::condition(
            value(context, condition)?,
            condition,
            &pointer,
            filter::FilterTarget::Variable,
        )?);
    }
    query.filter.extend(tags(context).await?);
    for item in objects(context, ORDER) {
        let cast = item.get("cast").and_then(Json::as_str).and_then(patterns::cast);
        query.order.push((filter::cast_expr(value(context, item)?, cast), direction(item.get("dir"))));
    }
    query.order.extend(order(context));
    Ok(query)
}

/// The id makes the order total, so that consecutive pages of the list do not overlap.
fn order(context: &QueryContext<'_>) -> Vec<(Expr, Direction)> {
    let arguments = &context.input.arguments;
    let by_id = (column("id"), Direction::Ascending);
    if let Some(dir) = arguments.get("order_by_date") {
        let date = Expr::NonZero(Box::new(column("pub_date")), Box::new(column("createdon")));
        return vec![(date, direction(Some(dir))), by_id];
    }
    let column_name = context.input.text("order_by").and_then(|name| ORDERS.iter().find(|order| **order == name));
    match column_name {
        Some(name) => vec![(column(name), direction(arguments.get("order_dir"))), by_id],
        None => vec![by_id],
    }
}

/// The value of the variable that a filter or an order names.
fn value(context: &QueryContext<'_>, item: &Map<String, Json>) -> Result<Expr, Fault> {
    let fallback = match boolean(item, "use_default") {
        Some(1) => VariableFallback::Default,
        Some(_) | None => VariableFallback::Null,
    };
    context.variables.value(item.get("tv").and_then(Json::as_str).unwrap_or_default(), fallback)
}

async fn tags(context: &QueryContext<'_>) -> Result<Option<Predicate>, Fault> {
    let Some(tags_data) = context.input.object("tags_data") else {
        return Ok(None);
    };
    let mut names = Vec::new();
    for (number, tag) in tags_data.get("tags").and_then(Json::as_array).into_iter().flatten().enumerate() {
        match tag.as_str().map(str::trim) {
            Some(name) if !name.is_empty() && filter::has_no_delimiter(name) => {
                names.push(Literal::Text(name.to_owned()))
            }
            Some(_) | None => {
                let pointer = format!("/tags_data/tags/{number}");
                let expected = "the name of a tag is expected, not blank and without : or ;";
                return Err(Fault::invalid_argument(&pointer, "pattern", expected));
            }
        }
    }
    if !(context.site_db.has_table(TAG_LINKS).await? && context.site_db.has_table(TAGS).await?) {
        // A database does not show tables that its user may not read, so both causes look the same.
        let expected = "this site's tags cannot be read: its tagging extra is not installed, or the site's database gives \
             no permission for the tables tags and site_content_tags; use tv_filters instead";
        return Err(Fault::invalid_argument("/tags_data", "not", expected));
    }
    let variable = tags_data.get("tv_id").and_then(Json::as_i64).unwrap_or(0);
    Ok(Some(Predicate::Exists(Box::new(Select {
        from: (LINK, TAG_LINKS),
        joins: vec![Join {
            table: (TAG, TAGS),
            on: vec![columns_equal(Expr::Column(TAG, "id"), Expr::Column(LINK, "tag_id"))],
            kind: JoinKind::Inner,
        }],
        columns: Vec::new(),
        filter: vec![
            columns_equal(Expr::Column(LINK, "doc_id"), column("id")),
            equals(Expr::Column(LINK, "tv_id"), variable),
            Predicate::AnyOf(Expr::Column(TAG, "name"), names),
        ],
        order: Vec::new(),
        offset: 0,
        limit: 1,
        bytes: context.limits.bytes,
    }))))
}

fn objects<'a>(context: &'a QueryContext<'_>, argument: &str) -> impl Iterator<Item = &'a Map<String, Json>> + use<'a> {
    let items = context.input.arguments.get(argument).and_then(Json::as_array);
    items.into_iter().flatten().filter_map(Json::as_object)
}

fn boolean(arguments: &Map<String, Json>, name: &str) -> Option<i64> {
    arguments.get(name).and_then(Json::as_bool).map(i64::from)
}

fn direction(text: Option<&Json>) -> Direction {
    match text.and_then(Json::as_str) {
        Some("desc") => Direction::Descending,
        Some(_) | None => Direction::Ascending,
    }
}
