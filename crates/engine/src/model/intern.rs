//! Texts that live as long as the process. Tools, fields and words that come from a file at start need the same lifetime
//! as those that are compiled in; each distinct text is kept once, so that reading the same file again costs nothing.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

static TEXTS: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// The text for the rest of the process. Only for texts of a configuration, never for what a caller sends.
pub fn intern(text: &str) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    match texts.get(text) {
        Some(known) => known,
        None => {
            let kept: &'static str = Box::leak(text.into());
            texts.insert(kept);
            kept
        }
    }
}

#[cfg(test)]
mod tests {
    use super::intern;

    #[test]
    fn equal_texts_are_kept_once() {
        let (one, other) = (String::from("search"), String::from("search"));
        assert!(std::ptr::eq(intern(&one), intern(&other)));
        assert_eq!(intern("search"), "search");
    }
}
