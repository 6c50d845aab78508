//! The tool that finds the records about somebody.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use frontdesk_engine::import::{IMPORT, ImportStatus};
use frontdesk_engine::model::page::{Filter, Projection, Query, Start, Window};
use frontdesk_engine::model::table::{Cell, TableSpec};
use frontdesk_engine::model::tool::{Future, Outcome, ReadTool};
use frontdesk_engine::{Fault, FaultKind, Permitted};
use serde_json::{Value, json};

use super::person::{Person, ROUND_RECORDS, by_email, by_phone, ids_with};
use super::{PersonFacts, PersonKind};
use crate::record::filter::NEWEST;
use crate::record::{Email, Phone};

pub(super) struct FindTool {
    pub(super) belongings: Vec<Box<dyn PersonKind>>,
    pub(super) customers: Box<dyn PersonKind>,
}

/// What was found so far.
#[derive(Default)]
struct Findings {
    seen: HashSet<String>,
    /// Whom the round is about: one of its records.
    subject: Option<String>,
    /// The records of the round.
    round: Vec<Value>,
    is_round_over: bool,
    counts: BTreeMap<&'static str, usize>,
    /// Customers with the same e-mail address or number, who may be somebody else.
    others: BTreeSet<String>,
}

impl ReadTool for FindTool {
    fn read<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Outcome, Fault>> {
        Box::pin(async move {
            let people = self.people(permitted).await?;
            let mut findings = Findings::default();
            for person in &people {
                self.collect(permitted, person, &mut findings).await?;
                // The next round is about the next one, so that its record in the audit log names them.
                findings.is_round_over = !findings.round.is_empty();
            }
            for person in &people {
                findings.others.retain(|other| Some(other) != person.customer_id.as_ref());
            }
            let rows = findings.counts.values().sum();
            let answer = json!({
                "subject": findings.subject,
                "records": findings.round,
                "counts": findings.counts,
                "others": findings.others,
                "running_imports": running_imports(permitted).await?,
            });
            Ok(Outcome::Raw { answer: answer.to_string(), rows })
        })
    }
}

impl FindTool {
    /// Everybody who is meant. Customers who share an e-mail address that was named are all meant.
    async fn people(&self, permitted: &Permitted<'_>) -> Result<Vec<Person>, Fault> {
        let input = permitted.input();
        let contact = match (input.text("id"), input.text("email"), input.text("phone")) {
            (Some(id), None, None) => return Ok(vec![self.person_of(permitted, id).await?]),
            (None, Some(email), None) => by_email(&Email::from(email)),
            (None, None, Some(phone)) => by_phone(&Phone::from(phone)),
            _ => None,
        };
        let Some((column, cell)) = contact else {
            return Err(Fault::invalid_argument("", "oneOf", "one of id, email and phone is expected"));
        };
        let mut people = Vec::new();
        for id in ids_with(permitted, self.customers.table(), column, &cell).await? {
            people.push(self.person_of(permitted, &id).await?);
        }
        people.push(Person { customer_id: None, record_id: None, contact: vec![(column, cell)] });
        Ok(people)
    }

    /// The person that a customer's record or another one is about.
    async fn person_of(&self, permitted: &Permitted<'_>, id: &str) -> Result<Person, Fault> {
        if let Some(found) = self.customer(permitted, id).await? {
            return Ok(found);
        }
        for kind in &self.belongings {
            let Some(row) = permitted.get_to_change(kind.table(), id).await? else { continue };
            let facts = kind.read(permitted, &row)?;
            if let Some(customer) = &facts.customer_id
                && let Some(found) = self.customer(permitted, customer).await?
            {
                return Ok(found);
            }
            let PersonFacts { customer_id, contact, .. } = facts;
            return Ok(Person { customer_id, record_id: Some(id.to_owned()), contact });
        }
        let missing =
            "Nobody with this id exists here. The lists of the tenant give ids; --email and --phone find one.";
        Err(Fault::new(FaultKind::NotFound, missing))
    }

    async fn customer(&self, permitted: &Permitted<'_>, id: &str) -> Result<Option<Person>, Fault> {
        let row = permitted.get_to_change(self.customers.table(), id).await?;
        let person = |row| {
            let facts = self.customers.read(permitted, row)?;
            Ok(Person { customer_id: Some(id.to_owned()), record_id: None, contact: facts.contact })
        };
        row.as_ref().map(person).transpose()
    }

    async fn collect(&self, permitted: &Permitted<'_>, person: &Person, findings: &mut Findings) -> Result<(), Fault> {
        for (kind, ids) in self.belongings.iter().zip(self.belonging_ids(permitted, person).await?) {
            for id in ids {
                findings.add(permitted, kind.as_ref(), &id, person).await?;
            }
        }
        for (column, cell) in &person.contact {
            findings.others.extend(ids_with(permitted, self.customers.table(), column, cell).await?);
        }
        if let Some(customer) = &person.customer_id {
            findings.add(permitted, self.customers.as_ref(), customer, person).await?;
        }
        Ok(())
    }

