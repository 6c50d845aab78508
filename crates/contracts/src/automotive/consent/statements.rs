//! What a person has said about being contacted: all consents that are about them, and what follows for a channel and a
//! purpose. The newest statement counts.

use std::cmp::Reverse;

use frontdesk_engine::model::fault::Problem;
use frontdesk_engine::model::page::{Filter, Projection, Query, Start, Window};
use frontdesk_engine::model::plan::Step;
use frontdesk_engine::model::table::{Cell, joined};
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::{Fault, Permitted};
use serde_json::{Map, Value};

use super::check::ConsentReason;
use super::{CONSENT_WITHDRAWN, ConsentRecord, ConsentStatus, is_by_email, is_by_phone, rejected};
use crate::Record;
use crate::automotive::values::Contact;
use crate::automotive::vocabulary::{ConsentChannel, ConsentPurpose};
use crate::record::filter::NEWEST;
use crate::record::{Email, FieldType, FieldValue, List, Phone, Stored, Vocabulary};

/// Rows that are read by one query.
const PAGE_ROWS: usize = 100;
/// Of the statements with one address or customer, the newest so many count. It bounds what one call reads.
const MAX_STATEMENTS: usize = 1_000;

pub(in crate::automotive) const CHANNELS: [ConsentChannel; 6] = [
    ConsentChannel::Email,
    ConsentChannel::Sms,
    ConsentChannel::VoiceCall,
    ConsentChannel::AutodialedCall,
    ConsentChannel::Mail,
    ConsentChannel::Push,
];
const PURPOSES: [ConsentPurpose; 6] = [
    ConsentPurpose::Marketing,
    ConsentPurpose::Transactional,
    ConsentPurpose::ServiceReminder,
    ConsentPurpose::LeadFollowUp,
    ConsentPurpose::CreditInquiry,
    ConsentPurpose::DataSharing,
];

/// A channel that the person has withdrawn or refused consent to.
#[derive(Debug, Clone, PartialEq, Record)]
pub struct DoNotContact {
    /// How they must not be contacted.
    pub channel: ConsentChannel,
    /// What for.
    pub purposes: List<ConsentPurpose, 6>,
}

/// By what somebody is recognised.
#[derive(Default)]
pub(in crate::automotive) struct ConsentPerson<'a> {
    pub(in crate::automotive) customer_id: Option<&'a str>,
    pub(in crate::automotive) email: Option<&'a Email>,
    pub(in crate::automotive) phone: Option<&'a Phone>,
}

impl<'a> ConsentPerson<'a> {
    pub(in crate::automotive) fn new(customer_id: Option<&'a str>, contact: &'a Contact) -> ConsentPerson<'a> {
        ConsentPerson { customer_id, email: contact.email.as_ref(), phone: contact.phone.as_ref() }
    }
}

/// A stored consent, as far as it matters here. It needs nothing that is sealed: the database compares addresses.
struct Statement {
    id: String,
    status: ConsentStatus,
    channels: List<ConsentChannel, 10>,
    purpose: Option<ConsentPurpose>,
    /// When the person said it. A consent counts from the time at which it was given, so that one which is recorded at the
    /// same moment as a refusal, but is older, cannot outrank it.
    said_at: Millis,
    expires_at: Option<Millis>,
    email: Address,
    phone: Address,
    /// It belongs to another customer than the one who was asked about.
    is_of_other: bool,
    /// It belongs to the customer who was asked about.
    is_of_customer: bool,
}

/// The address of a statement, compared with that of the person.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Address {
    None,
    Same,
    Other,
}

/// By what a query found its rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FoundBy {
    Customer,
    Email,
    Phone,
}

impl Statement {
    fn read(row: &Map<String, Value>, person: &ConsentPerson<'_>) -> Option<Statement> {
        fn field<T: FieldType>(row: &Map<String, Value>, name: &str) -> Option<T> {
            row.get(name).and_then(T::read)
        }
        let address = |name: &str| match row.get("contact").and_then(|contact| contact.get(name)) {
            Some(_) => Address::Other,
            None => Address::None,
        };
        let status: ConsentStatus = field(row, "status")?;
        let decided_at: Millis = field(row, "decided_at")?;
        let owner = row.get("customer_id").and_then(Value::as_str);
        Some(Statement {
            id: row.get("id")?.as_str()?.to_owned(),
            status,
            channels: field(row, "channels")?,
            purpose: field(row, "purpose"),
            said_at: match (status, field::<Millis>(row, "granted_at")) {
                (ConsentStatus::Granted, Some(granted_at)) => granted_at.min(decided_at),
                (_, _) => decided_at,
            },
            expires_at: field(row, "expires_at"),
            email: address("email"),
            phone: address("phone"),
            is_of_other: owner.is_some() && person.customer_id.is_some() && owner != person.customer_id,
            is_of_customer: owner.is_some() && owner == person.customer_id,
        })
    }

