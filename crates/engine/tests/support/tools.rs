//! What the library's tools do.

use frontdesk_engine::model::page::{Direction, Filter, Order, Projection, Query};
use frontdesk_engine::model::plan::{Change, Event, OnConflict, Plan, Step};
use frontdesk_engine::model::table::{Cell, Row, SearchTerm, StoredRow, search_terms};
use frontdesk_engine::model::tool::{Future, Item, Outcome, WriteTool};
use frontdesk_engine::{Fault, FaultKind, Permitted};
use frontdesk_wire::answer::quote;
use serde_json::Value;

use super::library::{BOOK, MEMBER, NONE_LEFT, TAKEN};

pub(crate) fn list<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let asked = permitted.input();
        let mut filters = Vec::new();
        if let Some(genre) = asked.text("genre") {
            filters.push(Filter::Equals("genre", Cell::Text(genre.to_owned())));
        }
        if let Some(title) = asked.text("title") {
            filters.push(Filter::SearchTerms(search_terms(title).into_iter().map(SearchTerm::Plain).collect()));
        }
        let order = Order { column: "created_at", direction: Direction::Descending };
        let query = Query { projection: Projection::Rows, table: &BOOK, filters, order, window: permitted.window() };
        permitted.page(query).await.map(|page| Outcome::Many(page.into()))
    })
}

pub(crate) fn get<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let found = permitted.get(&BOOK, permitted.input().text("id").unwrap()).await?;
        found.map(|found| Outcome::One(item(found))).ok_or_else(Fault::not_found)
    })
}

pub(crate) fn member<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
    Box::pin(async move {
        let found = permitted.get(&MEMBER, permitted.input().text("id").unwrap()).await?;
        found.map(|found| Outcome::One(item(found))).ok_or_else(Fault::not_found)
    })
}

pub(crate) fn add<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let asked = permitted.input();
        let (title, genre) = (asked.text("title").unwrap(), asked.text("genre").unwrap());
        let row = book(&permitted.new_id("bk"), title, genre, asked.integer("copies").unwrap(), 1, permitted.now().0);
        let shelfmark = asked.text("shelfmark").map_or(Cell::Null, |mark| Cell::Text(mark.to_owned()));
        let row = Row { cells: row.cells.into_iter().chain([("shelfmark", shelfmark)]).collect(), ..row };
        let taken = Fault::domain(TAKEN, "Another book stands there.");
        Ok(Plan {
            events: vec![Event { kind: "book", id: row.id.clone(), change: Change::Created }],
            outcome: written(&row),
            steps: vec![Step::Insert { table: &BOOK, row, on_duplicate: taken }],
        })
    })
}

pub(crate) fn change<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let asked = permitted.input();
        let found = permitted.get_to_change(&BOOK, asked.text("id").unwrap()).await?.ok_or_else(Fault::not_found)?;
        let known: Value = serde_json::from_str(&found.body).unwrap();
        let stale = match asked.integer("expected_version") {
            Some(_) => OnConflict::Fail(Fault::new(FaultKind::VersionConflict, "The book has changed since.")),
            None => OnConflict::Retry,
        };
        let expect_version = asked.integer("expected_version").unwrap_or(found.version);
        let (genre, copies) = (known["genre"].as_str().unwrap(), known["copies"].as_i64().unwrap());
        let row = book(&found.id, asked.text("title").unwrap(), genre, copies, found.version + 1, found.created_at);
        Ok(update(row, expect_version, stale))
    })
}

/// Takes one copy, and knows itself when there is none.
pub(crate) fn lend<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let id = permitted.input().text("id").unwrap();
        let found = permitted.get_to_change(&BOOK, id).await?.ok_or_else(Fault::not_found)?;
        let known: Value = serde_json::from_str(&found.body).unwrap();
        let copies = known["copies"].as_i64().unwrap();
        if copies == 0 {
            return Err(Fault::domain(NONE_LEFT, "No copy is left."));
        }
        let (title, genre) = (known["title"].as_str().unwrap(), known["genre"].as_str().unwrap());
        let row = book(&found.id, title, genre, copies - 1, found.version + 1, found.created_at);
        Ok(update(row, found.version, OnConflict::Retry))
    })
}

/// As `lend`, and a replay answers with the book as it is now.
pub(crate) struct LendAnew;

impl WriteTool for LendAnew {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        lend(permitted)
    }

    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>> {
        Box::pin(async move {
            let found = permitted.get(&BOOK, &stored.id).await?;
            Ok(found.map_or(stored, item))
        })
    }
}

pub(crate) fn join<'a>(permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
    Box::pin(async move {
        let asked = permitted.input();
        let id = permitted.new_id("mb");
        let row = reader(&id, asked.text("name").unwrap(), asked.text("email").unwrap(), permitted.now().0);
        let taken = Fault::domain(TAKEN, "Cannot happen.");
        Ok(Plan {
            events: Vec::new(),
            outcome: written(&row),
            steps: vec![Step::Insert { table: &MEMBER, row, on_duplicate: taken }],
        })
    })
}

pub(crate) fn book(id: &str, title: &str, genre: &str, copies: i64, version: i64, created_at: i64) -> Row {
    Row {
        id: id.to_owned(),
        version,
        created_at,
        updated_at: created_at,
        cells: vec![("genre", Cell::Text(genre.to_owned()))],
        search_terms: search_terms(title).into_iter().map(SearchTerm::Plain).collect(),
        body: format!(r#"{{"id":"{id}","title":{},"genre":"{genre}","copies":{copies}}}"#, quote(title)),
        masked: None,
        personal: None,
        secret: None,
    }
}

pub(crate) fn reader(id: &str, name: &str, email: &str, created_at: i64) -> Row {
    Row {
        id: id.to_owned(),
        version: 1,
        created_at,
        updated_at: created_at,
        cells: Vec::new(),
        search_terms: Vec::new(),
        body: format!(r#"{{"id":"{id}"}}"#),
        masked: Some(r#"{"email":"***"}"#.to_owned()),
        personal: Some(format!(r#"{{"name":{},"email":{}}}"#, quote(name), quote(email))),
        secret: None,
    }
}

fn update(row: Row, expect_version: i64, stale: OnConflict) -> Plan {
    Plan {
        events: vec![Event { kind: "book", id: row.id.clone(), change: Change::Updated }],
        outcome: written(&row),
        steps: vec![Step::Update {
            table: &BOOK,
            row,
            expect_version,
            on_conflict: stale,
            on_duplicate: Fault::domain(TAKEN, "T"),
        }],
    }
}

fn written(row: &Row) -> Item {
    Item {
        id: row.id.clone(),
        version: row.version,
        body: row.body.clone(),
        masked: row.masked.clone(),
        personal: row.personal.clone(),
    }
}

fn item(found: StoredRow) -> Item {
    Item { id: found.id, version: found.version, body: found.body, masked: found.masked, personal: found.personal }
}
