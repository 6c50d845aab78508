//! What a contract declares about its tables: the columns that are filtered, sorted or unique, and rows. The store turns declarations into tables; nothing here is SQL.

use crate::model::fault::Fault;
use crate::model::row_check::CheckFn;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    Text,
    Integer,
    /// A keyed hash of personal data: equality only, unreadable at rest.
    Digest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSpec {
    pub name: &'static str,
    pub column_type: ColumnType,
}

/// A table, such as that of a contract's resource type. It always has the tenant and the id as its key, a version, two
/// timestamps, and the answer's JSON besides.
#[derive(Debug)]
pub struct TableSpec {
    pub name: &'static str,
    pub columns: &'static [ColumnSpec],
    /// Columns whose values may occur once per tenant.
    pub unique: &'static [&'static str],
    /// Columns that lists can be sorted by; `created_at` is always one.
    pub sorted: &'static [&'static str],
    /// Columns that are often filtered by equality.
    pub filtered: &'static [&'static str],
    /// Names of the fields whose words rows are found by. The store only compares the list with the one it has indexed.
    pub searched: &'static [&'static str],
    /// Computes columns and search terms of rows that were stored before the declaration gained them. Without it, a
    /// table with rows can gain no column that is looked up by.
    pub index: Option<IndexFn>,
    /// Checks rows that come from another server. Without it, only their form is checked.
    pub check: Option<CheckFn>,
}

/// Computes what a stored row is found by.
pub type IndexFn = fn(&StoredRow) -> Result<RowIndex, Fault>;

/// Two declarations of one name are the same table; functions cannot be compared.
impl PartialEq for TableSpec {
    fn eq(&self, other: &TableSpec) -> bool {
        self.name == other.name
    }
}

impl Eq for TableSpec {}

/// What a row is found by, computed from the row itself. The row is given with its personal and write-only parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowIndex {
    pub cells: Vec<(&'static str, Cell)>,
    pub search_terms: Vec<SearchTerm>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Null,
    Text(String),
    Integer(i64),
    /// Personal text, to be hashed with the tenant's key before it is kept or compared.
    Digest(String),
}

/// A word a row can be found by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchTerm {
    Plain(String),
    /// A word of personal data, kept only as a keyed hash.
    Personal(String),
}

/// A row as a tool writes it. `body` is the answer's JSON object, ready to send; `masked` and
/// `personal` are two versions of the object that completes it, for callers who may not and may
/// see personal data. `secret` is a JSON object with write-only values, which are in no answer. `personal` and `secret`
/// are sealed at rest, each by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub id: String,
    pub version: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub cells: Vec<(&'static str, Cell)>,
    pub search_terms: Vec<SearchTerm>,
    pub body: String,
    pub masked: Option<String>,
    pub personal: Option<String>,
    pub secret: Option<String>,
}

/// A row as it was found. What the read did not ask to be disclosed is `None`, see `Disclosure`.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredRow {
    pub id: String,
    pub version: i64,
    pub created_at: i64,
    pub body: String,
    pub masked: Option<String>,
    pub personal: Option<String>,
    pub secret: Option<String>,
}

/// A row's two halves as one JSON object, without parsing either.
pub fn joined(body: &str, completion: Option<&str>) -> String {
    match completion {
        Some(completion) => frontdesk_wire::json::splice(body, completion),
        None => body.to_owned(),
    }
}

/// Splits text into the words it can be found by: lower case, letters and digits, Latin letters
/// without their marks, so that both sides of a search agree.
pub fn search_terms(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        match fold(letter) {
            Folded::Letter(plain) => word.push(plain),
            Folded::Letters(plain) => word.push_str(plain),
            Folded::Mark => {}
            Folded::Break => keep(&mut found, &mut word),
        }
    }
    keep(&mut found, &mut word);
    found
}

fn keep(found: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        let whole = std::mem::take(word);
        if !found.contains(&whole) {
            found.push(whole);
        }
    }
}

enum Folded {
    Letter(char),
    Letters(&'static str),
    Mark,
    Break,
}

fn fold(letter: char) -> Folded {
    match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' => Folded::Letter('a'),
        'ç' | 'ć' | 'ĉ' | 'č' => Folded::Letter('c'),
        'ď' | 'đ' | 'ð' => Folded::Letter('d'),
        'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => Folded::Letter('e'),
        'ğ' | 'ģ' => Folded::Letter('g'),
        'ì'..='ï' | 'ī' | 'į' | 'ı' => Folded::Letter('i'),
        'ķ' => Folded::Letter('k'),
        'ĺ' | 'ľ' | 'ł' | 'ļ' => Folded::Letter('l'),
        'ñ' | 'ń' | 'ň' | 'ņ' => Folded::Letter('n'),
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => Folded::Letter('o'),
        'ŕ' | 'ř' => Folded::Letter('r'),
        'ś' | 'š' | 'ş' | 'ș' => Folded::Letter('s'),
        'ţ' | 'ť' | 'ț' => Folded::Letter('t'),
        'ù'..='ü' | 'ū' | 'ů' | 'ű' | 'ų' => Folded::Letter('u'),
        'ý' | 'ÿ' => Folded::Letter('y'),
        'ź' | 'ż' | 'ž' => Folded::Letter('z'),
        'ß' => Folded::Letters("ss"),
        'æ' => Folded::Letters("ae"),
        'œ' => Folded::Letters("oe"),
        'þ' => Folded::Letters("th"),
        '\u{300}'..='\u{36f}' | '\'' | '\u{2019}' => Folded::Mark,
        plain if plain.is_alphanumeric() => Folded::Letter(plain),
        _ => Folded::Break,
    }
}
