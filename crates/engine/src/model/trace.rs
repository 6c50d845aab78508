//! Which trace a call belongs to: its own, or the one its caller has begun, in the form of W3C Trace Context.
//! A trace names no tenant and decides nothing: it only says which calls belong together.

use std::sync::Arc;

/// A trace and the place in it that a call hangs under. Cheap to clone: a call is seen from several places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// 32 hexadecimal digits: how spans name it.
    pub id: Arc<str>,
    /// How the caller named it, where a contract lets it. Short and printable, without quotes, spaces and backslashes:
    /// it goes into answers, logs and audit records.
    pub name: Option<Arc<str>>,
    /// The caller's span, if the caller has begun the trace.
    pub parent: Option<TraceParent>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceParent {
    /// 16 hexadecimal digits.
    pub span: Arc<str>,
    pub sampling: Sampling,
}

/// Whether the caller keeps what it sees of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    Sampled,
    Unsampled,
}

impl Trace {
    /// One that begins here.
    pub fn new(id: impl Into<Arc<str>>) -> Trace {
        Trace { id: id.into(), name: None, parent: None }
    }

    /// Reads a `traceparent`. What is not exactly one is passed over, so that nothing else a caller
    /// writes there is ever kept.
    pub fn parse_traceparent(traceparent: &str) -> Option<Trace> {
        let mut parts = traceparent.split('-');
        let (version, id, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // A version to come may say more at the end; this one may not.
        let known = digits(version, 2).is_some() && version != "ff" && (version != "00" || parts.next().is_none());
        let flags = u8::from_str_radix(digits(flags, 2)?, 16).ok()?;
        let parent = TraceParent {
            span: non_zero(digits(span, 16)?)?.into(),
            sampling: match flags & 1 {
                1 => Sampling::Sampled,
                _ => Sampling::Unsampled,
            },
        };
        known.then_some(Trace { id: non_zero(digits(id, 32)?)?.into(), name: None, parent: Some(parent) })
    }

    /// The same trace under the caller's own name. A name in the form of an id is one: spans have it too, and hang
    /// under the caller's span only if that is of the same trace. What is no name is passed over.
    pub fn with_name(self, name: &str) -> Trace {
        const LONGEST: usize = 128;
        let name = name.trim_matches([' ', '\t']);
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'`\\".contains(&byte);
        if name.is_empty() || name.len() > LONGEST || !name.bytes().all(plain) {
            return self;
        }
        let name: Arc<str> = name.into();
        match digits(&name, 32).and_then(non_zero) {
            Some(id) if *id != *self.id => Trace { id: Arc::clone(&name), name: Some(name), parent: None },
            Some(_) | None => Trace { name: Some(name), ..self },
        }
    }

    /// What the call is known by, to its caller and in the records.
    pub fn display_id(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }
}

/// Exactly this many lower-case hexadecimal digits.
fn digits(text: &str, count: usize) -> Option<&str> {
    let hexadecimal = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    (text.len() == count && hexadecimal).then_some(text)
}

/// An id of zeroes is invalid.
fn non_zero(id: &str) -> Option<&str> {
    id.bytes().any(|byte| byte != b'0').then_some(id)
}
