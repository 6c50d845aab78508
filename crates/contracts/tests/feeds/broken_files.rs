//! Broken files, each with the report that it gets. None of them is stored: a function makes it.

use std::io::Read;

use frontdesk_contracts::feed::{FeedMapping, FeedReader, MAX_COLUMNS};

use super::support::{FIRST, HEADER, SECOND, american, arguments, report, settings};

fn of_lines(lines: &[&str]) -> Vec<u8> {
    let mut file = lines.join("\n").into_bytes();
    file.push(b'\n');
    file
}

fn utf16le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn american_report(file: &[u8]) -> Vec<String> {
    report(file, american())
}

#[test]
fn bytes_of_windows_1252_are_read_and_mixed_ones_reported() {
    let header = format!("{HEADER},description");
    let latin = [header.as_bytes(), b"\n", FIRST.as_bytes(), b",Caf\xe9 leather\n"].concat();
    assert_eq!(arguments(&*latin, american())[0]["description"], "Café leather");
    let mixed =
        [header.as_bytes(), b"\n", FIRST.as_bytes(), ",Café\n".as_bytes(), SECOND.as_bytes(), b",Caf\xe9\n"].concat();
    assert_eq!(
        american_report(&mixed),
        ["2: right", "3: description: this text is damaged: its characters are not of the encoding of the feed"]
    );
}

#[test]
fn shifted_cells_are_never_read_in_another_column() {
    let file = of_lines(&[
        HEADER,
        FIRST,
        "4T1C11AK4NU100002,T-2,used,2022,Toyota,Camry,12,000,23,500",
        "4T1C11AK4NU100002,T-2,used,2022,Toyota,Camry,12000",
    ]);
    assert_eq!(
        american_report(&file),
        [
            "2: right",
            "3: the row has 10 cells and the header 8, so that its cells cannot be told apart; a separator or a quote in \
             a text may be the reason",
            "4: the row has 7 cells and the header 8, so that its cells cannot be told apart; a separator or a quote in a \
             text may be the reason",
        ]
    );
}

#[test]
fn a_header_twice_and_a_field_twice_are_refused() {
    let twice = of_lines(&[&format!("{HEADER},Price"), &format!("{FIRST},1")]);
    assert_eq!(american_report(&twice), ["The column \"Price\" is there twice. Leave one of them out, or rename it."]);
    let two = of_lines(&[&format!("{HEADER},SellingPrice"), &format!("{FIRST},1")]);
    assert_eq!(
        american_report(&two),
        [
            "The columns \"price\" and \"SellingPrice\" both give price. Ignore one of them in a mapping file: [columns] \
          \"price\" = \"\"."
        ]
    );
    let chosen = settings("[columns]\n\"price\" = \"\"\n[defaults]\ncurrency = \"USD\"\ndistance = \"mi\"");
    assert_eq!(arguments(&*two, chosen)[0]["price"]["amount"], 100);
}

#[test]
fn a_currency_sign_alone_is_not_a_currency() {
    let prices = ["$24,999.00", "24999", "€24.999,00", "US$ 24999", "24,999.00 USD", "Call us", "24.999", "-5 USD"];
    let rows = prices.map(|price| format!("5YJ3E1EAXKF100004,T-1,used,2019,Tesla,Model 3,1 mi,\"{price}\""));
    let lines: Vec<&str> = [HEADER].into_iter().chain(rows.iter().map(String::as_str)).collect();
    assert_eq!(
        report(&*of_lines(&lines), settings("")),
        [
            "2: price: this currency sign is that of several currencies: set currency under [defaults]",
            "3: price: the currency is missing: write it behind the amount, or set currency under [defaults]",
            "4: right",
            "5: right",
            "6: right",
            "7: price: an amount is expected, such as 24,999.00 USD",
            "8: price: the currency is missing: write it behind the amount, or set currency under [defaults]",
            "9: price: an amount must not be negative",
        ]
    );
}

