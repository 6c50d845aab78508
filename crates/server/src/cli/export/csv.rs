//! Records as CSV (RFC 4180), one column for each field. A text that a spreadsheet would take for a formula is made
//! harmless in a way that can be undone.

use std::io::{self, Write};

use frontdesk_contracts::feed::escape_formula;
use serde_json::{Map, Value};

/// What separates the items of a list in one cell.
const SEPARATOR: char = '|';

pub(super) struct CsvWriter<W> {
    out: W,
    columns: Vec<String>,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    pub(super) fn new(out: W, columns: Vec<String>) -> io::Result<CsvWriter<W>> {
        let mut writer = CsvWriter { out, columns };
        let header: Vec<String> = writer.columns.clone();
        writer.line(header.iter().map(String::as_str))?;
        Ok(writer)
    }

    pub(super) fn row(&mut self, row: &Map<String, Value>) -> io::Result<()> {
        let cells: Vec<String> = self.columns.iter().map(|column| cell(find(row, column))).collect();
        self.line(cells.iter().map(String::as_str))
    }

    pub(super) fn into_inner(self) -> W {
        self.out
    }

    fn line<'a>(&mut self, cells: impl Iterator<Item = &'a str>) -> io::Result<()> {
        for (position, cell) in cells.enumerate() {
            if position > 0 {
                self.out.write_all(b",")?;
            }
            if cell.contains([',', '"', '\n', '\r']) {
                write!(self.out, "\"{}\"", cell.replace('"', "\"\""))?;
            } else {
                self.out.write_all(cell.as_bytes())?;
            }
        }
        self.out.write_all(b"\r\n")
    }
}

/// The value at a dotted name.
fn find<'a>(row: &'a Map<String, Value>, column: &str) -> Option<&'a Value> {
    match column.split_once('.') {
        None => row.get(column),
        Some((name, rest)) => row.get(name).and_then(Value::as_object).and_then(|inner| find(inner, rest)),
    }
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => escape_formula(text.clone()),
        Some(Value::Array(items)) => escape_formula(list(items)),
        Some(value @ (Value::Bool(_) | Value::Number(_) | Value::Object(_))) => value.to_string(),
    }
}

/// `a|b|c`, or JSON if an item is no plain text or has the separator in it.
fn list(items: &[Value]) -> String {
    let plain: Option<Vec<&str>> = items.iter().map(plain_text).collect();
    match plain {
        Some(texts) => texts.join("|"),
        None => Value::from(items.to_vec()).to_string(),
    }
}

fn plain_text(item: &Value) -> Option<&str> {
    item.as_str().filter(|text| !text.is_empty() && !text.contains(SEPARATOR) && text.trim() == *text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(columns: &[&str], rows: &[Value]) -> String {
        let mut writer = CsvWriter::new(Vec::new(), columns.iter().map(|name| (*name).to_owned()).collect()).unwrap();
        for row in rows {
            writer.row(row.as_object().unwrap()).unwrap();
        }
        String::from_utf8(writer.into_inner()).unwrap()
    }

    #[test]
    fn nested_values_have_dotted_columns_and_missing_ones_are_empty() {
        let row = json!({"id": "a", "price": {"amount": 250, "currency": "USD"}, "sold": false, "note": null});
        assert_eq!(
            written(&["id", "price.amount", "price.currency", "sold", "note", "place.city"], &[row]),
            "id,price.amount,price.currency,sold,note,place.city\r\na,250,USD,false,,\r\n"
        );
    }

    #[test]
    fn commas_quotes_and_line_ends_are_quoted() {
        let row = json!({"a": "x, y", "b": "say \"hi\"", "c": "two\nlines"});
        assert_eq!(written(&["a", "b", "c"], &[row]), "a,b,c\r\n\"x, y\",\"say \"\"hi\"\"\",\"two\nlines\"\r\n");
    }

    #[test]
    fn lists_are_joined_or_json() {
        let row = json!({
            "texts": ["one", "two"],
            "piped": ["a|b"],
            "records": [{"url": "https://a.example", "alt": "x"}],
            "none": [],
        });
        assert_eq!(
            written(&["texts", "piped", "records", "none"], &[row]),
            "texts,piped,records,none\r\n\
             one|two,\"[\"\"a|b\"\"]\",\"[{\"\"alt\"\":\"\"x\"\",\"\"url\"\":\"\"https://a.example\"\"}]\",\r\n"
        );
    }

    #[test]
    fn formulas_become_harmless_and_numbers_stay() {
        assert_eq!(cell(Some(&json!("=1+1"))), "'=1+1");
        assert_eq!(cell(Some(&json!(["=1", "2"]))), "'=1|2");
        assert_eq!(cell(Some(&json!(-5))), "-5");
    }
}
