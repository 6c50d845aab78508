//! Erasure of a person: a tool of the operator finds what is stored about somebody, another removes what is personal from
//! those records. The records themselves stay, so that numbers and history remain right. A person is looked for in the
//! records of every contract: whoever asks to be erased does not know where they are.

mod find;
mod person;

use std::marker::PhantomData;

use frontdesk_engine::model::contract_entry::{ErasureSpec, PersonArgument};
use frontdesk_engine::model::plan::{Change, Event, OnConflict, Plan, Step};
use frontdesk_engine::model::schema::{Field, Schema, TextFormat, optional, required};
use frontdesk_engine::model::table::{StoredRow, TableSpec};
use frontdesk_engine::model::tool::{
    Effect, Future, Item, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec, WriteTool,
};
use frontdesk_engine::{Fault, FaultKind, Permitted, Scope};
use serde_json::{Value, json};

use super::consent::ConsentRecord;
use super::customer::Customer;
use super::deal::Deal;
use super::fni::application::CreditApplication;
use super::fni::decision::LenderDecision;
use super::lead::Lead;
use super::parts::order::PartOrder;
use super::resource::TENANT;
use super::service::appointment::Appointment;
use super::service::repair_order::RepairOrder;
use super::values::MAX_SAFE_INTEGER;
use crate::record::{Cell, Email, Entity, Phone, Stored, VendorFields};
use crate::tomo::booking::Booking;
use crate::tomo::mobility::driver::Driver;
use find::FindTool;
pub use person::ROUND_RECORDS;
use person::{by_email, by_phone};

const FIND: &str = "x_frontdesk.find_person";
const ERASE: &str = "x_frontdesk.erase_person";

/// How `frontdesk customer erase` finds and erases somebody.
pub const ERASURE: ErasureSpec = ErasureSpec {
    noun: "customer",
    id_example: "cus_01jc3v8q6g2m4n7p9r5s0t1w8x",
    find_tool: FIND,
    erase_tool: ERASE,
    found_by: &[
        PersonArgument { name: "email", value_name: "ADDRESS", about: "Whoever has this e-mail address" },
        PersonArgument { name: "phone", value_name: "NUMBER", about: "Whoever has this number, in E.164 form" },
    ],
};

/// The record without its person.
fn erased<R: PersonRecord>(record: &R) -> R {
    let mut record = record.clone();
    record.erase();
    record
}

/// A kind of record that is about a person.
pub trait PersonRecord: Stored + Clone {
    /// The member of stored bodies that names the tenant.
    const TENANT_MEMBER: &'static str = TENANT;

    fn email(&self) -> Option<&Email>;

    fn phone(&self) -> Option<&Phone>;

    /// The customer that the record belongs to, if it belongs to one.
    fn customer_id(&self) -> Option<&str>;

    /// Removes the person from the record. It names every field and has no `..`, so that a new one has to be decided on.
    fn erase(&mut self);
}

