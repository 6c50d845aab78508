//! Broken files through `frontdesk import`, on both databases: each ends in a clear report, and nothing is applied. None of
//! them is stored: a function makes it.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::frontdesk_binary;
use frontdesk_testkit::app::{READ_STOCK, TestAgent, TestApp};
use frontdesk_testkit::databases::PostgresDatabase;
use serde_json::json;

const TENANT: &str = "dlr_broken";
const HEADER: &str = "vin,stock_number,condition,year,make,model,mileage,price";
const FIRST: &str = "5YJ3E1EAXKF100004,T-1,used,2019,Tesla,Model 3,30100,24999";
const SECOND: &str = "4T1C11AK4NU100002,T-2,used,2022,Toyota,Camry,12000,23500";
const AMERICAN: &str = "[defaults]\ncurrency = \"USD\"\ndistance = \"mi\"\n";

/// A file and what the command says of it.
struct BrokenFile {
    content: Vec<u8>,
    mapping: &'static str,
    report: Report,
}

enum Report {
    /// The file as a whole is wrong: the last line of standard error.
    File(String),
    /// How many rows are wrong of how many, and the lines that list them.
    Rows(&'static str, &'static [&'static str]),
}

fn of_file(content: impl Into<Vec<u8>>, report: impl Into<String>) -> BrokenFile {
    BrokenFile { content: content.into(), mapping: AMERICAN, report: Report::File(report.into()) }
}

fn of_rows(content: impl Into<Vec<u8>>, count: &'static str, listed: &'static [&'static str]) -> BrokenFile {
    BrokenFile { content: content.into(), mapping: AMERICAN, report: Report::Rows(count, listed) }
}

fn lines(lines: &[&str]) -> String {
    format!("{}\n", lines.join("\n"))
}

fn utf16le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn encodings() -> Vec<BrokenFile> {
    let header = format!("{HEADER},description\n");
    let mixed = [header.as_bytes(), FIRST.as_bytes(), ",Café\n".as_bytes(), SECOND.as_bytes(), b",Caf\xe9\n"].concat();
    let text = lines(&[HEADER, FIRST]);
    let lone_surrogate = [utf16le(&format!("\u{feff}{text}")), vec![0x00, 0xd8, b'x', 0]].concat();
    vec![
        of_rows(
            mixed,
            "1 of 2 rows is wrong",
            &["3,description,this text is damaged: its characters are not of the encoding of the feed"],
        ),
        of_file(
            utf16le(&text),
            "This looks like UTF-16 without a byte order mark. Save the file as UTF-8, or set encoding = \"utf-16le\" \
             under [defaults] in the mapping file.",
        ),
        of_file(lone_surrogate, "Line 3: The text is not valid UTF-16. Save the file as UTF-8."),
        of_file(
            lines(&[HEADER, FIRST, &SECOND.replace("T-2", "T\0-2")]),
            "Line 3: There is a NUL byte, so this is not a text file or it is damaged. Export it again as CSV (UTF-8).",
        ),
        of_file(
            *b"PK\x03\x04\x14\0\x06\0\x08\0[Content_Types].xml",
            "This is an Excel workbook (.xlsx) or a ZIP archive, not a CSV or JSON feed. Open it and save it as CSV \
             (UTF-8).",
        ),
        of_file(
            *b"\x1f\x8b\x08\0",
            "This is a gzip archive, not a CSV or JSON feed. Open it and save it as CSV (UTF-8).",
        ),
        of_file("<?xml version=\"1.0\"?><rows/>", "vehicles cannot be read from XML; use CSV or JSON"),
    ]
}

fn columns() -> Vec<BrokenFile> {
    let shifted = "4T1C11AK4NU100002,T-2,used,2022,Toyota,Camry,12,000,23,500";
    vec![
        of_rows(
            lines(&[HEADER, FIRST, shifted]),
            "1 of 2 rows is wrong",
            &["3,,\"the row has 10 cells and the header 8, so that its cells cannot be told apart; a separator or a \
               quote in a text may be the reason\""],
        ),
        of_file(
            lines(&[&format!("{HEADER},Price"), &format!("{FIRST},1")]),
            "The column \"Price\" is there twice. Leave one of them out, or rename it.",
        ),
        of_file(
            lines(&[&format!("{HEADER},SellingPrice"), &format!("{FIRST},1")]),
            "The columns \"price\" and \"SellingPrice\" both give price. Ignore one of them in a mapping file: [columns] \
             \"price\" = \"\".",
        ),
        of_file(
            lines(&[&",".repeat(2_000), FIRST]),
            "Line 1: There are more than 2000 columns. Leave out those that are not needed.",
        ),
        of_file(
            lines(&[&format!("{HEADER},{}", "x".repeat(201))]),
            "The name of column 9 has more than 200 characters. The first line must have the names of the columns.",
        ),
        of_file(
            lines(&["vin,stock_number,make,model", "a,b,c,d"]),
            "No column gives condition, year, mileage, price, which every row needs. Found: \"vin\", \"stock_number\", \
             \"make\", \"model\". Say in a mapping file which column it is ([columns] \"Name in the feed\" = \
             \"condition\"), or give all rows one value ([constants] condition = \"..\").",
        ),
        of_file(
            lines(&["5YJ3E1EAXKF100004,dana@example.com,2019,Dana Reyes"]),
            "No column of the feed is known. The first line does not look like names of columns; a feed begins with them. \
             Say in a mapping file which column is which field: [columns] \"Name in the feed\" = \"vin\".",
        ),
        of_file(
            lines(&[HEADER, FIRST]).replace(',', "^"),
            "No column of the feed is known. There is only one: a separator other than , ; tab or | is named under \
             [defaults] of a mapping file (separator = \"^\"). Say in a mapping file which column is which field: [columns] \
             \"Name in the feed\" = \"vin\".",
        ),
        BrokenFile {
            mapping: "[columns]\n\"Unit\" = \"stock_numer\"",
            ..of_file(
                lines(&[HEADER, FIRST]),
                "Under [columns] the mapping file names the field \"stock_numer\", which does not exist. Did you mean \
                 \"stock_number\"?",
            )
        },
    ]
}

fn values() -> Vec<BrokenFile> {
    let prices = ["$24,999.00", "24999", "Call us", "-5 USD"];
    let prices = prices.map(|price| format!("5YJ3E1EAXKF100004,T-1,used,2019,Tesla,Model 3,1 mi,\"{price}\"\n"));
    let dates = ["18/11/2026", "11/31/2026", "Nov 18", "46344"].map(|date| format!("{FIRST},{date}\n"));
    let read_dates = ["2026-11-18", "11/18/2026", "18.11.2026"].map(|date| format!("{FIRST},{date}\n"));
    vec![
        BrokenFile {
            mapping: "",
            ..of_rows(
                format!("{HEADER}\n{}", prices.concat()),
                "4 of 4 rows are wrong",
                &[
                    "2,price,this currency sign is that of several currencies: set currency under [defaults]",
                    "3,price,\"the currency is missing: write it behind the amount, or set currency under [defaults]\"",
                    "4,price,\"an amount is expected, such as 24,999.00 USD\"",
                    "5,price,an amount must not be negative",
                ],
            )
        },
        of_rows(
            format!("{HEADER},in_stock_at\n{}", dates.concat()),
            "4 of 4 rows are wrong",
            &[
                "2,in_stock_at,\"there is no such month: if the day comes first, set dates = \"\"day_first\"\" under \
                 [defaults]\"",
                "3,in_stock_at,this month has no such day",
                "4,in_stock_at,\"a date is expected, such as 2026-11-18, 11/18/2026 or 18.11.2026\"",
                "5,in_stock_at,\"a date is expected, such as 2026-11-18, 11/18/2026 or 18.11.2026\"",
            ],
        ),
        // The three forms are read; only the repetitions are wrong.
        of_rows(
            format!("{HEADER},in_stock_at\n{}", read_dates.concat()),
            "2 of 3 rows are wrong",
            &[
                "3,vin,line 2 has the same vin; a feed has one row for each record",
                "4,vin,line 2 has the same vin; a feed has one row for each record",
            ],
        ),
        of_rows(
            lines(&[HEADER, FIRST, &SECOND.replace("Toyota", "Ford")]),
            "1 of 2 rows is wrong",
            &["3,make,the VIN says Toyota."],
        ),
    ]
}

fn cut_off() -> Vec<BrokenFile> {
    let record = r#"{"vin":"5YJ3E1EAXKF100004","stock_number":"T-1","condition":"used","year":2019,"make":"Tesla",
        "model":"Model 3","mileage":"30100","price":"24999"}"#;
    let open = "A quote (\") that opens in the record on this line is never closed, so the rest of the file would be one \
                cell. Close it, or write it twice (\"\") if it belongs to the text.";
    // Rows that were found wrong before that are not listed: the list would look complete.
    let late = format!("{HEADER}\n{}\"\n", "x\n".repeat(1_000));
    vec![
        of_file("", "The feed is empty. The first line of a CSV feed has the names of its columns."),
        of_file(format!("{HEADER}\n"), "It has no rows."),
        of_file(lines(&[HEADER, FIRST, &SECOND.replace("T-2", "\"T-2"), FIRST]), format!("Line 3: {open}")),
        of_file(late, format!("Line 1002: {open}")),
        of_file(
            format!("[{record},\n{}", &record[..40]),
            "Line 3: The JSON is not valid: it is cut off in the record that begins here.",
        ),
        of_file(format!("[{record}"), "Line 2: The JSON is not valid: it is cut off before the end of the array."),
    ]
}

#[tokio::test]
async fn broken_files_are_reported_and_nothing_is_applied_on_sqlite() {
    refuse_all(TestApp::start()).await;
}

#[tokio::test]
async fn broken_files_are_reported_and_nothing_is_applied_on_postgres() {
    let database = PostgresDatabase::create();
    refuse_all(TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())])).await;
}

