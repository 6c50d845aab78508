//! A record as JSON text and as the cells and words that it is found by, all made in one pass over its fields.

use frontdesk_engine::model::table::{Cell, SearchTerm, search_terms};
use frontdesk_wire::json::{write_integer, write_quoted};

use super::entity::Entity;
use super::field::{FieldSpec, FieldValue};
use super::nested::{add_named_cells, maskable};
use super::personal::Redacted;
use super::table::Stored;

/// The member that lists what is masked or left out.
pub const REDACTED: &str = "redacted";

/// The texts of a row, see `Row`, and its index.
pub(super) struct Rendered {
    pub(super) body: String,
    pub(super) masked: Option<String>,
    pub(super) personal: Option<String>,
    pub(super) secret: Option<String>,
    pub(super) cells: Vec<(&'static str, Cell)>,
    pub(super) search_terms: Vec<SearchTerm>,
}

/// `tenant_member` is what the contract calls a tenant in its answers.
pub(super) fn render<R: Stored>(entity: &Entity<R>, tenant_member: &'static str) -> Rendered {
    let has_personal = maskable(R::FIELDS);
    let (mut body, mut masked, mut personal, mut secret) =
        (String::with_capacity(1024), String::new(), String::new(), String::new());
    let mut redacted = Redacted::default();
    let mut public = start::<R>(entity, tenant_member, &mut body);
    let mut hidden = ObjectWriter::start(&mut masked);
    let mut full = ObjectWriter::start(&mut personal);
    let mut write_only = ObjectWriter::start(&mut secret);
    let mut index = Index::default();
    entity.record.each(&mut |field, value| {
        index.add(field, value);
        if field.write_only {
            write_only.member(field.name, value);
        } else if field.is_personal() {
            full.member(field.name, value);
            hidden.masked_member(None, field, value, &mut redacted);
        } else {
            public.member(field.name, value);
        }
    });
    let vendor = if has_personal { &mut full } else { &mut public };
    for (name, value) in entity.vendor.iter() {
        vendor.raw(name, &value.to_string());
        if has_personal {
            redacted.leave_out(name);
        }
    }
    end(entity, public);
    hidden.names(REDACTED, redacted.paths());
    full.names(REDACTED, [].into_iter());
    let has_secret = !write_only.is_empty();
    hidden.end();
    full.end();
    write_only.end();
    index.add_partial_key(&entity.record);
    let (cells, search_terms) = index.finish();
    Rendered {
        body,
        masked: has_personal.then_some(masked),
        personal: has_personal.then_some(personal),
        secret: has_secret.then_some(secret),
        cells,
        search_terms,
    }
}

/// What who may write but not read is shown: the fields marked `receipt`, and the names of all others, whether or not
/// this record has them.
pub(super) fn receipt<R: Stored>(entity: &Entity<R>, tenant_member: &'static str) -> String {
    let mut text = String::with_capacity(512);
    let mut object = start::<R>(entity, tenant_member, &mut text);
    entity.record.each(&mut |field, value| {
        if field.is_in_receipt() {
            object.member(field.name, value);
        }
    });
    write_times(entity, &mut object);
    let others = R::FIELDS.iter().filter(|field| !field.is_in_receipt() && !field.write_only);
    object.names(REDACTED, others.map(|field| field.name));
    object.end();
    text
}

fn start<'a, R: Stored>(entity: &Entity<R>, tenant_member: &str, out: &'a mut String) -> ObjectWriter<'a> {
    let mut object = ObjectWriter::start(out);
    object.text("id", &entity.id);
    object.text("type", R::TABLE_NAME);
    object.text(tenant_member, entity.tenant.as_str());
    object
}

fn end<R>(entity: &Entity<R>, mut object: ObjectWriter<'_>) {
    write_times(entity, &mut object);
    object.end();
}

fn write_times<R>(entity: &Entity<R>, object: &mut ObjectWriter<'_>) {
    object.member("created_at", &entity.created_at);
    object.member("updated_at", &entity.updated_at);
    object.integer("version", entity.version);
}

/// The cells and search terms of a record.
pub(super) fn index<R: Stored>(record: &R) -> (Vec<(&'static str, Cell)>, Vec<SearchTerm>) {
    let mut index = Index::default();
    record.each(&mut |field, value| index.add(field, value));
    index.add_partial_key(record);
    index.finish()
}

#[derive(Default)]
struct Index {
    cells: Vec<(&'static str, Cell)>,
    words: String,
    personal_words: String,
}

impl Index {
    fn add(&mut self, field: &FieldSpec, value: &dyn FieldValue) {
        add_named_cells(field, value, &mut self.cells);
        if field.searched {
            value.add_words(if field.is_personal() { &mut self.personal_words } else { &mut self.words });
        }
    }

    fn add_partial_key<R: Stored>(&mut self, record: &R) {
        self.cells.extend(R::partial_key().map(|key| (key.column, (key.cell)(record))));
    }

    fn finish(self) -> (Vec<(&'static str, Cell)>, Vec<SearchTerm>) {
        let plain = search_terms(&self.words).into_iter().map(SearchTerm::Plain);
        let personal = search_terms(&self.personal_words).into_iter().map(SearchTerm::Personal);
        (self.cells, plain.chain(personal).collect())
    }
}

/// Writes one JSON object, member by member.
pub(super) struct ObjectWriter<'a> {
    out: &'a mut String,
    empty: bool,
}

impl<'a> ObjectWriter<'a> {
    pub(super) fn start(out: &'a mut String) -> ObjectWriter<'a> {
        out.push('{');
        ObjectWriter { out, empty: true }
    }

    pub(super) fn end(self) {
        self.out.push('}');
    }

    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }

    /// A missing value has no member.
    pub(super) fn member(&mut self, name: &str, value: &dyn FieldValue) {
        if !value.is_missing() {
            self.name(name);
            value.write(self.out);
        }
    }

    /// `holder` is the path of the record that the field belongs to.
    pub(super) fn masked_member(
        &mut self,
        holder: Option<&str>,
        field: &FieldSpec,
        value: &dyn FieldValue,
        redacted: &mut Redacted,
    ) {
        if value.is_missing() {
            return;
        }
        if !field.is_personal() {
            return self.member(field.name, value);
        }
        let nested = holder.map(|holder| format!("{holder}.{}", field.name));
        let path = nested.as_deref().unwrap_or(field.name);
        if field.is_left_out() {
            redacted.leave_out(path);
        } else {
            self.name(field.name);
            value.write_masked(path, self.out, redacted);
        }
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        write_quoted(text, self.out);
    }

    fn integer(&mut self, name: &str, number: i64) {
        self.name(name);
        write_integer(number, self.out);
    }

    fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        self.out.push_str(json);
    }

    fn names<'b>(&mut self, name: &str, names: impl Iterator<Item = &'b str>) {
        self.name(name);
        self.out.push('[');
        for (position, name) in names.enumerate() {
            if position > 0 {
                self.out.push(',');
            }
            write_quoted(name, self.out);
        }
        self.out.push(']');
    }

    fn name(&mut self, name: &str) {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        write_quoted(name, self.out);
        self.out.push(':');
    }
}
