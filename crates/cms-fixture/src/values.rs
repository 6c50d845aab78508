//! Templates, template variables and their values, categories of elements, snippets and tags.

use crate::documents::{About, Document};
use crate::{Cell, Rows};

const MADE: i64 = 1_700_000_000;
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

pub(crate) fn rows(documents: &[Document]) -> Vec<Rows> {
    let values = documents.iter().flat_map(|document| {
        values(document).into_iter().map(|(variable, value)| (variable, document.id as i64, value))
    });
    let values = values.enumerate().map(|(number, (variable, document, value))| {
        vec![Cell::Whole(number as i64 + 1), Cell::Whole(variable), Cell::Whole(document), Cell::Text(value)]
    });
    vec![
        Rows {
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
        Rows {
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
        Rows {
            table: "site_tmplvar_templates",
            columns: &["tmplvarid", "templateid", "rank"],
            rows: ASSIGNED.iter().map(|(one, other)| whole(&[*one, *other, one - 1])).collect(),
        },
        Rows {
            table: "site_tmplvar_contentvalues",
            columns: &["id", "tmplvarid", "contentid", "value"],
            rows: values.collect(),
        },
        Rows {
            table: "categories",
            columns: &["id", "category"],
            rows: named(&["Catalog", "Blog", "SEO", "Layout", "Users"]),
        },
        Rows {
            table: "site_snippets",
            columns: &["id", "name", "description", "category", "snippet", "createdon", "editedon"],
            rows: snippets(),
        },
        Rows { table: "tags", columns: &["id", "name"], rows: named(&TAGS) },
        Rows {
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
    match document.about {
        About::Page if document.id == 2 => put(12, "right"),
        About::Page => {}
        About::Category { number } if number % 2 == 1 => put(7, &format!("assets/images/cat{number}.jpg")),
        About::Category { .. } => {}
        About::Product { category, sub, number } => {
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
        About::Article { year, quarter, number } => {
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

fn tag_links(document: &Document) -> Vec<Vec<Cell>> {
    match document.about {
        About::Article { number, .. } => (1..=number as i64).map(|tag| whole(&[document.id as i64, tag, 9])).collect(),
        About::Page | About::Category { .. } | About::Product { .. } => Vec::new(),
    }
}

fn templates() -> Vec<Vec<Cell>> {
    let templates = [("Minimal", 0), ("Home", 4), ("Section", 4), ("Product", 1), ("Article", 2), ("Landing", 4)];
    let row = |(number, (name, category)): (usize, (&str, i64))| {
        vec![
            Cell::Whole(number as i64 + 1),
            Cell::text(name),
            Cell::text(name.to_lowercase()),
            Cell::text(format!("{name} template")),
            Cell::Whole(category),
            Cell::text("<h1>[*pagetitle*]</h1>[*content*]"),
            Cell::Whole(MADE),
            Cell::Whole(MADE + 60),
        ]
    };
    templates.into_iter().enumerate().map(row).collect()
}

fn variable((number, (name, caption, kind, category, default, options)): (usize, &Variable)) -> Vec<Cell> {
    vec![
        Cell::Whole(number as i64 + 1),
        Cell::text(*kind),
        Cell::text(*name),
        Cell::text(*caption),
        Cell::text(format!("{caption} TV")),
        Cell::Whole(*category),
        Cell::text(*options),
        Cell::Whole(number as i64),
        Cell::text(""),
        Cell::text(""),
        default.map_or(Cell::Null, Cell::text),
        Cell::Whole(MADE),
        Cell::Whole(MADE + 60),
        Cell::Null,
    ]
}

fn snippets() -> Vec<Vec<Cell>> {
    let row = |(number, name): (usize, &str)| {
        let head = [Cell::Whole(number as i64 + 1), Cell::text(name), Cell::text(format!("About {name}"))];
        let tail = [Cell::Whole(4), Cell::text("return 1;"), Cell::Whole(MADE), Cell::Whole(MADE + 60)];
        head.into_iter().chain(tail).collect()
    };
    ["Menu", "Lister", "Forms", "Thumbs"].into_iter().enumerate().map(row).collect()
}

fn named(names: &[&str]) -> Vec<Vec<Cell>> {
    names.iter().enumerate().map(|(number, name)| vec![Cell::Whole(number as i64 + 1), Cell::text(*name)]).collect()
}

fn whole(numbers: &[i64]) -> Vec<Cell> {
    numbers.iter().map(|number| Cell::Whole(*number)).collect()
}
