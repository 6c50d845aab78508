//! The writing tools of a resource: from arguments to a plan. They run the resource's rules, look up what it refers to,
//! and never write anything themselves.

use std::marker::PhantomData;

use frontdesk_engine::model::page::Filter;
use frontdesk_engine::model::plan::{Change, Event, OnConflict, Plan, Step};
use frontdesk_engine::model::table::Row;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::model::tool::{Future, Item, WriteTool};
use frontdesk_engine::{Fault, FaultKind, Permitted};
use serde_json::{Map, Value};

use super::{EXPECTED_VERSION, Resource, TENANT};
use crate::record::import::unique_column;
use crate::record::{
    Changes, Entity, FieldSource, FieldType, NewRecord, Record, Ref, Reference, Stored, Unreadable, list_records,
    vendor,
};

pub(super) struct CreateTool<R>(pub(super) PhantomData<fn() -> R>);

impl<R: Resource> WriteTool for CreateTool<R> {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            let mut context = WriteContext::new(permitted);
            let new = NewRecord { now: context.now };
            let source = FieldSource::Arguments { arguments: context.arguments(), new: &new };
            let record = R::build(&source).map_err(unreadable)?;
            let id = permitted.new_id(R::ID_PREFIX);
            let mut entity = Entity::new(id, permitted.tenant().clone(), context.now, record);
            entity.vendor.apply(context.arguments())?;
            R::on_create(&mut entity, &context)?;
            R::cascade(None, &mut entity, &mut context).await?;
            context.check_references(None, &entity.record).await?;
            let (row, outcome) = context.row_and_answer(&entity).await?;
            let step = Step::Insert { table: R::table(), row, on_duplicate: duplicate::<R>() };
            let event = Event { kind: R::TABLE_NAME, id: entity.id, change: Change::Created };
            Ok(context.plan(step, event, outcome))
        })
    }
}

pub(super) struct UpdateTool<R>(pub(super) PhantomData<fn() -> R>);

impl<R: Resource> WriteTool for UpdateTool<R> {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(async move {
            check_names_something::<R>(&permitted.input().arguments)?;
            plan_change(permitted, apply_arguments::<R>).await
        })
    }
}

fn apply_arguments<R: Resource>(entity: &mut Entity<R>, context: &WriteContext<'_>) -> Result<(), Fault> {
    entity.record.apply(&Changes(context.arguments())).map_err(unreadable)?;
    entity.vendor.apply(context.arguments())
}

