//! A feed is imported, and the import or the server is killed again and again: in the end every row is there once.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use frontdesk_contracts::automotive::sample_feed;
use frontdesk_testkit::TestFolder;
use frontdesk_testkit::app::process::frontdesk_binary;

use super::seed::{import_rows, rounds, seeded};
use super::stage::Stage;

const TENANT: &str = "dlr_third";

#[tokio::test]
async fn a_killed_import_on_sqlite_is_completed_by_running_it_again() {
    survive("the import on SQLite", Stage::embedded().await, Victim::Command).await;
}

#[tokio::test]
async fn a_killed_import_on_postgres_is_completed_by_running_it_again() {
    survive("the import on PostgreSQL", Stage::on_postgres().await, Victim::Command).await;
}

#[tokio::test]
async fn an_import_into_a_killed_server_is_completed() {
    survive("the server of an import", Stage::embedded().await, Victim::Server).await;
}

enum Victim {
    /// The command, which has the data to itself or sends rows to the server.
    Command,
    Server,
}

async fn survive(whose: &str, mut stage: Stage, victim: Victim) {
    let random = seeded(whose);
    let rows = import_rows();
    let files = TestFolder::new();
    let file = feed(&files, rows);
    let mut cut = 0;
    for round in 0..rounds() {
        let mut import = start(&stage, &file);
        let pause = Duration::from_micros(random.number() % (200_000 + rows * 150));
        tokio::time::sleep(pause).await;
        match victim {
            Victim::Command => {
                cut += u64::from(import.try_wait().unwrap().is_none());
                import.kill().unwrap();
                import.wait().unwrap();
            }
            Victim::Server => {
                // A command that had not reached the server yet goes on by itself, so it is waited for.
                let ended = || cut += u64::from(!import.wait().unwrap().success());
                stage = stage.kill_the_desk_and(ended).await;
            }
        }
        let (all, distinct) = stage.database.stock(&stage.desk, TENANT);
        assert_eq!(all, distinct, "round {round}: a row was applied twice");
    }
    assert!(cut > 0, "no import was cut short");
    assert!(start(&stage, &file).wait().unwrap().success());
    let expected = usize::try_from(rows).unwrap();
    assert_eq!(stage.database.stock(&stage.desk, TENANT), (expected, expected));
    assert_eq!(stage.database.announced(&stage.desk, TENANT), expected, "each vehicle was added once");
    assert!(stage.database.has_no_gaps(&stage.desk));
    let (code, out, errors) = stage.desk.command(&["audit", "verify"]);
    assert_eq!(code, Some(0), "{out} {errors}");
    eprintln!("{whose}: {rows} rows, {} imports, {cut} cut short", rounds());
}

fn feed(files: &TestFolder, rows: u64) -> PathBuf {
    let file = files.join("stock.csv");
    let rows: String = (0..u32::try_from(rows).unwrap()).map(sample_feed::row).collect();
    std::fs::write(&file, format!("{}{rows}", sample_feed::HEADER)).unwrap();
    file
}

fn start(stage: &Stage, file: &PathBuf) -> Child {
    let mut command = Command::new(frontdesk_binary());
    command.env_clear().envs(stage.settings()).args(["import", "vehicles"]).arg(file);
    command.args(["--tenant", TENANT, "--data"]).arg(stage.desk.data());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}
