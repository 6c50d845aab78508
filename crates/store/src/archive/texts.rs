//! Texts of statements, kept by the shape of what is asked: making one costs more than answering with a single row. What
//! is bound is new each time.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use frontdesk_engine::Fault;
use frontdesk_engine::ports::site_db::{Like, Literal, Select};

use super::dialect::Dialect;
use super::render::{Bound, Made, Origin, Statement, make, pattern, rows_of};
use super::schema::Schema;
use super::shape::{Given, Place, Shape, shape};

/// Callers who ask for ever other shapes do not grow it.
const MOST: usize = 64;

/// What the database is asked for these rows. Of a text that may be long, no more letters than `widest` are asked for.
pub(crate) fn statement(dialect: Dialect, schema: &Schema, select: &Select, widest: usize) -> Result<Statement, Fault> {
    let Some((shape, given)) = shape(dialect, select, widest) else {
        return Ok(make(dialect, schema, select, widest)?.statement);
    };
    if let Some(kept) = schema.texts.find(&shape)
        && let Some(values) = kept.fill(select, &given)
    {
        let statement = Statement { text: Arc::clone(&kept.text), values, columns: select.columns.len() };
        // Every test that asks for anything checks it with this.
        debug_assert_eq!(
            make(dialect, schema, select, widest).ok().map(|made| made.statement).as_ref(),
            Some(&statement)
        );
        return Ok(statement);
    }
    let made = make(dialect, schema, select, widest)?;
    if let Some(kept) = Kept::of(&made, &given) {
        schema.texts.keep(shape, kept);
    }
    Ok(made.statement)
}

/// Those of one schema; they go when it does.
#[derive(Debug, Default)]
pub(crate) struct Texts(Mutex<HashMap<Shape, Arc<Kept>, BuildHasherDefault<Words>>>);

impl Texts {
    fn find(&self, shape: &Shape) -> Option<Arc<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(shape).map(Arc::clone)
    }

    fn keep(&self, shape: Shape, kept: Kept) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if texts.len() >= MOST {
            texts.clear();
        }
        texts.insert(shape, Arc::new(kept));
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// A text, and what is bound at each of its places.
#[derive(Debug)]
struct Kept {
    text: Arc<str>,
    slots: Vec<Slot>,
}

/// What is bound at a place; a number is that of a value among those given.
#[derive(Debug)]
enum Slot {
    Whole(usize),
    Text(usize),
    Pattern(usize, Like),
    Limit,
    Offset,
    Fixed(Bound),
}

impl Kept {
    /// Nothing, if the text says more about its values than their shape does.
    fn of(made: &Made, given: &[Given<'_>]) -> Option<Kept> {
        let origins = made.origins.as_ref()?;
        let number = |place: &Place| given.iter().position(|given| given.place() == *place);
        let slot = |(origin, bound): (&Origin, &Bound)| {
            Some(match origin {
                Origin::Literal(place) => match bound {
                    Bound::Integer(_) => Slot::Whole(number(place)?),
                    Bound::Text(_) => Slot::Text(number(place)?),
                    Bound::Key(_) => return None,
                },
                Origin::Pattern(place, likeness) => Slot::Pattern(number(place)?, *likeness),
                Origin::Limit => Slot::Limit,
                Origin::Offset => Slot::Offset,
                Origin::Ours => Slot::Fixed(bound.clone()),
            })
        };
        let slots = origins.iter().zip(&made.statement.values).map(slot).collect::<Option<Vec<Slot>>>()?;
        Some(Kept { text: Arc::clone(&made.statement.text), slots })
    }

    fn fill(&self, select: &Select, given: &[Given<'_>]) -> Option<Vec<Bound>> {
        let bound = |slot: &Slot| {
            Some(match slot {
                Slot::Whole(number) => match given.get(*number)? {
                    Given::Literal(Literal::Integer(number)) => Bound::Integer(*number),
                    Given::Literal(Literal::Text(_) | Literal::Decimal(_)) | Given::Text(_) => return None,
                },
                Slot::Text(number) => Bound::Text(match given.get(*number)? {
                    Given::Literal(Literal::Integer(number)) => number.to_string(),
                    Given::Literal(Literal::Text(text) | Literal::Decimal(text)) => text.clone(),
                    Given::Text(text) => (*text).clone(),
                }),
                Slot::Pattern(number, likeness) => match given.get(*number)? {
                    Given::Text(text) => Bound::Text(pattern(*likeness, text)),
                    Given::Literal(_) => return None,
                },
                Slot::Limit => Bound::Integer(rows_of(select.limit)),
                Slot::Offset => Bound::Integer(rows_of(select.offset)),
                Slot::Fixed(bound) => bound.clone(),
            })
        };
        let mut values = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            values.push(bound(slot)?);
        }
        Some(values)
    }
}

/// For words that are ours. No more shapes are kept than a few, so nobody gains by words that collide.
#[derive(Default)]
struct Words(u64);

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}
