//! Finding pages: by their place, their state, their template variables and their tags, in the order asked for. All
//! filters must hold.

use frontdesk_engine::Fault;
use frontdesk_engine::model::page::Direction;
use frontdesk_engine::model::schema::{Field, Schema, Text, optional, required};
use frontdesk_engine::model::tool::Tool;
use frontdesk_engine::ports::site_db::{Expr, Join, JoinKind, Literal, Name, Predicate, Select, TableAlias};
use serde_json::{Map, Value as Json};

use super::Words;
use super::content::{Ask, Rows, list};
use super::tree::{asked_depth, below, depth};
use crate::emcp::forms::{self, Otherwise};
use crate::emcp::variables::{FILTERS, MOST_FILTERS, MOST_ORDERS, ORDER};
use crate::emcp::words::{column, is, same};
use crate::emcp::{Limits, filter, shapes};

const ORDERS: &[&str] = &["id", "pagetitle", "menuindex", "createdon", "pub_date"];

/// Which tags a page has, and what they are called. The CMS itself has neither table; its tagging extra makes them.
const TAG_LINKS: Name = "site_content_tags";
const TAGS: Name = "tags";
const LINK: TableAlias = TableAlias(3);
const TAG: TableAlias = TableAlias(4);
const MOST_TAGS: usize = 50;
const LONGEST_TAG: usize = 255;

pub(super) fn search(limits: Limits) -> Tool {
    let words = Words {
        name: "evo.content.search",
        title: "Search pages",
        about: "Finds pages by where they are, their state, template, template variables and tags; all filters must \
            hold. Pages in the bin are left out unless deleted is true.",
    };
    list(limits, words, fields(&limits), |ask| Box::pin(async move { rows(ask).await.map(Some) }))
}

fn fields(limits: &Limits) -> Vec<Field> {
    vec![
        optional(
            "parent",
            Schema::integer(0, shapes::LARGEST),
            "Only pages below this page, at any level down to depth.",
        ),
        optional("published", Schema::Boolean, "Only pages that are, or are not, published."),
        optional("deleted", Schema::Boolean, "Only pages in the bin (true) or not in it (false, as if absent)."),
        optional("template", Schema::integer(0, shapes::LARGEST), "Only pages with this template, by its id."),
        optional("hidemenu", Schema::Boolean, "Only pages that menus leave out, or do not."),
        depth(limits, "How many levels below parent; as many as allowed if absent. Without parent it means nothing."),
        optional(
            FILTERS,
            Schema::list(filter_shape(), MOST_FILTERS),
            "Conditions on template variables; all must hold.",
        ),
        optional(
            ORDER,
            Schema::list(order_shape(), MOST_ORDERS),
            "Order by template variables, before any other order. What has no value is first when rising.",
        ),
        optional("tags_data", tags_shape(), "Only pages that have at least one of these tags."),
        optional("order_by", Schema::one_of(ORDERS), "The field to order by; id if absent."),
        optional("order_dir", Schema::one_of(shapes::DIRECTIONS), "The direction of order_by; asc if absent."),
        optional(
            "order_by_date",
            Schema::one_of(shapes::DIRECTIONS),
            "Order by pub_date, or createdon where there is none; goes before order_by.",
        ),
    ]
}

fn filter_shape() -> Schema {
    let mut fields = vec![variable()];
    fields.extend(filter::fields());
    fields.extend([cast("Compare as numbers of this kind."), use_default()]);
    Schema::Object(fields)
}

fn order_shape() -> Schema {
    Schema::object([
        variable(),
        optional("dir", Schema::one_of(shapes::DIRECTIONS), "The direction; asc if absent."),
        cast("Order as numbers of this kind."),
        use_default(),
    ])
}

fn tags_shape() -> Schema {
    Schema::object([
        required("tv_id", Schema::integer(0, shapes::LARGEST), "Id of the template variable that holds the tags."),
        required("tags", Schema::non_empty_list(Schema::text(LONGEST_TAG), MOST_TAGS), "Names of tags."),
    ])
}

fn variable() -> Field {
    required("tv", Schema::Text(Text::Pattern(&forms::NAME)), "Name of the template variable.")
}

fn cast(about: &'static str) -> Field {
    optional("cast", Schema::Text(Text::Pattern(&forms::CAST)), about)
}

fn use_default() -> Field {
    optional("use_default", Schema::Boolean, "Whether the variable's default counts where a page has no value.")
}