    fn mark(&mut self, found_by: FoundBy) {
        let address = match found_by {
            FoundBy::Customer => return,
            FoundBy::Email => &mut self.email,
            FoundBy::Phone => &mut self.phone,
        };
        if *address == Address::Other {
            *address = Address::Same;
        }
    }

    /// Withdrawn or refused.
    fn is_refusal(&self) -> bool {
        matches!(self.status, ConsentStatus::Withdrawn | ConsentStatus::Denied)
    }

    /// A refusal counts for the customer and for the address; a consent only for the address that it was given for, and
    /// never for another customer who shares it.
    fn is_about(&self, channel: ConsentChannel, purpose: ConsentPurpose) -> bool {
        if !self.channels.contains(&channel) || self.purpose.is_some_and(|own| own != purpose) {
            return false;
        }
        let address = if is_by_email(channel) {
            self.email
        } else if is_by_phone(channel) {
            self.phone
        } else if self.email == Address::Same || self.phone == Address::Same {
            Address::Same
        } else {
            Address::None
        };
        match (self.is_refusal(), address) {
            (true, address) => self.is_of_customer || address == Address::Same,
            (false, Address::Same) => !self.is_of_other,
            (false, Address::None) => self.is_of_customer,
            (false, Address::Other) => false,
        }
    }
}

/// What one person has said, newest first.
pub(in crate::automotive) struct Statements(Vec<Statement>);

/// What is decided for a channel and a purpose.
pub(super) struct Decision<'a> {
    pub(super) reason: ConsentReason,
    /// The consent that decides, and when it ends.
    pub(super) id: Option<&'a str>,
    pub(super) expires_at: Option<Millis>,
}

impl Statements {
    pub(in crate::automotive) async fn load(
        permitted: &Permitted<'_>,
        person: &ConsentPerson<'_>,
    ) -> Result<Statements, Fault> {
        let customer = person.customer_id.map(|id| (FoundBy::Customer, "customer_id", Cell::Text(id.to_owned())));
        let email = person.email.and_then(first_cell).map(|cell| (FoundBy::Email, "email", cell));
        let phone = person.phone.and_then(first_cell).map(|cell| (FoundBy::Phone, "phone", cell));
        let mut found: Vec<Statement> = Vec::new();
        for (found_by, column, cell) in [customer, email, phone].into_iter().flatten() {
            for row in rows_with(permitted, column, cell).await? {
                add(&mut found, &row, found_by, person)?;
            }
        }
        Ok(Statements::sorted(found))
    }

    /// With the consents that the call itself adds, all of which are about the same person.
    pub(in crate::automotive) fn with_planned(
        self,
        planned: &[Step],
        person: &ConsentPerson<'_>,
    ) -> Result<Statements, Fault> {
        let Statements(mut found) = self;
        for step in planned {
            if let Step::Insert { table, row, .. } = step
                && **table == *ConsentRecord::table()
            {
                let text = joined(&row.body, row.masked.as_deref());
                add(&mut found, &text, FoundBy::Email, person)?;
                add(&mut found, &text, FoundBy::Phone, person)?;
            }
        }
        Ok(Statements::sorted(found))
    }

    /// Of two at the same moment the refusal counts.
    fn sorted(mut found: Vec<Statement>) -> Statements {
        found.sort_by_key(|statement| (Reverse(statement.said_at), !statement.is_refusal()));
        Statements(found)
    }

