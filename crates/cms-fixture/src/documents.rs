//! The documents and their tree: a catalogue, a blog, a deep chain, gaps in the menu order, and deleted pages.

use crate::{SqlValue, TableRows};

/// What a document is, which determines its values of template variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    Page,
    Category { number: usize },
    Product { category: usize, sub: usize, number: usize },
    Article { year: usize, quarter: usize, number: usize },
}

#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) id: usize,
    /// From the parent to the root.
    ancestors: Vec<usize>,
    title: String,
    template: i64,
    menuindex: i64,
    is_folder: bool,
    is_published: bool,
    is_hidden: bool,
    deleted: Deleted,
    pub(crate) kind: DocumentKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deleted {
    No,
    Yes,
    /// Without the time of deletion, as in very old versions.
    WithoutTime,
}

const SECTION: i64 = 3;
const PRODUCT: i64 = 4;
const ARTICLE: i64 = 5;
const LANDING: i64 = 6;

pub(crate) fn all(documents: usize) -> Vec<Document> {
    let mut tree = Tree { all: Vec::new() };
    tree.add(&[], "Welcome", 1, 0);
    for (number, (title, template)) in [
        ("Catalog", SECTION),
        ("Blog", SECTION),
        ("About us", LANDING),
        ("Contact's \"page\" 100%_real", LANDING),
        ("Hidden drafts", SECTION),
        ("External link", LANDING),
    ]
    .into_iter()
    .enumerate()
    {
        tree.add(&[], title, template, number as i64 + 1);
    }
    for category in 1..=6 {
        tree.category(category);
    }
    for year in 2019..2024 {
        tree.year(year);
    }
    let mut chain = vec![4];
    for level in 1..=9 {
        let id = tree.add(&chain, &format!("Level {level}"), LANDING, 0);
        chain.insert(0, id);
    }
    let gapped = tree.add(&[], "Gapped", SECTION, 7);
    for (number, menuindex) in [0, 1, 1, 5, 9, 9].into_iter().enumerate() {
        tree.add(&[gapped], &format!("Gap {}", number + 1), LANDING, menuindex);
    }
    tree.add(&[5], "Deleted page", LANDING, 0);
    tree.last().deleted = Deleted::Yes;
    tree.add(&[5], "Legacy deleted page", LANDING, 0);
    tree.last().deleted = Deleted::WithoutTime;
    let folder = tree.add(&[5], "Deleted folder", SECTION, 0);
    tree.last().deleted = Deleted::Yes;
    tree.add(&[folder, 5], "Live child of deleted folder", LANDING, 0);
    tree.add(&[5], "Map", LANDING, 0);
    tree.add(&[5], "Private page", LANDING, 1);
    let mut category = 7;
    while tree.all.len() < documents {
        tree.category(category);
        category += 1;
    }
    tree.all.truncate(documents);
    let parents: std::collections::HashSet<usize> =
        tree.all.iter().filter_map(|document| document.ancestors.first().copied()).collect();
    for document in &mut tree.all {
        document.is_folder = parents.contains(&document.id);
        document.is_published &= document.id != 6;
        document.is_hidden |= [5, 6].contains(&document.id);
    }
    tree.all
}

struct Tree {
    all: Vec<Document>,
}

impl Tree {
    fn add(&mut self, ancestors: &[usize], title: &str, template: i64, menuindex: i64) -> usize {
        let id = self.all.len() + 1;
        self.all.push(Document {
            id,
            ancestors: ancestors.to_vec(),
            title: title.to_owned(),
            template,
            menuindex,
            is_folder: false,
            is_published: true,
            is_hidden: false,
            deleted: Deleted::No,
            kind: DocumentKind::Page,
        });
        id
    }

    #[expect(clippy::expect_used, reason = "only called after a document was added")]
    fn last(&mut self) -> &mut Document {
        self.all.last_mut().expect("a document was added")
    }