/// The operator's tools, for a contract with this argument for the tenant and these scopes to read and to write. They are
/// the same in all contracts that store people, so that one that is mounted alone has them, too.
pub(crate) fn tools(tenant: Field, [read, write]: [&'static str; 2]) -> Vec<Tool> {
    vec![find_tool(tenant.clone(), read), erase_tool(tenant, write)]
}

/// The kinds of records that belong to a customer. One that refers to another kind comes before it, because that one tells
/// who it is about; for the same reason the customer's own record is erased last.
fn belongings() -> Vec<Box<dyn PersonKind>> {
    vec![
        belonging::<LenderDecision>(),
        belonging::<CreditApplication>(),
        belonging::<ConsentRecord>(),
        belonging::<Deal>(),
        belonging::<PartOrder>(),
        belonging::<RepairOrder>(),
        belonging::<Booking>(),
        belonging::<Driver>(),
        belonging::<Appointment>(),
        belonging::<Lead>(),
    ]
}

fn belonging<R: PersonRecord + PartialEq>() -> Box<dyn PersonKind> {
    Box::new(Kind::<R> { change: Change::Updated, record: PhantomData })
}

/// For who follows the events the customer is gone.
fn customers() -> Box<dyn PersonKind> {
    Box::new(Kind::<Customer> { change: Change::Deleted, record: PhantomData })
}

/// What erasure needs of a kind of record.
trait PersonKind: Send + Sync {
    fn table(&self) -> &'static TableSpec;

    fn read(&self, permitted: &Permitted<'_>, row: &StoredRow) -> Result<PersonFacts, Fault>;

    fn erase(&self, permitted: &Permitted<'_>, row: &StoredRow) -> Result<(Step, Event), Fault>;
}

/// What a record says about its person.
struct PersonFacts {
    /// Columns and the hashed values that it has.
    contact: Vec<(&'static str, Cell)>,
    customer_id: Option<String>,
    is_erased: bool,
}

struct Kind<R> {
    change: Change,
    record: PhantomData<fn() -> R>,
}

impl<R: PersonRecord + PartialEq> PersonKind for Kind<R> {
    fn table(&self) -> &'static TableSpec {
        R::table()
    }

    fn read(&self, permitted: &Permitted<'_>, row: &StoredRow) -> Result<PersonFacts, Fault> {
        let entity: Entity<R> = Entity::restore(permitted.tenant(), row)?;
        let is_erased = erased(&entity.record) == entity.record && entity.vendor == VendorFields::default();
        let customer_id = entity.record.customer_id().map(str::to_owned);
        let email = entity.record.email().and_then(by_email);
        let contact = email.into_iter().chain(entity.record.phone().and_then(by_phone)).collect();
        Ok(PersonFacts { contact, customer_id, is_erased })
    }

    fn erase(&self, permitted: &Permitted<'_>, row: &StoredRow) -> Result<(Step, Event), Fault> {
        let before: Entity<R> = Entity::restore(permitted.tenant(), row)?;
        let after = Entity {
            record: erased(&before.record),
            vendor: VendorFields::default(),
            updated_at: permitted.now(),
            version: before.version.saturating_add(1),
            ..before
        };
        let event = Event { kind: R::TABLE_NAME, id: after.id.clone(), change: self.change };
        let step = Step::Update {
            table: R::table(),
            row: after.row(R::TENANT_MEMBER),
            expect_version: row.version,
            on_conflict: OnConflict::Retry,
            on_duplicate: Fault::internal("an erased record has a unique value of another one"),
        };
        Ok((step, event))
    }
}

/// Removes what is personal from records that still have the version they were found with.
struct EraseTool {
    kinds: Vec<Box<dyn PersonKind>>,
}

impl WriteTool for EraseTool {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let records = permitted.input().arguments.get("records").and_then(Value::as_array);
            let (mut steps, mut events) = (Vec::new(), Vec::new());
            for record in records.into_iter().flatten() {
                let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
                let kind = self.kinds.iter().find(|kind| kind.table().name == text("kind"));
                let kind = kind.ok_or_else(|| Fault::internal("a checked kind of record is unknown"))?;
                let row = permitted.get_to_change(kind.table(), text("id")).await?.ok_or_else(changed)?;
                // Stored answers were erased before, so none may have been added since.
                if record.get("version").and_then(Value::as_i64) != Some(row.version) {
                    return Err(changed());
                }
                let (step, event) = kind.erase(permitted, &row)?;
                steps.push(step);
                events.push(event);
            }
            let id = permitted.input().text("id").unwrap_or_default().to_owned();
            let body = json!({"id": id, "records": steps.len()}).to_string();
            Ok(Plan { steps, events, outcome: Item { id, version: 0, body, masked: None, personal: None } })
        })
    }
}

fn changed() -> Fault {
    Fault::new(FaultKind::VersionConflict, "A record has changed meanwhile. Repeat the command.")
}

fn find_tool(tenant: Field, scope: &'static str) -> Tool {
    let input = Schema::object([
        optional("id", Schema::text(64), "Of the customer, or of a record about somebody who is no customer."),
        optional("email", Schema::Text(TextFormat::Email), "Whole e-mail address."),
        optional("phone", Schema::Text(TextFormat::Phone), "Whole number in E.164 form."),
        tenant,
    ]);
    let about = "Finds the records about a person that have not been erased.";
    let run = Run::read(FindTool { belongings: belongings(), customers: customers() });
    Tool { spec: spec(FIND, about, input, Effect::Reads, scope), run }
}

fn erase_tool(tenant: Field, scope: &'static str) -> Tool {
    let kinds: Vec<Box<dyn PersonKind>> = belongings().into_iter().chain([customers()]).collect();
    // Made once per contract, so the list is leaked instead of counted.
    let words: &'static [&'static str] = kinds.iter().map(|kind| kind.table().name).collect::<Vec<_>>().leak();
    let record = Schema::object([
        required("kind", Schema::one_of(words), "What it is."),
        required("id", Schema::text(64), "Its id."),
        required("version", Schema::integer(1, MAX_SAFE_INTEGER), "The version it was found with."),
    ]);
    let input = Schema::object([
        required("id", Schema::text(64), "Whom the records are about: the id of one of them."),
        required("records", Schema::non_empty_list(record, ROUND_RECORDS), "The records."),
        tenant,
    ]);
    let about = "Removes what is personal from records. They stay, without their person.";
    Tool { spec: spec(ERASE, about, input, Effect::Changes, scope), run: Run::write(EraseTool { kinds }) }
}

fn spec(name: &'static str, about: &'static str, input: Schema, effect: Effect, scope: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        title: name,
        about,
        input,
        output: Schema::AnyObject,
        effect,
        scope: ScopeRule::One(Scope::new(scope)),
        unmask_scope: None,
        sensitivity: Sensitivity::Personal,
        max_login_age: None,
        rate: RateKey::Client,
        route: None,
        codes: Vec::new(),
    }
}
