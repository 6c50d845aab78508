//! A form that texts of a contract have: the pattern that is published and the check that is made, side by side.

/// The check is what the pattern says, or narrower where a pattern cannot say it.
#[derive(Debug)]
pub struct Pattern {
    /// A regular expression of JSON Schema, anchored at both ends.
    pub pattern: &'static str,
    pub fits: fn(&str) -> bool,
    /// What would be right, in words.
    pub expected: &'static str,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.pattern == other.pattern
    }
}