async fn rows(ask: &Ask<'_>) -> Result<Rows, Fault> {
    let mut rows = match ask.reading.integer("parent") {
        Some(parent) => below(parent, asked_depth(ask).unwrap_or(ask.limits.max_depth.into())),
        None => Rows::default(),
    };
    rows.tests.push(is(column("deleted"), truth(&ask.reading.arguments, "deleted").unwrap_or(0)));
    for name in ["published", "hidemenu"] {
        rows.tests.extend(truth(&ask.reading.arguments, name).map(|wanted| is(column(name), wanted)));
    }
    rows.tests.extend(ask.reading.integer("template").map(|template| is(column("template"), template)));
    for (number, condition) in objects(ask, FILTERS).enumerate() {
        let at = format!("/{FILTERS}/{number}");
        rows.tests.push(filter::test(value(ask, condition)?, condition, &at, filter::Values::OfVariables)?);
    }
    rows.tests.extend(tags(ask).await?);
    for term in objects(ask, ORDER) {
        let cast = term.get("cast").and_then(Json::as_str).and_then(forms::cast);
        rows.order.push((filter::read_as(value(ask, term)?, cast), direction(term.get("dir"))));
    }
    rows.order.extend(order(ask));
    Ok(rows)
}

/// The id comes last, so that pages do not overlap.
fn order(ask: &Ask<'_>) -> Vec<(Expr, Direction)> {
    let arguments = &ask.reading.arguments;
    let by_id = (column("id"), Direction::Ascending);
    if let Some(dir) = arguments.get("order_by_date") {
        let date = Expr::NonZero(Box::new(column("pub_date")), Box::new(column("createdon")));
        return vec![(date, direction(Some(dir))), by_id];
    }
    let named = ask.reading.text("order_by").and_then(|name| ORDERS.iter().find(|order| **order == name));
    match named {
        Some(name) => vec![(column(name), direction(arguments.get("order_dir"))), by_id],
        None => vec![by_id],
    }
}

/// The variable that a filter or an order is about.
fn value(ask: &Ask<'_>, term: &Map<String, Json>) -> Result<Expr, Fault> {
    let otherwise = match truth(term, "use_default") {
        Some(1) => Otherwise::Default,
        Some(_) | None => Otherwise::Nothing,
    };
    ask.variables.value(term.get("tv").and_then(Json::as_str).unwrap_or_default(), otherwise)
}

async fn tags(ask: &Ask<'_>) -> Result<Option<Predicate>, Fault> {
    let Some(asked) = ask.reading.object("tags_data") else {
        return Ok(None);
    };
    let mut names = Vec::new();
    for (number, tag) in asked.get("tags").and_then(Json::as_array).into_iter().flatten().enumerate() {
        match tag.as_str().map(str::trim) {
            Some(name) if !name.is_empty() && filter::is_plain(name) => names.push(Literal::Text(name.to_owned())),
            Some(_) | None => {
                let at = format!("/tags_data/tags/{number}");
                let expected = "the name of a tag is expected, not blank and without : or ;";
                return Err(Fault::invalid_argument(&at, "pattern", expected));
            }
        }
    }
    if !(ask.archive.has_table(TAG_LINKS).await? && ask.archive.has_table(TAGS).await?) {
        let expected = "this site has no tags, because its tagging extra is not installed; use tv_filters instead";
        return Err(Fault::invalid_argument("/tags_data", "not", expected));
    }
    let variable = asked.get("tv_id").and_then(Json::as_i64).unwrap_or(0);
    Ok(Some(Predicate::Exists(Box::new(Select {
        from: (LINK, TAG_LINKS),
        joins: vec![Join {
            table: (TAG, TAGS),
            on: vec![same(Expr::Column(TAG, "id"), Expr::Column(LINK, "tag_id"))],
            kind: JoinKind::Inner,
        }],
        columns: Vec::new(),
        filter: vec![
            same(Expr::Column(LINK, "doc_id"), column("id")),
            is(Expr::Column(LINK, "tv_id"), variable),
            Predicate::AnyOf(Expr::Column(TAG, "name"), names),
        ],
        order: Vec::new(),
        offset: 0,
        limit: 1,
        bytes: ask.limits.max_result_bytes,
    }))))
}

fn objects<'a>(ask: &'a Ask<'_>, argument: &str) -> impl Iterator<Item = &'a Map<String, Json>> + use<'a> {
    let items = ask.reading.arguments.get(argument).and_then(Json::as_array);
    items.into_iter().flatten().filter_map(Json::as_object)
}

fn truth(arguments: &Map<String, Json>, name: &str) -> Option<i64> {
    arguments.get(name).and_then(Json::as_bool).map(i64::from)
}

fn direction(given: Option<&Json>) -> Direction {
    match given.and_then(Json::as_str) {
        Some("desc") => Direction::Descending,
        Some(_) | None => Direction::Ascending,
    }
}