async fn refuse_all(desk: TestApp) {
    let files = TestFolder::new();
    let mut agent = buyer(&desk).await;
    for (number, broken) in [encodings(), columns(), values(), cut_off()].into_iter().flatten().enumerate() {
        let (file, map) = (files.join(&format!("feed-{number}")), files.join("mapping.toml"));
        std::fs::write(&file, &broken.content).unwrap();
        std::fs::write(&map, broken.mapping).unwrap();
        let (code, out, errors) = desk.command(&arguments(&file, &["--map", map.to_str().unwrap()]));
        let listed = PathBuf::from(format!("{}.errors.csv", file.display()));
        assert_eq!(code, Some(1), "{number}: {out}{errors}");
        match broken.report {
            Report::File(report) => {
                let last = errors.lines().last().unwrap_or_default();
                assert_eq!((last, out.as_str()), (format!("frontdesk: {}: {report}", file.display()).as_str(), ""));
                assert!(!listed.exists(), "{number}: {}", std::fs::read_to_string(&listed).unwrap());
            }
            Report::Rows(count, rows) => {
                let report = format!(
                    "{}: {count}, and nothing was changed. {} lists each line with the reason. Correct them, or leave \
                     them out with --skip-bad-rows.\n",
                    file.display(),
                    listed.display()
                );
                assert_eq!(out, report);
                let lines = std::fs::read_to_string(&listed).unwrap();
                assert_eq!(lines.lines().collect::<Vec<_>>(), [&["line,column,reason"], rows].concat());
            }
        }
        assert_eq!(stock(&mut agent).await, 0, "{number}: something was applied");
    }

    // Files that only look broken are read.
    let latin = [format!("{HEADER},description\n{FIRST}").as_bytes(), b",Caf\xe9 leather\n"].concat();
    let extra: String = (0..292).map(|number| format!(",Custom {number}")).collect();
    let wide = format!("\n\n{HEADER}{extra}\n\n{SECOND}{}\n   \n{}\n", ",x".repeat(292), ",".repeat(299));
    for (content, number) in [(latin, 1), (wide.into_bytes(), 2)] {
        let (file, map) = (files.join("right.csv"), files.join("mapping.toml"));
        std::fs::write(&file, content).unwrap();
        std::fs::write(&map, AMERICAN).unwrap();
        let (code, out, errors) = desk.command(&arguments(&file, &["--map", map.to_str().unwrap()]));
        let report = format!("{}: 1 row: 1 new, 0 changed, 0 unchanged.\n", file.display());
        assert_eq!((code, out), (Some(0), report), "{errors}");
        assert_eq!(stock(&mut agent).await, number);
    }
    let found = agent.call("inventory.search", json!({"text": "T-1"})).await;
    assert_eq!(found["items"][0]["stock_number"], "T-1");
}

