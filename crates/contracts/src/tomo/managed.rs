//! Records that a business keeps here and no partner's tool writes: they come in by import only, through a create and an
//! update like those of other contracts.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::plan::{Change, Event, OnConflict, Plan, Step};
use frontdesk_engine::model::schema::{Field, Presence, Schema, TextFormat, required};
use frontdesk_engine::model::table::Cell;
use frontdesk_engine::model::tool::{
    Effect, Future as ToolFuture, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec, WriteTool,
};
use frontdesk_engine::{Fault, Permitted, Scope};

use super::codes::{INVALID_REQUEST, NOT_FOUND};
use super::{MANAGE, TENANT, tenant};
use crate::feed::FeedTarget;
use crate::record::import::{Imported, RecordImport, unique_column};
use crate::record::{Changes, Entity, FieldSource, NewRecord, Stored, Unreadable, nested};

/// A record that a business keeps here.
pub trait Managed: Imported {
    /// Refuses what cannot be sold, and brings the rest into the form that it is stored in.
    fn check(&mut self, permitted: &Permitted<'_>) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// How records of this kind come in. `name` is the plural that the command uses.
pub fn import<R: Managed>(name: &'static str) -> ImportSpec {
    let tool = |effect, input, run| tool(effect, input, answer::<R>(), run);
    let create = tool(Effect::Adds, create_input::<R>(), Run::write(CreateManaged::<R>(PhantomData)));
    let update = tool(Effect::Changes, update_input::<R>(), Run::write(UpdateManaged::<R>(PhantomData)));
    let fields = create.spec.input.fields();
    let optional = |field: &Field| Field { presence: Presence::Optional, ..field.clone() };
    ImportSpec {
        name,
        noun: R::NOUN,
        table: R::table(),
        scope: Scope::new(MANAGE),
        row: Schema::object(fields.iter().map(optional)),
        exported: exported::<R>(),
        rules: Arc::new(RecordImport::<R>::new(feed_target(&create.spec.input))),
        create,
        update,
    }
}

/// What rows of a feed become. Whose row it is is said by who reads the feed, never by a column.
pub fn feed_target(input: &Schema) -> FeedTarget {
    FeedTarget::of(Schema::object(input.fields().iter().filter(|field| field.name != TENANT).cloned()))
}

/// The record with this code.
pub async fn find_by_code<R: Stored>(
    permitted: &Permitted<'_>,
    column: &'static str,
    code: &str,
) -> Result<Option<Entity<R>>, Fault> {
    let row = permitted.find(R::table(), column, Cell::Text(code.to_owned())).await?;
    row.map(|row| Entity::restore(permitted.tenant(), &row)).transpose()
}

struct CreateManaged<R>(PhantomData<fn() -> R>);

impl<R: Managed> WriteTool for CreateManaged<R> {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> ToolFuture<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let new = NewRecord { now: permitted.now() };
            let source = FieldSource::Arguments { arguments: &permitted.input().arguments, new: &new };
            let mut record = R::build(&source).map_err(unreadable)?;
            record.check(permitted).await?;
            let id = permitted.new_id(R::ID_PREFIX);
            let entity = Entity::new(id, permitted.tenant().clone(), permitted.now(), record);
            let (row, outcome) = entity.row_and_answer(TENANT);
            let step = Step::Insert { table: R::table(), row, on_duplicate: duplicate::<R>() };
            let event = Event { kind: R::TABLE_NAME, id: entity.id, change: Change::Created };
            Ok(Plan { steps: vec![step], events: vec![event], outcome })
        })
    }
}

struct UpdateManaged<R>(PhantomData<fn() -> R>);

impl<R: Managed> WriteTool for UpdateManaged<R> {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> ToolFuture<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let id = permitted.input().text("id").unwrap_or_default();
            let missing = || Fault::domain(NOT_FOUND, format!("No {} with this id exists here.", R::NOUN));
            let row = permitted.get_to_change(R::table(), id).await?.ok_or_else(missing)?;
            let before: Entity<R> = Entity::restore(permitted.tenant(), &row)?;
            let mut record = before.record.clone();
            record.apply(&Changes(&permitted.input().arguments)).map_err(unreadable)?;
            record.check(permitted).await?;
            let version = before.version.saturating_add(1);
            let after = Entity { record, updated_at: permitted.now(), version, ..before };
            let (row, outcome) = after.row_and_answer(TENANT);
            let step = Step::Update {
                table: R::table(),
                row,
                expect_version: before.version,
                on_conflict: OnConflict::Retry,
                on_duplicate: duplicate::<R>(),
            };
            let event = Event { kind: R::TABLE_NAME, id: after.id, change: Change::Updated };
            Ok(Plan { steps: vec![step], events: vec![event], outcome })
        })
    }
}

fn tool(effect: Effect, input: Schema, output: Schema, run: Run) -> Tool {
    let spec = ToolSpec {
        // What an applied row is recorded under.
        name: "import",
        title: "",
        about: "",
        input,
        output,
        effect,
        scope: ScopeRule::One(Scope::new(MANAGE)),
        unmask_scope: None,
        sensitivity: Sensitivity::Business,
        max_login_age: None,
        rate: RateKey::Client,
        route: None,
        codes: vec![NOT_FOUND],
    };
    Tool { spec, run }
}

fn create_input<R: Stored>() -> Schema {
    let own = R::FIELDS.iter().filter(|field| field.create).map(|field| {
        let presence = if field.required && !field.has_default { Presence::Required } else { Presence::Optional };
        Field { presence, ..nested::argument(field) }
    });
    Schema::object(own.chain([tenant()]))
}

fn update_input<R: Stored>() -> Schema {
    let own = R::FIELDS.iter().filter(|field| field.update).map(|field| {
        let argument = nested::argument(field);
        if field.required {
            return argument;
        }
        Field { schema: Schema::clearable(argument.schema), ..argument }
    });
    let id = required("id", Schema::text(64), "Its id.");
    Schema::object([id].into_iter().chain(own).chain([tenant()]))
}

/// A record as it is stored.
fn answer<R: Stored>() -> Schema {
    let time = |name, about| required(name, Schema::Text(TextFormat::Timestamp), about);
    let common = [
        required("id", Schema::text(64), "Its id."),
        required("type", Schema::text(64), "What it is."),
        required(TENANT, Schema::text(64), "The business."),
    ];
    let times = [
        time("created_at", "When it was first recorded."),
        time("updated_at", "When it last changed."),
        required("version", Schema::integer(1, i64::MAX), "Counts changes."),
    ];
    Schema::object(common.into_iter().chain(R::FIELDS.iter().map(nested::answer)).chain(times))
}

/// The same without what all of them have in common.
fn exported<R: Stored>() -> Schema {
    let is_own = |field: &&Field| field.name != "type" && field.name != TENANT;
    Schema::object(answer::<R>().fields().iter().filter(is_own).cloned())
}

fn duplicate<R: Stored>() -> Fault {
    let unique = R::FIELDS.iter().find(|field| unique_column::<R>(field).is_some()).map_or("id", |field| field.name);
    Fault::domain(INVALID_REQUEST, format!("Another {} has this {unique}.", R::NOUN))
}

/// The arguments have passed their schema, so a failure is an internal error.
fn unreadable(error: Unreadable) -> Fault {
    Fault::internal(format!("checked arguments cannot be read: {}", error.0))
}
