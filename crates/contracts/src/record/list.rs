//! A field with several values of one type.

use std::ops::{Deref, DerefMut};

use frontdesk_engine::model::schema::Schema;
use serde_json::Value;

use super::field::{FieldSpec, FieldType, FieldValue};
use super::personal::Redacted;
use super::vocabulary::VocabularySpec;

/// At most `MAX` values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T, const MAX: usize>(pub Vec<T>);

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> List<T, MAX> {
        List(Vec::new())
    }
}

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T, const MAX: usize> DerefMut for List<T, MAX> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: FieldType, const MAX: usize> FieldType for List<T, MAX> {
    const MASKABLE: bool = T::MASKABLE;
    const SEARCHED: bool = T::SEARCHED;

    fn input() -> Schema {
        Schema::list(T::input(), MAX)
    }

    fn output() -> Schema {
        Schema::list(T::output(), MAX)
    }

    fn nested() -> &'static [FieldSpec] {
        T::nested()
    }

    fn vocabulary() -> Option<VocabularySpec> {
        T::vocabulary()
    }

    fn read(value: &Value) -> Option<List<T, MAX>> {
        value.as_array()?.iter().map(T::read).collect::<Option<Vec<T>>>().map(List)
    }
}

impl<T: FieldType, const MAX: usize> FieldValue for List<T, MAX> {
    fn write(&self, out: &mut String) {
        write_items(&self.0, out, T::write);
    }

    fn write_masked(&self, path: &str, out: &mut String, redacted: &mut Redacted) {
        write_items(&self.0, out, |item, out| item.write_masked(path, out, redacted));
    }

    fn add_words(&self, words: &mut String) {
        self.0.iter().for_each(|item| item.add_words(words));
    }
}

fn write_items<T>(items: &[T], out: &mut String, mut write: impl FnMut(&T, &mut String)) {
    out.push('[');
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}