/// What a tool does to a record before the rules of an update are asked.
pub type ChangeFn<R> = fn(&mut Entity<R>, &WriteContext<'_>) -> Result<(), Fault>;

/// A tool that changes a record in a way of its own, under the rules of an update.
pub(super) struct ChangeTool<R: Resource>(pub(super) ChangeFn<R>);

impl<R: Resource> WriteTool for ChangeTool<R> {
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Plan, Fault>> {
        Box::pin(plan_change(permitted, self.0))
    }
}

/// The plan of a call that changes the record with its `id`.
async fn plan_change<R: Resource>(permitted: &Permitted<'_>, change: ChangeFn<R>) -> Result<Plan, Fault> {
    let mut context = WriteContext::new(permitted);
    let id = permitted.input().text("id").unwrap_or_default();
    let Some(row) = permitted.get_to_change(R::table(), id).await? else {
        let message = permitted.missing_message(R::table(), id).await?;
        return Err(Fault::new(FaultKind::NotFound, message));
    };
    let on_conflict = match permitted.input().integer(EXPECTED_VERSION) {
        Some(expected) if expected != row.version => return Err(version_conflict::<R>()),
        Some(_) => OnConflict::Fail(version_conflict::<R>()),
        None => OnConflict::Retry,
    };
    let before: Entity<R> = Entity::restore(permitted.tenant(), &row)?;
    let mut after = before.clone();
    change(&mut after, &context)?;
    after.updated_at = context.now;
    after.version = before.version.saturating_add(1);
    R::on_update(&before, &mut after, &context)?;
    R::cascade(Some(&before), &mut after, &mut context).await?;
    context.check_references(Some(&before.record), &after.record).await?;
    let (row, outcome) = context.row_and_answer(&after).await?;
    let step = Step::Update {
        table: R::table(),
        row,
        expect_version: before.version,
        on_conflict,
        on_duplicate: duplicate::<R>(),
    };
    let change = R::change(&before.record, &after.record);
    let event = Event { kind: R::TABLE_NAME, id: after.id, change };
    Ok(context.plan(step, event, outcome))
}

fn check_names_something<R: Record>(arguments: &Map<String, Value>) -> Result<(), Fault> {
    let fields = || R::FIELDS.iter().filter(|field| field.update).map(|field| field.name);
    if fields().any(|name| arguments.contains_key(name)) || vendor::names_any(arguments) {
        return Ok(());
    }
    let names: Vec<&str> = fields().collect();
    Err(Fault::invalid_argument("", "minProperties", format!("at least one of {} is required", names.join(", "))))
}

fn version_conflict<R: Stored>() -> Fault {
    Fault::new(
        FaultKind::VersionConflict,
        format!(
            "The {} has changed since expected_version. Read it again, then repeat the update with its current version.",
            R::NOUN
        ),
    )
}

/// Names the fields that must be unique, as far as there are any.
fn duplicate<R: Resource>() -> Fault {
    let unique = R::FIELDS.iter().filter(|field| unique_column::<R>(field).is_some()).map(|field| field.name);
    let unique: Vec<&str> = unique.collect();
    if unique.is_empty() {
        return Fault::internal("the id of a new row exists already");
    }
    let article = if R::NOUN.starts_with(['a', 'e', 'i', 'o', 'u']) { "An" } else { "A" };
    let unique = unique.join(" or ");
    let message = format!("{article} {} with this {unique} exists already. Find that one and change it.", R::NOUN);
    Fault::domain(R::DUPLICATE.code, message)
}

/// The arguments have passed their schema, so a failure is an internal error.
fn unreadable(error: Unreadable) -> Fault {
    Fault::internal(format!("checked arguments cannot be read: {}", error.0))
}

/// What the rules of a resource see of a call, and the changes to other rows that they add to its plan.
pub struct WriteContext<'a> {
    permitted: &'a Permitted<'a>,
    now: Millis,
    /// Table and id of the rows that a rule has loaded or added.
    loaded: Vec<(&'static str, String)>,
    steps: Vec<Step>,
    events: Vec<Event>,
}

impl<'a> WriteContext<'a> {
    fn new(permitted: &'a Permitted<'a>) -> WriteContext<'a> {
        let now = permitted.now();
        WriteContext { permitted, now, loaded: Vec::new(), steps: Vec::new(), events: Vec::new() }
    }

    /// For queries. What a rule reads here is not guarded: `require_unchanged` guards a row.
    pub(in crate::automotive) fn permitted(&self) -> &'a Permitted<'a> {
        self.permitted
    }

    pub fn now(&self) -> Millis {
        self.now
    }

    /// Whether the call names this argument.
    pub fn is_named(&self, name: &str) -> bool {
        self.arguments().contains_key(name)
    }

    /// An argument that is no field.
    pub fn argument<T: FieldType>(&self, name: &'static str) -> Result<Option<T>, Fault> {
        let value = self.arguments().get(name);
        value.map(|value| T::read(value).ok_or_else(|| unreadable(Unreadable(name)))).transpose()
    }

    /// A row of the same tenant, with its personal data, to be read or changed.
    pub async fn load<T: Stored>(&mut self, id: &Ref<T>) -> Result<Option<Entity<T>>, Fault> {
        let Some(row) = self.permitted.get_to_change(T::table(), id).await? else {
            return Ok(None);
        };
        self.loaded.push((T::TABLE_NAME, id.to_string()));
        Entity::restore(self.permitted.tenant(), &row).map(Some)
    }

    /// As `load`; its absence is the caller's error.
    pub async fn load_required<T: Stored>(&mut self, id: &Ref<T>) -> Result<Entity<T>, Fault> {
        match self.load(id).await? {
            Some(found) => Ok(found),
            None => Err(missing_reference::<T>(self.permitted, id).await?),
        }
    }

    /// The newest records that pass these filters, `max` at most. Only of resources without personal data.
    pub async fn list<T: Stored>(&self, filters: Vec<Filter>, max: usize) -> Result<Vec<Entity<T>>, Fault> {
        list_records(self.permitted, filters, max).await
    }

    /// Adds a row in the same plan; returns its id.
    pub fn insert<T: Stored>(&mut self, record: T) -> Ref<T> {
        let id = self.permitted.new_id(T::ID_PREFIX);
        self.loaded.push((T::TABLE_NAME, id.clone()));
        let entity = Entity::new(id, self.permitted.tenant().clone(), self.now, record);
        self.events.push(Event { kind: T::TABLE_NAME, id: entity.id.clone(), change: Change::Created });
        self.steps.push(Step::Insert {
            table: T::table(),
            row: entity.row(TENANT),
            on_duplicate: Fault::internal("a rule added a row with a unique value that another has"),
        });
        Ref::from(entity.id.as_str())
    }

    /// Changes a loaded row in the same plan. If it changes meanwhile, the whole call runs again.
    pub fn update<T: Stored>(&mut self, entity: Entity<T>) {
        self.update_or(entity, Fault::internal("a rule set a unique value that another row has"));
    }

    /// As `update`, with what is said if the row takes a unique value that another one has.
    pub fn update_or<T: Stored>(&mut self, entity: Entity<T>, on_duplicate: Fault) {
        let expect_version = entity.version;
        let entity = Entity { updated_at: self.now, version: expect_version.saturating_add(1), ..entity };
        self.events.push(Event { kind: T::TABLE_NAME, id: entity.id.clone(), change: Change::Updated });
        self.steps.push(Step::Update {
            table: T::table(),
            row: entity.row(TENANT),
            expect_version,
            on_conflict: OnConflict::Retry,
            on_duplicate,
        });
    }

    /// Removes a loaded row in the same plan.
    pub fn remove<T: Stored>(&mut self, entity: Entity<T>) {
        self.events.push(Event { kind: T::TABLE_NAME, id: entity.id.clone(), change: Change::Deleted });
        self.steps.push(Step::Remove {
            table: T::table(),
            id: entity.id,
            expect_version: entity.version,
            on_conflict: OnConflict::Retry,
        });
    }

    /// The call holds only while this row stays as it was loaded.
    pub fn require_unchanged<T: Stored>(&mut self, entity: &Entity<T>) {
        self.steps.push(Step::Require {
            table: T::table(),
            id: entity.id.clone(),
            expect_version: entity.version,
            on_conflict: OnConflict::Retry,
        });
    }

    /// The call holds only while there is no row with this id.
    pub(in crate::automotive) fn require_absent<T: Stored>(&mut self, id: String) {
        self.steps.push(Step::RequireAbsent { table: T::table(), id });
    }

    /// Writes a row that no tool shows, so nobody follows it and there is no event. A row of version 0 is new; if it
    /// exists by now, the whole call runs again.
    pub(in crate::automotive) fn write_hidden<T: Stored>(&mut self, entity: Entity<T>) {
        let expect_version = entity.version;
        let row = Entity { updated_at: self.now, version: expect_version.saturating_add(1), ..entity }.row(TENANT);
        let on_duplicate = Fault::internal("a hidden row has no unique values");
        if expect_version == 0 {
            self.steps.push(Step::RequireAbsent { table: T::table(), id: row.id.clone() });
            self.steps.push(Step::Insert { table: T::table(), row, on_duplicate });
        } else {
            let on_conflict = OnConflict::Retry;
            self.steps.push(Step::Update { table: T::table(), row, expect_version, on_conflict, on_duplicate });
        }
    }

    fn arguments(&self) -> &'a Map<String, Value> {
        &self.permitted.input().arguments
    }

    /// Every reference that is new and that no rule has loaded must exist within the tenant.
    async fn check_references<R: Record>(&self, before: Option<&R>, after: &R) -> Result<(), Fault> {
        let known = before.map(references).unwrap_or_default();
        for (name, reference, id) in references(after) {
            let table = (reference.table)();
            let is_known = known.iter().any(|(known_name, _, known_id)| (*known_name, known_id) == (name, &id));
            let is_loaded =
                self.loaded.iter().any(|(loaded_table, loaded_id)| *loaded_table == table.name && *loaded_id == id);
            if !is_known && !is_loaded && self.permitted.get(table, &id).await?.is_none() {
                let message = self.permitted.missing_message(table, &id).await?;
                return Err(Fault::domain(reference.not_found, message));
            }
        }
        Ok(())
    }

    /// The row as it is stored, and the answer with what follows from other rows, those that this plan adds among them.
    async fn row_and_answer<R: Resource>(&self, entity: &Entity<R>) -> Result<(Row, Item), Fault> {
        let (row, answer) = entity.row_and_answer(TENANT);
        if !R::DERIVES {
            return Ok((row, answer));
        }
        let mut derived = entity.clone();
        R::derive(&mut derived, self.permitted, &self.steps).await?;
        Ok((row, derived.row_and_answer(TENANT).1))
    }

    /// The call's own change first, then those of its rules.
    fn plan(self, step: Step, event: Event, outcome: Item) -> Plan {
        let steps = std::iter::once(step).chain(self.steps).collect();
        let events = std::iter::once(event).chain(self.events).collect();
        Plan { steps, events, outcome }
    }
}

/// What a caller is told whose argument refers to a record that does not exist.
pub(in crate::automotive) async fn missing_reference<T: Stored>(
    permitted: &Permitted<'_>,
    id: &str,
) -> Result<Fault, Fault> {
    Ok(Fault::domain(T::NOT_FOUND, permitted.missing_message(T::table(), id).await?))
}

fn references<R: Record>(record: &R) -> Vec<(&'static str, Reference, String)> {
    let mut found = Vec::new();
    record.each(&mut |field, value| {
        if let (Some(reference), Some(id)) = ((field.reference)(), value.referenced_id()) {
            found.push((field.name, reference, id.to_owned()));
        }
    });
    found
}
