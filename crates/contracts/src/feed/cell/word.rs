//! Words of a vocabulary, in whatever case and punctuation they are written, and other words for them.

use super::number::unit_word;
use crate::feed::target::{Synonym, SynonymMatch, folded};

pub(super) fn parse(words: &[&'static str], text: &str, path: &str, synonyms: &[Synonym]) -> Result<String, String> {
    let wanted = folded(text);
    if let Some(word) = words.iter().find(|word| folded(word) == wanted) {
        return Ok((*word).to_owned());
    }
    if let Some(unit) = unit_word(text).filter(|unit| words.contains(unit)) {
        return Ok(unit.to_owned());
    }
    let fits = |synonym: &&Synonym| {
        synonym.field == path
            && words.contains(&synonym.word)
            && match synonym.fits {
                SynonymMatch::Whole => folded(synonym.text) == wanted,
                SynonymMatch::Contained => wanted.contains(&folded(synonym.text)),
            }
    };
    match synonyms.iter().find(fits) {
        Some(synonym) => Ok(synonym.word.to_owned()),
        None => Err(format!(
            "one of these is expected: {}; other words can be given a meaning under [values.{path}] of the mapping file",
            words.join(", ")
        )),
    }
}