#[test]
fn dates_in_three_forms_are_read_and_impossible_ones_reported() {
    let dates = ["2026-11-18", "11/18/2026", "18.11.2026", "18/11/2026", "11/31/2026", "13/45/2026", "Nov 18", "46344"];
    let rows = dates.map(|date| format!("{FIRST},{date}"));
    let header = format!("{HEADER},in_stock_at");
    let lines: Vec<&str> = [header.as_str()].into_iter().chain(rows.iter().map(String::as_str)).collect();
    let expected = "a date is expected, such as 2026-11-18, 11/18/2026 or 18.11.2026";
    assert_eq!(
        american_report(&of_lines(&lines)),
        [
            "2: right".to_owned(),
            "3: right".to_owned(),
            "4: right".to_owned(),
            "5: in_stock_at: there is no such month: if the day comes first, set dates = \"day_first\" under [defaults]"
                .to_owned(),
            "6: in_stock_at: this month has no such day".to_owned(),
            "7: in_stock_at: there is no such month".to_owned(),
            format!("8: in_stock_at: {expected}"),
            format!("9: in_stock_at: {expected}"),
        ]
    );
    for row in arguments(&*of_lines(&lines[..4]), american()) {
        assert_eq!(row["in_stock_at"], "2026-11-18T00:00:00Z");
    }
}

#[test]
fn empty_lines_are_skipped_and_counted() {
    let file = format!("\n\n{HEADER}\n\n{FIRST}\n   \n,,,,,,,\n\n{SECOND}\n\n");
    assert_eq!(american_report(file.as_bytes()), ["5: right", "9: right"]);
}

#[test]
fn three_hundred_columns_are_read_and_too_many_refused() {
    let extra: Vec<String> = (0..292).map(|number| format!("Custom {number}")).collect();
    let cells = ",x".repeat(292);
    let file = of_lines(&[&format!("{HEADER},{}", extra.join(",")), &format!("{FIRST}{cells}")]);
    assert_eq!(american_report(&file), ["2: right"]);
    let wide = of_lines(&[&",".repeat(MAX_COLUMNS)]);
    assert_eq!(
        american_report(&wide),
        ["Line 1: There are more than 2000 columns. Leave out those that are not needed."]
    );
    let long = of_lines(&[&format!("{HEADER},{}", "x".repeat(201))]);
    assert_eq!(
        american_report(&long),
        ["The name of column 9 has more than 200 characters. The first line must have the names of the columns."]
    );
}

/// A start, then the same byte as often as asked, without ever holding them. It counts what was read of it.
struct LongFile<'a> {
    start: &'a [u8],
    filler: u8,
    left: u64,
    read: &'a mut u64,
}

impl Read for LongFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = if self.start.is_empty() {
            let count = buffer.len().min(usize::try_from(self.left).unwrap());
            buffer[..count].fill(self.filler);
            self.left -= u64::try_from(count).unwrap();
            count
        } else {
            self.start.read(buffer)?
        };
        *self.read += u64::try_from(count).unwrap();
        Ok(count)
    }
}

#[test]
fn a_line_of_200_mb_ends_after_the_first_of_them() {
    let json_start = format!("[{{\"vin\": \"{}", "x".repeat(10));
    let quoted = format!("{HEADER}\n{FIRST}\n\"");
    let cell = format!("{HEADER}\n{FIRST}\n");
    let too_long = "The record is longer than 1 MiB. Check the file: a record is one line of it.";
    for (start, filler, line) in [("", b'x', 1), (&cell, b'x', 3), (&quoted, b'x', 3), (&json_start, b'x', 1)] {
        let mut read = 0;
        let file = LongFile { start: start.as_bytes(), filler, left: 200_000_000, read: &mut read };
        let report = report(file, american());
        assert_eq!(report.last(), Some(&format!("Line {line}: {too_long}")));
        assert!(read < 3_000_000, "{read} bytes were read");
    }
}

#[test]
fn workbooks_and_archives_are_recognised() {
    let refused = |what: &str| format!("This is {what}, not a CSV or JSON feed. Open it and save it as CSV (UTF-8).");
    let xlsx = b"PK\x03\x04\x14\0\x06\0\x08\0[Content_Types].xml";
    assert_eq!(american_report(xlsx), [refused("an Excel workbook (.xlsx) or a ZIP archive")]);
    assert_eq!(american_report(b"\xd0\xcf\x11\xe0\xa1\xb1"), [refused("an old Excel workbook (.xls)")]);
    assert_eq!(american_report(b"\x1f\x8b\x08\0"), [refused("a gzip archive")]);
    assert_eq!(american_report(b"<?xml version=\"1.0\"?><rows/>"), [refused("an XML or HTML document")]);
}

