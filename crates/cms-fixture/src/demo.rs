//! The website of a pottery, for the demo: a shop, a blog, workshops, a draft and a deleted page. All content is made up.

use crate::{SqlValue, TableRows};

const CREATED_AT: i64 = 1_735_722_000;
const DAY: i64 = 86_400;

const HOME: i64 = 1;
const SECTION: i64 = 2;
const PRODUCT: i64 = 3;
const ARTICLE: i64 = 4;
const PAGE: i64 = 5;
const TEMPLATES: [&str; 5] = ["Home", "Section", "Product", "Article", "Page"];

const PRICE: i64 = 1;
const GLAZE: i64 = 2;
const IN_STOCK: i64 = 3;
const AUTHOR: i64 = 4;
const DATE: i64 = 5;
/// Name, caption, type, default, template.
const VARIABLES: [(&str, &str, &str, &str, i64); 5] = [
    ("price", "Price in euros", "number", "", PRODUCT),
    ("glaze", "Glaze", "text", "celadon", PRODUCT),
    ("in_stock", "Pieces in stock", "number", "0", PRODUCT),
    ("author", "Author", "text", "The studio", ARTICLE),
    ("date", "Date of the workshop", "date", "", PAGE),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Published,
    Unpublished,
    Deleted,
}

struct Document {
    /// From the parent to the root.
    ancestors: Vec<i64>,
    title: &'static str,
    text: &'static str,
    template: i64,
    state: State,
    values: Vec<(i64, &'static str)>,
}

/// Title, text, price, glaze (empty for the default), pieces in stock.
type Piece = (&'static str, &'static str, &'static str, &'static str, &'static str);

const MUGS: [Piece; 4] = [
    ("Harbour mug", "A broad mug that stands firm on deck.", "24.00", "", "12"),
    ("Espresso cup", "Six centilitres, thick walled.", "14.50", "tenmoku", "30"),
    ("Fisherman's mug", "Half a litre, with a handle for gloves.", "29.00", "shino", "0"),
    ("Tea bowl", "No handle, two hands.", "32.00", "", "7"),
];
const BOWLS: [Piece; 4] = [
    ("Soup bowl", "Deep, and it stacks.", "28.00", "", "18"),
    ("Salad bowl", "Thirty centimetres across.", "78.00", "tenmoku", "3"),
    ("Ramen bowl", "With a rest for chopsticks.", "36.00", "shino", "9"),
    ("Dog bowl", "Heavy enough for a terrier.", "34.00", "", "5"),
];
const VASES: [Piece; 3] = [
    ("Bud vase", "For one flower.", "19.00", "", "22"),
    ("Lighthouse vase", "Forty centimetres, banded.", "120.00", "tenmoku", "1"),
    ("Moon jar", "Round, and never quite.", "340.00", "shino", "1"),
];
const ARTICLES: [(&str, &str, &str); 8] = [
    ("Firing the big kiln", "Two days, thirty boards, and hardly any sleep.", "Maren"),
    ("Why celadon is green", "Iron, and what the fire leaves of it.", "Jonas"),
    ("A mug for left hands", "We were asked, and then we measured.", ""),
    ("Clay from the estuary", "It is grey, full of shells, and ours.", "Maren"),
    ("How to mend a bowl with gold", "A crack is not the end of it.", "Jonas"),
    ("Winter opening hours", "Shorter days, warmer kiln.", ""),
    ("What a second is", "A piece with a flaw that only we see.", "Maren"),
    ("Ten years at Harbour Lane", "Thank you for coming.", ""),
];
const WORKSHOPS: [(&str, &str, &str); 4] = [
    ("First steps at the wheel", "An afternoon for people who never touched clay.", "2027-03-06 14:00:00"),
    ("Glazing day", "Bring what you have thrown.", "2027-03-20 10:00:00"),
    ("Hand building for children", "From six years on.", "2027-04-03 10:00:00"),
    ("Raku on the beach", "Only if the wind is right.", "2027-06-12 17:00:00"),
];

pub(crate) fn rows() -> Vec<TableRows> {
    let documents = documents();
    vec![
        content(&documents),
        closure(&documents),
        TableRows {
            table: "site_templates",
            columns: &["id", "templatename", "templatealias", "description", "content", "createdon", "editedon"],
            rows: TEMPLATES.iter().zip(1..).map(|(name, id)| template(name, id)).collect(),
        },
        TableRows {
            table: "site_tmplvars",
            columns: &["id", "type", "name", "caption", "rank", "default_text", "createdon", "editedon"],
            rows: VARIABLES.iter().zip(1..).map(|(variable, id)| variable_row(variable, id)).collect(),
        },
        TableRows {
            table: "site_tmplvar_templates",
            columns: &["tmplvarid", "templateid", "rank"],
            rows: VARIABLES.iter().zip(1..).map(|(variable, id)| integers(&[id, variable.4, id])).collect(),
        },
        values(&documents),
        TableRows {
            table: "users",
            columns: &["id", "username"],
            rows: vec![
                vec![SqlValue::Integer(1), SqlValue::text("maren")],
                vec![SqlValue::Integer(2), SqlValue::text("jonas")],
            ],
        },
        TableRows {
            table: "user_roles",
            columns: &["id", "name", "description"],
            rows: vec![vec![
                SqlValue::Integer(1),
                SqlValue::text("Administrator"),
                SqlValue::text("May do everything"),
            ]],
        },
    ]
}

fn documents() -> Vec<Document> {
    let mut all: Vec<Document> = Vec::new();
    let mut add = |ancestors: &[i64], title, text, template, state, values: Vec<(i64, &'static str)>| {
        let values = values.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        all.push(Document { ancestors: ancestors.to_vec(), title, text, template, state, values });
        all.len() as i64
    };
    let public = State::Published;
    add(&[], "Harbour Lane Pottery", "Stoneware for every day, made where the ferry lands.", HOME, public, vec![]);
    let shop = add(&[], "Shop", "Everything on the shelf today.", SECTION, public, vec![]);
    let blog = add(&[], "Blog", "Notes from the studio.", SECTION, public, vec![]);
    let workshops = add(&[], "Workshops", "Come and get dirty.", SECTION, public, vec![]);
    let about = add(&[], "About us", "Two potters and a kiln.", PAGE, public, vec![]);
    add(&[], "Contact", "12 Harbour Lane. Tuesday to Saturday, 10 to 17.", PAGE, public, vec![]);
    for (title, text, pieces) in [
        ("Mugs", "To hold on to.", MUGS.as_slice()),
        ("Bowls", "To share.", BOWLS.as_slice()),
        ("Vases", "To look at.", VASES.as_slice()),
    ] {
        let shelf = add(&[shop], title, text, SECTION, public, vec![]);
        for (title, text, price, glaze, pieces) in pieces {
            let values = vec![(PRICE, *price), (GLAZE, *glaze), (IN_STOCK, *pieces)];
            add(&[shelf, shop], title, text, PRODUCT, public, values);
        }
    }
    for (title, text, author) in ARTICLES {
        add(&[blog], title, text, ARTICLE, public, vec![(AUTHOR, author)]);
    }
    for (title, text, date) in WORKSHOPS {
        add(&[workshops], title, text, PAGE, public, vec![(DATE, date)]);
    }
    let people = add(&[about], "The people", "Maren throws, Jonas glazes.", PAGE, public, vec![]);
    add(&[people, about], "Maren", "Has been at the wheel since 1998.", PAGE, public, vec![]);
    add(&[people, about], "Jonas", "Knows forty recipes by heart.", PAGE, public, vec![]);
    add(&[blog], "A second kiln (draft)", "Not decided yet. Do not tell anybody.", ARTICLE, State::Unpublished, vec![]);
    add(&[shop], "Christmas market 2024", "It is over.", PAGE, State::Deleted, vec![]);
    all
}

fn content(documents: &[Document]) -> TableRows {
    let mut menu: Vec<(i64, i64)> = Vec::new();
    let rows = documents.iter().zip(1..).map(|(document, id)| {
        let parent = document.ancestors.first().copied().unwrap_or_default();
        let menuindex = menu.iter().filter(|(other, _)| *other == parent).count() as i64;
        menu.push((parent, id));
        let is_folder = documents.iter().any(|other| other.ancestors.first() == Some(&id));
        let made = CREATED_AT + id * DAY;
        let deleted = document.state == State::Deleted;
        let published = document.state == State::Published;
        vec![
            SqlValue::Integer(id),
            SqlValue::Integer(parent),
            SqlValue::text(document.title),
            SqlValue::text(document.text),
            SqlValue::text(alias(document.title)),
            SqlValue::Integer(i64::from(published)),
            SqlValue::Integer(i64::from(is_folder)),
            SqlValue::text(format!("<p>{}</p>", document.text)),
            SqlValue::Integer(document.template),
            SqlValue::Integer(menuindex),
            SqlValue::Integer(1),
            SqlValue::Integer(made),
            SqlValue::Integer(made + DAY),
            SqlValue::Integer(i64::from(deleted)),
            SqlValue::Integer(if deleted { made + 2 * DAY } else { 0 }),
        ]
    });
    TableRows {
        table: "site_content",
        columns: &[
            "id",
            "parent",
            "pagetitle",
            "description",
            "alias",
            "published",
            "isfolder",
            "content",
            "template",
            "menuindex",
            "createdby",
            "createdon",
            "editedon",
            "deleted",
            "deletedon",
        ],
        rows: rows.collect(),
    }
}

fn closure(documents: &[Document]) -> TableRows {
    let lines = documents.iter().zip(1..).flat_map(|(document, id)| {
        let line = std::iter::once(id).chain(document.ancestors.iter().copied());
        line.zip(0..).map(move |(ancestor, depth)| [ancestor, id, depth])
    });
    let rows = lines.zip(1..).map(|([ancestor, descendant, depth], id)| integers(&[id, ancestor, descendant, depth]));
    TableRows {
        table: "site_content_closure",
        columns: &["closure_id", "ancestor", "descendant", "depth"],
        rows: rows.collect(),
    }
}

fn values(documents: &[Document]) -> TableRows {
    let values = documents
        .iter()
        .zip(1..)
        .flat_map(|(document, id)| document.values.iter().map(move |(variable, value)| (*variable, id, *value)));
    let rows = values.zip(1..).map(|((variable, document, value), id)| {
        vec![SqlValue::Integer(id), SqlValue::Integer(variable), SqlValue::Integer(document), SqlValue::text(value)]
    });
    TableRows {
        table: "site_tmplvar_contentvalues",
        columns: &["id", "tmplvarid", "contentid", "value"],
        rows: rows.collect(),
    }
}

fn template(name: &str, id: i64) -> Vec<SqlValue> {
    vec![
        SqlValue::Integer(id),
        SqlValue::text(name),
        SqlValue::text(name.to_lowercase()),
        SqlValue::text(format!("How a page of the kind {name} looks")),
        SqlValue::text("<h1>[*pagetitle*]</h1>[*content*]"),
        SqlValue::Integer(CREATED_AT),
        SqlValue::Integer(CREATED_AT),
    ]
}

fn variable_row((name, caption, kind, default, _): &(&str, &str, &str, &str, i64), id: i64) -> Vec<SqlValue> {
    vec![
        SqlValue::Integer(id),
        SqlValue::text(*kind),
        SqlValue::text(*name),
        SqlValue::text(*caption),
        SqlValue::Integer(id),
        SqlValue::text(*default),
        SqlValue::Integer(CREATED_AT),
        SqlValue::Integer(CREATED_AT),
    ]
}

fn alias(title: &str) -> String {
    let words: Vec<String> = title
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}

fn integers(numbers: &[i64]) -> Vec<SqlValue> {
    numbers.iter().map(|number| SqlValue::Integer(*number)).collect()
}
