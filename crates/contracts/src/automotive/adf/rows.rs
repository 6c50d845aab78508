//! The prospects of a message as rows of an import.

use frontdesk_engine::import::ImportRow;

use super::{AdfProspect, AdfSettings, read, read_text};
use crate::automotive::vocabulary::ConsentChannel;
use crate::feed::{XmlRow, XmlSettings};
use crate::record::Vocabulary as _;

/// The kind of record that a message has, as imports name it.
pub const RESOURCE: &str = "leads";

/// The rows of a message. Lines are the numbers of the prospects.
pub fn rows(message: &[u8], settings: &XmlSettings) -> Result<Vec<XmlRow>, String> {
    let prospects = read(message, &settings_of(settings)?).map_err(|error| error.to_string())?;
    Ok(prospects.into_iter().map(row).collect())
}

/// As `rows`, for a message that has been decoded.
pub(super) fn rows_of_text(message: &str, settings: &XmlSettings) -> Result<Vec<XmlRow>, String> {
    let prospects = read_text(message, &settings_of(settings)?).map_err(|error| error.to_string())?;
    Ok(prospects.into_iter().map(row).collect())
}

fn row(prospect: AdfProspect) -> XmlRow {
    let AdfProspect { arguments, key, unmapped, cut, number, .. } = prospect;
    XmlRow {
        row: ImportRow { line: u64::try_from(number).unwrap_or(u64::MAX), arguments, key: Some(key), is_new: false },
        unmapped,
        dropped: cut,
    }
}

fn settings_of(settings: &XmlSettings) -> Result<AdfSettings, String> {
    let known = || ConsentChannel::WORDS.iter().filter(|word| **word != "unknown");
    let channel = |word: &String| {
        let is_known = known().any(|known| known == word);
        let words: Vec<&str> = known().copied().collect();
        is_known
            .then(|| ConsentChannel::from_word(word))
            .ok_or_else(|| format!("there is no channel `{word}`; there are: {}", words.join(", ")))
    };
    let channels: Result<Vec<ConsentChannel>, String> = settings.stated_consent.iter().map(channel).collect();
    let channels = channels?;
    Ok(AdfSettings {
        calling_code: settings.calling_code.clone(),
        stated_consent: (!channels.is_empty()).then_some(channels),
    })
}