#[test]
fn utf_16_needs_a_byte_order_mark_and_must_be_valid() {
    let text = format!("{HEADER}\n{FIRST}\n");
    assert_eq!(
        american_report(&utf16le(&text)),
        [
            "This looks like UTF-16 without a byte order mark. Save the file as UTF-8, or set encoding = \"utf-16le\" under \
          [defaults] in the mapping file."
        ]
    );
    let marked = utf16le(&format!("\u{feff}{text}"));
    assert_eq!(american_report(&marked), ["2: right"]);
    let lone_surrogate = [marked, vec![0x00, 0xd8, b'x', 0]].concat();
    assert_eq!(american_report(&lone_surrogate), ["Line 3: The text is not valid UTF-16. Save the file as UTF-8."]);
    let told = settings("[defaults]\nencoding = \"utf-16le\"\ncurrency = \"USD\"\ndistance = \"mi\"");
    assert_eq!(report(&*utf16le(&text), told), ["2: right"]);
}

#[test]
fn an_open_quote_is_reported_where_it_opens() {
    let open = "A quote (\") that opens in the record on this line is never closed, so the rest of the file would be one \
                cell. Close it, or write it twice (\"\") if it belongs to the text.";
    let second = SECOND.replace("T-2", "\"T-2");
    let file = of_lines(&[HEADER, FIRST, &second, FIRST, FIRST]);
    assert_eq!(american_report(&file), ["2: right".to_owned(), format!("Line 3: {open}")]);
    let mut read = 0;
    let start = format!("{HEADER}\n{FIRST}\n\"a\n");
    let file = LongFile { start: start.as_bytes(), filler: b'\n', left: 200_000_000, read: &mut read };
    assert_eq!(report(file, american()).last(), Some(&format!("Line 3: {open}")));
    assert!(read < 3_000_000, "{read} bytes were read");
}

#[test]
fn quoted_cells_may_have_separators_quotes_and_lines() {
    let header = format!("{HEADER},description");
    let file = format!("{header}\r\n{FIRST},\"Bed 6\"\" long,\r\nclean\"\r\n{SECOND},x\r\n");
    let rows = super::support::read(file.as_bytes(), american()).unwrap();
    assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(rows[0].arguments.as_ref().unwrap()["description"], "Bed 6\" long,\nclean");
}

#[test]
fn nul_bytes_are_refused_with_their_line() {
    let file = of_lines(&[HEADER, FIRST, &SECOND.replace("T-2", "T\0-2")]);
    assert_eq!(
        american_report(&file),
        ["Line 3: There is a NUL byte, so this is not a text file or it is damaged. Export it again as CSV (UTF-8)."]
    );
}

#[test]
fn a_file_without_header_does_not_have_its_data_repeated() {
    let file =
        of_lines(&["5YJ3E1EAXKF100004,dana@example.com,2019,Dana Reyes", "4T1C11AK4NU100002,x@example.com,2022,X"]);
    assert_eq!(
        american_report(&file),
        [
            "No column of the feed is known. The first line does not look like names of columns; a feed begins with them. \
          Say in a mapping file which column is which field: [columns] \"Name in the feed\" = \"vin\"."
        ]
    );
}

#[test]
fn a_header_alone_has_no_rows_and_an_empty_file_is_an_error() {
    assert_eq!(american_report(&of_lines(&[HEADER])), [""; 0]);
    assert_eq!(american_report(HEADER.as_bytes()), [""; 0]);
    let empty = "The feed is empty. The first line of a CSV feed has the names of its columns.";
    for file in ["", "\n\n", "\u{feff}", " \r\n"] {
        assert_eq!(american_report(file.as_bytes()), [empty], "{file:?}");
    }
}

#[test]
fn a_separator_is_recognised_and_a_wrong_one_reported() {
    for separator in [",", ";", "\t", "|"] {
        let file = format!("{HEADER}\n{FIRST}\n").replace(',', separator);
        assert_eq!(american_report(file.as_bytes()), ["2: right"], "{separator:?}");
    }
    let excel = format!("sep=^\r\n{HEADER}\r\n{FIRST}\r\n").replace(',', "^");
    assert_eq!(american_report(excel.as_bytes()), ["3: right"]);
    let carets = format!("{HEADER}\n{FIRST}\n").replace(',', "^");
    assert_eq!(
        american_report(carets.as_bytes()),
        [
            "No column of the feed is known. There is only one: a separator other than , ; tab or | is named under [defaults] \
          of a mapping file (separator = \"^\"). Say in a mapping file which column is which field: [columns] \"Name in \
          the feed\" = \"vin\"."
        ]
    );
    let told = settings("[defaults]\nseparator = \"^\"\ncurrency = \"USD\"\ndistance = \"mi\"");
    assert_eq!(report(carets.as_bytes(), told), ["2: right"]);
    let wrong = settings("[defaults]\nseparator = \";\"");
    assert!(report(format!("{HEADER}\n{FIRST}\n").as_bytes(), wrong)[0].starts_with("No column of the feed is known."));
}