    /// The newest refusal or consent that still holds decides. One that has expired, or was never answered, takes nothing
    /// away from an older one.
    pub(super) fn decide(&self, channel: ConsentChannel, purpose: ConsentPurpose, now: Millis) -> Decision<'_> {
        let mut decision = Decision { reason: ConsentReason::None, id: None, expires_at: None };
        for statement in self.0.iter().filter(|statement| statement.is_about(channel, purpose)) {
            let reason = ConsentReason::of(effective(statement.status, statement.expires_at, now));
            let decided = || Decision { reason, id: Some(statement.id.as_str()), expires_at: statement.expires_at };
            match reason {
                ConsentReason::Granted | ConsentReason::Denied | ConsentReason::Withdrawn => return decided(),
                ConsentReason::Expired | ConsentReason::Pending | ConsentReason::None | ConsentReason::Unknown => {
                    if decision.id.is_none() {
                        decision = decided();
                    }
                }
            }
        }
        decision
    }

    pub(in crate::automotive) fn is_granted(&self, is_channel: fn(ConsentChannel) -> bool, now: Millis) -> bool {
        let channels = CHANNELS.into_iter().filter(|channel| is_channel(*channel));
        let mut pairs = channels.flat_map(|channel| PURPOSES.map(|purpose| (channel, purpose)));
        pairs.any(|(channel, purpose)| self.decide(channel, purpose, now).reason == ConsentReason::Granted)
    }

    pub(in crate::automotive) fn do_not_contact(&self, now: Millis) -> Option<List<DoNotContact, 6>> {
        if !self.0.iter().any(Statement::is_refusal) {
            return None;
        }
        let refused = CHANNELS.into_iter().filter_map(|channel| {
            let is_refused = |purpose: &ConsentPurpose| {
                matches!(self.decide(channel, *purpose, now).reason, ConsentReason::Denied | ConsentReason::Withdrawn)
            };
            let purposes: Vec<ConsentPurpose> = PURPOSES.into_iter().filter(is_refused).collect();
            (!purposes.is_empty()).then_some(DoNotContact { channel, purposes: List(purposes) })
        });
        let refused: Vec<DoNotContact> = refused.collect();
        (!refused.is_empty()).then_some(List(refused))
    }

    /// Consent that was given before a refusal is none. `pointer` is where its time was named.
    pub(in crate::automotive) fn check_not_withdrawn(
        &self,
        channels: &[ConsentChannel],
        purpose: ConsentPurpose,
        granted_at: Millis,
        pointer: &str,
    ) -> Result<(), Fault> {
        let is_refused = |channel: &&ConsentChannel| {
            let mut refusals = self.0.iter().filter(|statement| statement.is_refusal());
            refusals.any(|refusal| refusal.said_at >= granted_at && refusal.is_about(**channel, purpose))
        };
        let refused: Vec<&str> = channels.iter().filter(is_refused).map(|channel| channel.as_str()).collect();
        if refused.is_empty() {
            return Ok(());
        }
        let expected = format!(
            "the person has withdrawn or refused consent to {} since then. Ask them again, and send their new consent \
             without granted_at",
            refused.join(", ")
        );
        Err(rejected(CONSENT_WITHDRAWN, vec![Problem::new(pointer, "minimum", expected)]))
    }
}

/// The status at this time: a consent ends by itself.
pub(super) fn effective(status: ConsentStatus, expires_at: Option<Millis>, now: Millis) -> ConsentStatus {
    match (status, expires_at) {
        (ConsentStatus::Granted, Some(expires_at)) if expires_at <= now => ConsentStatus::Expired,
        (status, _) => status,
    }
}

fn add(found: &mut Vec<Statement>, row: &str, found_by: FoundBy, person: &ConsentPerson<'_>) -> Result<(), Fault> {
    // The messages of serde_json quote values, and causes are logged.
    let unreadable = || Fault::internal("a stored consent cannot be read");
    let row: Map<String, Value> = serde_json::from_str(row).map_err(|_| unreadable())?;
    let mut statement = Statement::read(&row, person).ok_or_else(unreadable)?;
    if let Some(known) = found.iter_mut().find(|known| known.id == statement.id) {
        known.mark(found_by);
    } else {
        statement.mark(found_by);
        found.push(statement);
    }
    Ok(())
}

fn first_cell<T: FieldValue>(value: &T) -> Option<Cell> {
    let mut cells = Vec::new();
    value.cells(&mut cells);
    cells.into_iter().next()
}

/// The consents with this value, the last recorded first, as lists answer them.
async fn rows_with(permitted: &Permitted<'_>, column: &'static str, cell: Cell) -> Result<Vec<String>, Fault> {
    let mut rows = Vec::new();
    let mut start = Start::First;
    loop {
        let query = Query {
            projection: Projection::Rows,
            table: ConsentRecord::table(),
            filters: vec![Filter::Equals(column, cell.clone())],
            // By when it was recorded: the index of the address has that order, so a page reads no other rows.
            order: NEWEST,
            window: Window { start, limit: PAGE_ROWS, bytes: usize::MAX },
        };
        let page = permitted.page(query).await?;
        rows.extend(page.rows);
        match page.next {
            Some(key) if rows.len() < MAX_STATEMENTS => start = Start::After(key),
            Some(_) | None => return Ok(rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_old_consent_that_is_recorded_late_yields_to_a_refusal() {
        let person = ConsentPerson::default();
        let mut found = Vec::new();
        let refusal = json!({
            "id": "cns_1", "status": "withdrawn", "channels": ["email"], "decided_at": "2026-01-31T09:30:00Z",
            "contact": {"email": "o***@e***.com"},
        });
        let consent = json!({
            "id": "cns_2", "status": "granted", "channels": ["email"], "purpose": "marketing",
            "granted_at": "2026-01-30T00:00:00Z", "decided_at": "2026-01-31T09:30:01Z",
            "contact": {"email": "o***@e***.com"},
        });
        for row in [refusal, consent] {
            add(&mut found, &row.to_string(), FoundBy::Email, &person).unwrap();
        }
        let statements = Statements::sorted(found);
        let decision = statements.decide(ConsentChannel::Email, ConsentPurpose::Marketing, Millis(1_769_851_802_000));
        assert_eq!((decision.reason, decision.id), (ConsentReason::Withdrawn, Some("cns_1")));
    }
}
