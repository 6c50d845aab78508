//! The members of a message as they are read, without a map to take them out of again: every call pays for it. It keeps
//! to the rules of `json`, duplicate keys and depth included, and judges nothing.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::json::{JsonError, Level, Map, Reader, Value};

/// What a body holds.
pub(super) enum Outermost {
    Message(Envelope),
    List(Vec<Value>),
    /// A value that is neither.
    Other,
}

/// The members that mean something in a message.
#[derive(Default)]
pub(super) struct Envelope {
    pub(super) jsonrpc: Option<Value>,
    pub(super) id: Option<Value>,
    pub(super) method: Option<Value>,
    pub(super) params: Option<Value>,
    pub(super) result: Option<Value>,
    pub(super) error: Option<Value>,
}

impl Envelope {
    pub(super) fn of(mut members: Map<String, Value>) -> Envelope {
        Envelope {
            jsonrpc: members.remove("jsonrpc"),
            id: members.remove("id"),
            method: members.remove("method"),
            params: members.remove("params"),
            result: members.remove("result"),
            error: members.remove("error"),
        }
    }

    /// Where a member is kept, if it is.
    fn place(&mut self, name: &Name) -> Option<&mut Option<Value>> {
        match name {
            Name::Jsonrpc => Some(&mut self.jsonrpc),
            Name::Id => Some(&mut self.id),
            Name::Method => Some(&mut self.method),
            Name::Params => Some(&mut self.params),
            Name::Result => Some(&mut self.result),
            Name::Error => Some(&mut self.error),
            Name::Other(_) => None,
        }
    }
}

pub(super) fn outermost(level: Level<'_>, reader: &mut Reader<'_>) -> Result<Outermost, serde_json::Error> {
    reader.deserialize_any(Body(level))
}

struct Body<'a>(Level<'a>);

impl<'de> Visitor<'de> for Body<'_> {
    type Value = Outermost;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Outermost, E> {
        Ok(Outermost::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Outermost, E> {
        Ok(Outermost::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Outermost, E> {
        Ok(Outermost::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Outermost, E> {
        Ok(Outermost::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Outermost, E> {
        Ok(Outermost::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Outermost, E> {
        Ok(Outermost::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Outermost, A::Error> {
        let below = self.0.below()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(below)? {
            list.push(item);
        }
        Ok(Outermost::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Outermost, A::Error> {
        let below = self.0.below()?;
        let mut envelope = Envelope::default();
        let mut others = BTreeSet::new();
        while let Some(name) = members.next_key_seed(AnyName)? {
            let repeated = || self.0.refuse(JsonError::DuplicateKey);
            match envelope.place(&name) {
                Some(Some(_)) => return Err(repeated()),
                Some(place) => *place = Some(members.next_value_seed(below)?),
                None => {
                    // Read like every other one, and then forgotten.
                    if let Name::Other(name) = name
                        && !others.insert(name)
                    {
                        return Err(repeated());
                    }
                    members.next_value_seed(below)?;
                }
            }
        }
        Ok(Outermost::Message(envelope))
    }
}

enum Name {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other(String),
}

struct AnyName;

impl<'de> DeserializeSeed<'de> for AnyName {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Name, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for AnyName {
    type Value = Name;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
        Ok(match name {
            "jsonrpc" => Name::Jsonrpc,
            "id" => Name::Id,
            "method" => Name::Method,
            "params" => Name::Params,
            "result" => Name::Result,
            "error" => Name::Error,
            other => Name::Other(other.to_owned()),
        })
    }
}
