//! Templates, template variables and their values, categories of elements, snippets and tags.

use crate::documents::{Document, DocumentKind};
use crate::{SqlValue, TableRows};

const CREATED_AT: i64 = 1_700_000_000;
const TAGS: [&str; 4] = ["php", "rust", "cms", "новини"];

/// Name, caption, type, category, default, options.
type Variable = (&'static str, &'static str, &'static str, i64, Option<&'static str>, &'static str);

const VARIABLES: [Variable; 12] = [
    ("price", "Price", "number", 1, Some("0"), ""),
    ("old_price", "Old price", "number", 1, Some(""), ""),
    ("sku", "SKU", "text", 1, None, ""),
    ("color", "Color", "dropdown", 1, Some("red"), "Red==red||Green==green||Blue==blue||Black==black"),
    ("rating", "Rating", "number", 1, Some("3.5"), ""),
    ("in_stock", "In stock", "checkbox", 1, Some("1"), "Yes==1"),
    ("image", "Image", "image", 4, Some("assets/images/noimage.png"), ""),
    ("author", "Author", "text", 2, Some("Редакція"), ""),
    ("tags", "Tags", "text", 2, Some(""), ""),
    ("event_date", "Event date", "date", 2, Some(""), ""),
    ("meta_title", "Meta title", "text", 3, Some("[*pagetitle*]"), ""),
    ("side-bar", "Side bar", "option", 4, Some("left"), "Left==left||Right==right"),
];

/// Variable, template.
const ASSIGNED: [(i64, i64); 19] = [
    (1, 4),
    (2, 4),
    (3, 4),
    (4, 4),
    (5, 4),
    (5, 5),
    (6, 4),
    (7, 4),
    (7, 5),
    (7, 3),
    (8, 5),
    (9, 5),
    (10, 5),
    (11, 2),
    (11, 3),
    (11, 4),
    (11, 5),
    (11, 6),
    (12, 3),
];

pub(crate) fn rows(documents: &[Document]) -> Vec<TableRows> {
    let values = documents.iter().flat_map(|document| {
        values(document).into_iter().map(|(variable, value)| (variable, document.id as i64, value))
    });
    let values = values.enumerate().map(|(number, (variable, document, value))| {
        vec![
            SqlValue::Integer(number as i64 + 1),
            SqlValue::Integer(variable),
            SqlValue::Integer(document),
            SqlValue::Text(value),
        ]
    });
    vec![
        TableRows {
            table: "site_templates",
            columns: &[
                "id",
                "templatename",
                "templatealias",
                "description",
                "category",
                "content",
                "createdon",
                "editedon",
            ],
            rows: templates(),
        },
        TableRows {
            table: "site_tmplvars",
            columns: &[
                "id",
                "type",
                "name",
                "caption",
                "description",
                "category",
                "elements",
                "rank",
                "display",
                "display_params",
                "default_text",
                "createdon",
                "editedon",
                "properties",
            ],
            rows: VARIABLES.iter().enumerate().map(variable).collect(),
        },
        TableRows {
            table: "site_tmplvar_templates",
            columns: &["tmplvarid", "templateid", "rank"],
            rows: ASSIGNED.iter().map(|(one, other)| integers(&[*one, *other, one - 1])).collect(),
        },
        TableRows {
            table: "site_tmplvar_contentvalues",
            columns: &["id", "tmplvarid", "contentid", "value"],
            rows: values.collect(),
        },
        TableRows {
            table: "categories",
            columns: &["id", "category"],
            rows: named(&["Catalog", "Blog", "SEO", "Layout", "Users"]),
        },
        TableRows {
            table: "site_snippets",
            columns: &["id", "name", "description", "category", "snippet", "createdon", "editedon"],
            rows: snippets(),
        },
        TableRows { table: "tags", columns: &["id", "name"], rows: named(&TAGS) },
        TableRows {
            table: "site_content_tags",
            columns: &["doc_id", "tag_id", "tv_id"],
            rows: documents.iter().flat_map(tag_links).collect(),
        },
    ]
}

/// A document's values by their variables' ids.
fn values(document: &Document) -> Vec<(i64, String)> {
    let mut values = Vec::new();
    let mut put = |variable: i64, value: &str| values.push((variable, value.to_owned()));
    match document.kind {
        DocumentKind::Page if document.id == 2 => put(12, "right"),
        DocumentKind::Page => {}
        DocumentKind::Category { number } if number % 2 == 1 => put(7, &format!("assets/images/cat{number}.jpg")),
        DocumentKind::Category { .. } => {}
        DocumentKind::Product { category, sub, number } => {
            let price = category * 100 + sub * 10 + number;
            match number {
                3 => {}
                5 => put(1, &format!("-{price}")),
                7 => put(1, "n/a"),
                8 => put(1, "99.95"),
                _ => put(1, &price.to_string()),
            }
            put(3, &format!("SKU-{category:02}{sub:02}{number:02}"));
            match number % 4 {
                0 => put(4, "red"),
                2 => put(4, "blue"),
                _ => {}
            }
            let tenths = 10 + number * 7 % 40;
            if number % 3 != 0 {
                put(5, &format!("{}.{}", tenths / 10, tenths % 10));
            }
            match number {
                6 => put(6, ""),
                1 => put(7, &format!("assets/images/p{}.jpg", document.id)),
                _ => {}
            }
        }
        DocumentKind::Article { year, quarter, number } => {
            match number {
                2 => put(8, "Ірина"),
                3 => put(8, "John \"Jay\" O'Neil"),
                4 => put(8, "Zoë"),
                _ => {}
            }
            put(9, &TAGS.get(..number).unwrap_or_default().join(","));
            if number % 2 == 1 {
                put(10, &format!("{year}-{:02}-15 10:00:00", quarter * 3));
            }
        }
    }
    values
}

fn tag_links(document: &Document) -> Vec<Vec<SqlValue>> {
    match document.kind {
        DocumentKind::Article { number, .. } => {
            (1..=number as i64).map(|tag| integers(&[document.id as i64, tag, 9])).collect()
        }
        DocumentKind::Page | DocumentKind::Category { .. } | DocumentKind::Product { .. } => Vec::new(),
    }
}

fn templates() -> Vec<Vec<SqlValue>> {
    let templates = [("Minimal", 0), ("Home", 4), ("Section", 4), ("Product", 1), ("Article", 2), ("Landing", 4)];
    let row = |(number, (name, category)): (usize, (&str, i64))| {
        vec![
            SqlValue::Integer(number as i64 + 1),
            SqlValue::text(name),
            SqlValue::text(name.to_lowercase()),
            SqlValue::text(format!("{name} template")),
            SqlValue::Integer(category),
            SqlValue::text("<h1>[*pagetitle*]</h1>[*content*]"),
            SqlValue::Integer(CREATED_AT),
            SqlValue::Integer(CREATED_AT + 60),
        ]
    };
    templates.into_iter().enumerate().map(row).collect()
}

fn variable((number, (name, caption, kind, category, default, options)): (usize, &Variable)) -> Vec<SqlValue> {
    vec![
        SqlValue::Integer(number as i64 + 1),
        SqlValue::text(*kind),
        SqlValue::text(*name),
        SqlValue::text(*caption),
        SqlValue::text(format!("{caption} TV")),
        SqlValue::Integer(*category),
        SqlValue::text(*options),
        SqlValue::Integer(number as i64),
        SqlValue::text(""),
        SqlValue::text(""),
        default.map_or(SqlValue::Null, SqlValue::text),
        SqlValue::Integer(CREATED_AT),
        SqlValue::Integer(CREATED_AT + 60),
        SqlValue::Null,
    ]
}

fn snippets() -> Vec<Vec<SqlValue>> {
    let row = |(number, name): (usize, &str)| {
        let head =
            [SqlValue::Integer(number as i64 + 1), SqlValue::text(name), SqlValue::text(format!("About {name}"))];
        let tail = [
            SqlValue::Integer(4),
            SqlValue::text("return 1;"),
            SqlValue::Integer(CREATED_AT),
            SqlValue::Integer(CREATED_AT + 60),
        ];
        head.into_iter().chain(tail).collect()
    };
    ["Menu", "Lister", "Forms", "Thumbs"].into_iter().enumerate().map(row).collect()
}

fn named(names: &[&str]) -> Vec<Vec<SqlValue>> {
    names
        .iter()
        .enumerate()
        .map(|(number, name)| vec![SqlValue::Integer(number as i64 + 1), SqlValue::text(*name)])
        .collect()
}

fn integers(numbers: &[i64]) -> Vec<SqlValue> {
    numbers.iter().map(|number| SqlValue::Integer(*number)).collect()
}