    /// Two subcategories of nine products.
    fn category(&mut self, category: usize) {
        let id = self.add(&[2], &format!("Category {category}"), SECTION, category as i64 - 1);
        self.last().kind = DocumentKind::Category { number: category };
        for sub in 1..=2 {
            let folder = self.add(&[id, 2], &format!("Sub {category}.{sub}"), SECTION, sub as i64 - 1);
            for number in 1..=9 {
                let title = format!("Product {category}-{sub}-{number}");
                self.add(&[folder, id, 2], &title, PRODUCT, number as i64 - 1);
                let product = self.last();
                product.kind = DocumentKind::Product { category, sub, number };
                product.is_published = number != 9;
                product.is_hidden = number % 4 == 0;
            }
        }
    }

    /// Four quarters of four articles.
    fn year(&mut self, year: usize) {
        let id = self.add(&[3], &format!("Archive {year}"), SECTION, year as i64 - 2019);
        for quarter in 1..=4 {
            let folder = self.add(&[id, 3], &format!("{year} / Q{quarter}"), SECTION, quarter as i64 - 1);
            for number in 1..=4 {
                let title = match number {
                    2 => format!("Стаття про Київ №{year}-{quarter}-{number}"),
                    _ => format!("Article {year}-{quarter}-{number}"),
                };
                self.add(&[folder, id, 3], &title, ARTICLE, number as i64 - 1);
                let article = self.last();
                article.kind = DocumentKind::Article { year, quarter, number };
                article.is_published = (quarter, number) != (4, 4);
            }
        }
    }
}

pub(crate) fn rows(documents: &[Document]) -> Vec<TableRows> {
    let closure = documents.iter().flat_map(|document| {
        let line = std::iter::once(document.id).chain(document.ancestors.iter().copied());
        line.enumerate().map(|(depth, ancestor)| [ancestor, document.id, depth])
    });
    let closure = closure.enumerate().map(|(number, [ancestor, descendant, depth])| {
        [number + 1, ancestor, descendant, depth].map(|number| SqlValue::Integer(number as i64)).to_vec()
    });
    vec![
        TableRows { table: "site_content", columns: COLUMNS, rows: documents.iter().map(row).collect() },
        TableRows {
            table: "site_content_closure",
            columns: &["closure_id", "ancestor", "descendant", "depth"],
            rows: closure.collect(),
        },
    ]
}

const COLUMNS: &[&str] = &[
    "id",
    "parent",
    "type",
    "pagetitle",
    "longtitle",
    "description",
    "alias",
    "published",
    "pub_date",
    "unpub_date",
    "isfolder",
    "introtext",
    "content",
    "template",
    "menuindex",
    "createdby",
    "createdon",
    "editedon",
    "deleted",
    "deletedon",
    "privateweb",
    "privatemgr",
    "hidemenu",
];

fn row(document: &Document) -> Vec<SqlValue> {
    let id = document.id as i64;
    let title = &document.title;
    let created = 1_700_000_000 + id * 3_600;
    let content = if id == 7 { "https://example.com/".to_owned() } else { format!("<p>{title} body</p>") };
    let (deleted, deleted_on) = match document.deleted {
        Deleted::No => (0, 0),
        Deleted::Yes => (1, 1_705_000_000),
        Deleted::WithoutTime => (1, 0),
    };
    vec![
        SqlValue::Integer(id),
        SqlValue::Integer(document.ancestors.first().map_or(0, |parent| *parent as i64)),
        SqlValue::text(if id == 7 { "reference" } else { "document" }),
        SqlValue::text(title),
        SqlValue::text(format!("{title} — long")),
        SqlValue::text(format!("About {title}")),
        SqlValue::text(format!("doc-{id}")),
        SqlValue::Integer(i64::from(document.is_published)),
        SqlValue::Integer(if id % 5 == 0 { (1_702_880_000 - id * 7_200).max(1) } else { 0 }),
        SqlValue::Integer(if id % 50 == 0 { 2_100_000_000 } else { 0 }),
        SqlValue::Integer(i64::from(document.is_folder)),
        SqlValue::text(format!("Intro {title}")),
        SqlValue::text(content),
        SqlValue::Integer(document.template),
        SqlValue::Integer(document.menuindex),
        SqlValue::Integer(1),
        SqlValue::Integer(created),
        SqlValue::Integer(created + 60),
        SqlValue::Integer(deleted),
        SqlValue::Integer(deleted_on),
        SqlValue::Boolean(id == 260),
        SqlValue::Boolean(id == 260),
        SqlValue::Boolean(document.is_hidden),
    ]
}
