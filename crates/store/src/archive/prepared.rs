//! Statements that a session has prepared, by their texts; no more than a few.

use std::sync::Arc;

const MOST: usize = 64;

pub(super) struct Prepared<S>(Vec<(Arc<str>, S)>);

impl<S> Default for Prepared<S> {
    fn default() -> Prepared<S> {
        Prepared(Vec::new())
    }
}

impl<S: Clone> Prepared<S> {
    pub(super) fn find(&mut self, text: &Arc<str>) -> Option<S> {
        // A text that is kept is the same in memory each time, which is quicker to see than the same letters.
        if let Some((_, prepared)) = self.0.iter().find(|(known, _)| Arc::ptr_eq(known, text)) {
            return Some(prepared.clone());
        }
        let (known, prepared) = self.0.iter_mut().find(|(known, _)| known == text)?;
        *known = Arc::clone(text);
        Some(prepared.clone())
    }

    /// All of them, if there is no room for another one.
    pub(super) fn outgrown(&mut self) -> Vec<S> {
        match self.0.len() < MOST {
            true => Vec::new(),
            false => self.0.drain(..).map(|(_, prepared)| prepared).collect(),
        }
    }

    pub(super) fn keep(&mut self, text: &Arc<str>, prepared: S) {
        self.0.push((Arc::clone(text), prepared));
    }
}