    /// The ids of their records, for each kind: those that say whose they are, and those that refer to one that is theirs,
    /// also through a third, as parts were ordered for the repair order of an appointment.
    async fn belonging_ids(&self, permitted: &Permitted<'_>, person: &Person) -> Result<Vec<Vec<String>>, Fault> {
        let mut known = Vec::new();
        let mut latest = Vec::new();
        for kind in &self.belongings {
            let ids = ids_of(permitted, kind.table(), person).await?;
            let mut theirs = Vec::new();
            for id in &ids {
                if is_theirs(permitted, kind.as_ref(), id, person).await? {
                    theirs.push(id.clone());
                }
            }
            known.push(ids);
            latest.push(theirs);
        }
        while latest.iter().any(|ids| !ids.is_empty()) {
            let mut next: Vec<Vec<String>> = Vec::new();
            for (kind, known) in self.belongings.iter().zip(&mut known) {
                let mut theirs = Vec::new();
                for linked in self.linked_ids(permitted, kind.table(), &latest).await? {
                    if !known.contains(&linked) {
                        if is_theirs(permitted, kind.as_ref(), &linked, person).await? {
                            theirs.push(linked.clone());
                        }
                        known.push(linked);
                    }
                }
                next.push(theirs);
            }
            latest = next;
        }
        Ok(known)
    }

    /// The records of a table that refer to one of these.
    async fn linked_ids(
        &self,
        permitted: &Permitted<'_>,
        table: &'static TableSpec,
        targets: &[Vec<String>],
    ) -> Result<Vec<String>, Fault> {
        let mut linked = Vec::new();
        for (other, ids) in self.belongings.iter().zip(targets) {
            let Some(link) = column(table, &format!("{}_id", other.table().name)) else { continue };
            for id in ids {
                linked.extend(ids_with(permitted, table, link, &Cell::Text(id.clone())).await?);
            }
        }
        Ok(linked)
    }
}

/// Whether a record does not belong to another customer. What refers to one that does is about somebody else.
async fn is_theirs(permitted: &Permitted<'_>, kind: &dyn PersonKind, id: &str, person: &Person) -> Result<bool, Fault> {
    let Some(row) = permitted.get_to_change(kind.table(), id).await? else { return Ok(false) };
    let customer = kind.read(permitted, &row)?.customer_id;
    Ok(customer.is_none() || customer == person.customer_id)
}

/// The records of a kind that say themselves whose they are.
async fn ids_of(permitted: &Permitted<'_>, table: &'static TableSpec, person: &Person) -> Result<Vec<String>, Fault> {
    let customer = person.customer_id.iter().map(|id| ("customer_id", Cell::Text(id.clone())));
    let mut ids: Vec<String> = person.record_id.iter().cloned().collect();
    for (name, cell) in customer.chain(person.contact.iter().cloned()) {
        if let Some(column) = column(table, name) {
            ids.extend(ids_with(permitted, table, column, &cell).await?);
        }
    }
    Ok(ids)
}

fn column(table: &TableSpec, name: &str) -> Option<&'static str> {
    table.columns.iter().map(|column| column.name).find(|column| *column == name)
}

impl Findings {
    /// A record that belongs to another customer is about somebody else, although the contact is the same.
    async fn add(
        &mut self,
        permitted: &Permitted<'_>,
        kind: &dyn PersonKind,
        id: &str,
        person: &Person,
    ) -> Result<(), Fault> {
        let Some(row) = permitted.get_to_change(kind.table(), id).await? else { return Ok(()) };
        let facts = kind.read(permitted, &row)?;
        if let Some(customer) = facts.customer_id.filter(|customer| Some(customer) != person.customer_id.as_ref()) {
            self.others.insert(customer);
            return Ok(());
        }
        if facts.is_erased || !self.seen.insert(id.to_owned()) {
            return Ok(());
        }
        *self.counts.entry(kind.table().name).or_default() += 1;
        if !self.is_round_over && self.round.len() < ROUND_RECORDS {
            let named = person.record_id.as_ref().or(person.customer_id.as_ref());
            let subject = || named.map_or(id, String::as_str).to_owned();
            self.subject.get_or_insert_with(subject);
            self.round.push(json!({"kind": kind.table().name, "id": id, "version": row.version}));
        }
        Ok(())
    }
}

/// Imports that are not finished still have the rows they will write.
async fn running_imports(permitted: &Permitted<'_>) -> Result<usize, Fault> {
    let open = [ImportStatus::Queued, ImportStatus::Checking, ImportStatus::Applying];
    let words = open.map(|status| Cell::Text(status.as_str().to_owned())).to_vec();
    let query = Query {
        projection: Projection::Ids,
        table: &IMPORT,
        filters: vec![Filter::AnyOf("status", words)],
        order: NEWEST,
        window: Window { start: Start::First, limit: ROUND_RECORDS, bytes: usize::MAX },
    };
    Ok(permitted.page(query).await?.rows.len())
}