#[test]
fn json_that_is_cut_off_is_reported_after_its_whole_records() {
    let row = r#"{"vin":"5YJ3E1EAXKF100004","stock_number":"T-1","condition":"used","year":2019,"make":"Tesla",
        "model":"Model 3","mileage":"30100","price":"24999"}"#;
    assert_eq!(
        american_report(format!("[{row},\n{row},\n{}", &row[..40]).as_bytes()),
        ["1: right", "3: right", "Line 5: The JSON is not valid: it is cut off in the record that begins here."]
    );
    assert_eq!(
        american_report(format!("[{row}").as_bytes()),
        ["1: right", "Line 2: The JSON is not valid: it is cut off before the end of the array."]
    );
}

#[test]
fn mixed_line_ends_and_trailing_commas_are_read() {
    let file = format!("{HEADER}\r\n{FIRST}\r{SECOND}\n{FIRST}\r\n\r\n{SECOND}");
    assert_eq!(american_report(file.as_bytes()), ["2: right", "3: right", "4: right", "6: right"]);
    let commas = format!("{HEADER},,\n{FIRST},,\n{SECOND},,,,\n");
    assert_eq!(american_report(commas.as_bytes()), ["2: right", "3: right"]);
}

#[test]
fn a_mapping_to_an_unknown_field_or_column_is_refused() {
    let file = of_lines(&[HEADER, FIRST]);
    assert_eq!(
        report(&*file, settings("[columns]\n\"Unit\" = \"stock_numer\"")),
        ["Under [columns] the mapping file names the field \"stock_numer\", which does not exist. Did you mean \
          \"stock_number\"?"]
    );
    assert_eq!(
        report(&*file, settings("[columns]\n\"Unit\" = \"stock_number\"")),
        ["Under [columns] the mapping file names the column \"Unit\", which the feed does not have. Found: \"vin\", \
          \"stock_number\", \"condition\", \"year\", \"make\", \"model\", \"mileage\", \"price\"."]
    );
    let unknown = FeedMapping::from_toml("[default]\ncurrency = \"USD\"").unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "The mapping file has an unknown section, \"default\"; there are columns, values, constants, lists, defaults. Did \
         you mean \"defaults\"?"
    );
}

#[test]
fn required_fields_that_no_column_gives_are_named() {
    let file = of_lines(&["vin,stock_number,make,model", "a,b,c,d"]);
    assert_eq!(
        american_report(&file),
        ["No column gives condition, year, mileage, price, which every row needs. Found: \"vin\", \"stock_number\", \
          \"make\", \"model\". Say in a mapping file which column it is ([columns] \"Name in the feed\" = \"condition\"), or \
          give all rows one value ([constants] condition = \"..\")."]
    );
}

/// The same row as often as asked, without ever holding them all.
struct ManyRows<'a> {
    row: &'a [u8],
    rest: &'a [u8],
    left: usize,
}

impl Read for ManyRows<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.rest.is_empty() && self.left > 0 {
            self.left -= 1;
            self.rest = self.row;
        }
        self.rest.read(buffer)
    }
}

#[test]
fn too_many_rows_are_refused_at_the_first_of_them() {
    let header = format!("{HEADER}\n");
    // Rows that are wrong at once, so that the test is not about time.
    let row = "x\n".repeat(1_000);
    let rows = ManyRows { row: row.as_bytes(), rest: header.as_bytes(), left: 2_001 };
    let target = super::support::vehicles();
    let last = FeedReader::open(rows, &target, american()).unwrap().last().unwrap();
    assert_eq!(
        last.unwrap_err().to_string(),
        "Line 2000002: There are more than 2000000 rows. Split the feed into several files."
    );
}

/// The most memory that this process has had, in kB.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_feed() {
    let description = "x".repeat(3_000);
    let header = format!("{HEADER},description\n");
    let row = format!("{FIRST},{description}\n");
    let json = format!("{{\"vin\": \"x\", \"description\": \"{description}\"}}\n");
    let before = peak_memory();
    for (start, row) in [(header.as_str(), row.as_str()), ("", json.as_str())] {
        let rows = ManyRows { row: row.as_bytes(), rest: start.as_bytes(), left: 4_000 };
        assert_eq!(super::support::count_rows(rows), 4_000);
    }
    // Each of the two has 12 MB. What is touched of the program itself counts, too.
    assert!(peak_memory() - before < 11_000, "{} kB", peak_memory() - before);
}
