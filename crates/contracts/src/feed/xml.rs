//! Rows of XML documents. Which documents there are, and how they are read, is the contract's business.

use frontdesk_engine::import::ImportRow;

/// What whoever imports a document says about it.
#[derive(Debug, Clone, Default)]
pub struct XmlSettings {
    /// The country calling code of telephone numbers without one, such as `1`.
    pub calling_code: Option<String>,
    /// How everybody agreed to be contacted whose document does not say it: words of the contract.
    pub stated_consent: Vec<String>,
}

/// A row, and what of the document has no argument of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct XmlRow {
    pub row: ImportRow,
    /// Elements that are kept as text.
    pub unmapped: Vec<String>,
    /// Elements that did not fit there.
    pub dropped: Vec<String>,
}