/// A line of 200 MB, in the header and in a row: it is read as far as the limit, and never held.
#[tokio::test]
async fn a_line_of_200_mb_is_reported_within_little_memory() {
    let database = PostgresDatabase::create();
    for desk in [TestApp::start(), TestApp::start_with(&[("FRONTDESK_DATABASE", &database.url())])] {
        let files = TestFolder::new();
        let mut agent = buyer(&desk).await;
        for (start, line) in [("", 1), (&*format!("{HEADER}\n{FIRST}\n"), 3)] {
            let file = files.join("long.csv");
            write_long(&file, start);
            let settings = [("FRONTDESK_DATABASE", database.url())];
            let mut command = Command::new(frontdesk_binary());
            command.args(arguments(&file, &["--currency", "USD"])).arg("--data").arg(desk.data()).env_clear();
            if !desk.data().join("frontdesk.db").exists() {
                command.envs(settings);
            }
            let (code, errors, peak) = run_and_measure(command);
            let report = "The record is longer than 1 MiB. Check the file: a record is one line of it.";
            let expected = format!("frontdesk: {}: Line {line}: {report}", file.display());
            assert_eq!((code, errors.lines().last()), (Some(1), Some(expected.as_str())), "{errors}");
            assert!(peak < 120_000, "it needed {peak} kB");
            assert_eq!(stock(&mut agent).await, 0);
        }
    }
}

fn write_long(file: &Path, start: &str) {
    let mut file = File::create(file).unwrap();
    file.write_all(start.as_bytes()).unwrap();
    let part = vec![b'x'; 1_000_000];
    (0..200).for_each(|_| file.write_all(&part).unwrap());
}

/// Exit code, standard error, and the most memory it had, in kB. A process that ends between two looks has grown by little
/// since the last one.
fn run_and_measure(mut command: Command) -> (Option<i32>, String, u64) {
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0;
    while process.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(kilobytes.unwrap_or_default());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(peak > 0, "nothing was measured");
    let output = process.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap(), peak)
}

async fn buyer(desk: &TestApp) -> TestAgent {
    let client = desk.add_client(&[TENANT], READ_STOCK);
    desk.agent_of_client(&client, READ_STOCK).await
}

async fn stock(agent: &mut TestAgent) -> i64 {
    let list = agent.call("inventory.list", json!({"x_frontdesk_total": true})).await;
    list["x_frontdesk_total"].as_i64().unwrap()
}

fn arguments<'a>(file: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["import", "vehicles", file.to_str().unwrap(), "--tenant", TENANT], more].concat()
}
