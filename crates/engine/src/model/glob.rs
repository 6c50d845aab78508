//! Patterns an operator writes: a text in which `*` stands for any characters, also none. Compared byte for byte.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    pub fn new(pattern: impl Into<String>) -> Glob {
        Glob(pattern.into())
    }

    /// Whether it stands for one text only.
    pub fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }

    /// The pieces between stars are looked for one after the other, each as early as it can be found; so no pattern
    /// takes longer than the text is long, times its pieces.
    pub fn matches(&self, text: &str) -> bool {
        let Some((begin, rest)) = self.0.split_once('*') else {
            return self.0 == text;
        };
        let Some(mut text) = text.strip_prefix(begin) else {
            return false;
        };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        for piece in middle.split('*') {
            match text.find(piece) {
                Some(at) => text = text.get(at + piece.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        text.ends_with(end)
    }
}
