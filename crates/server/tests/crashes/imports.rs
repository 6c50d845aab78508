//! A feed is imported into a new tenant and killed on the way, again and again: the command, the server, or the command
//! that has the data to itself. Each time it is run once more, and then every row is there once.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use frontdesk_contracts::automotive::sample_feed;
use frontdesk_testkit::app::process::frontdesk_binary;
use frontdesk_testkit::{TestFolder, TestRandom};

use super::seed::{import_rows, rounds, seeded};
use super::stage::Stage;

/// Longer than an import takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_killed_import_on_sqlite_is_completed_by_running_it_again() {
    survive("the import on SQLite", Stage::embedded().await, &[Victim::Command, Victim::Server]).await;
}

#[tokio::test]
async fn a_killed_import_on_postgres_is_completed_by_running_it_again() {
    survive("the import on PostgreSQL", Stage::on_postgres().await, &[Victim::Command, Victim::Server]).await;
}

#[tokio::test]
async fn a_killed_import_without_a_server_is_completed() {
    survive("the import without a server", Stage::embedded().await, &[Victim::LoneCommand]).await;
}

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The command, which sends rows to the server.
    Command,
    Server,
    /// The command while no server runs.
    LoneCommand,
}

async fn survive(whose: &str, mut stage: Stage, victims: &[Victim]) {
    let random = seeded(whose);
    let (rows, files) = (import_rows(), TestFolder::new());
    let file = feed(&files, rows);
    let expected = usize::try_from(rows).unwrap();
    let (mut round, mut cut) = (0, 0);
    // As often as asked for, and on until a kill came while rows were applied, however fast the machine is.
    while round < rounds() || cut == 0 {
        assert!(round < 20 * rounds(), "no kill came while rows were applied");
        let victim = victims[usize::try_from(round).unwrap() % victims.len()];
        round += 1;
        let tenant = format!("dlr_round_{round}");
        let (code, _, errors) = stage.desk.command(&["tenant", "add", &tenant, "--name", "Round"]);
        assert_eq!(code, Some(0), "{errors}");
        stage = cut_off(stage, victim, &file, (&tenant, rows), &random).await;

        let (all, distinct) = stage.database.stock(&stage.desk, &tenant);
        assert_eq!(all, distinct, "round {round}: a row was applied twice");
        let began = Instant::now();
        assert!(import(&stage, &file, &tenant).wait().unwrap().success(), "round {round}");
        let took = began.elapsed();
        assert_eq!(stage.database.stock(&stage.desk, &tenant), (expected, expected), "round {round}");
        let announced = stage.database.announced(&stage.desk, &tenant);
        assert_eq!(announced, expected, "round {round}: each vehicle was added once");
        assert!(stage.database.has_no_gaps(&stage.desk), "round {round}");
        let (code, out, errors) = stage.desk.command(&["audit", "verify"]);
        assert_eq!(code, Some(0), "round {round}: {out} {errors}");
        cut += u64::from((1..expected).contains(&all));
        eprintln!("{whose}, round {round}: {victim:?} killed at {all} of {rows} rows, completed in {took:?}");
    }
    eprintln!("{whose}: {rows} rows, {round} kills, {cut} of them while rows were applied; each was completed");
}

/// Starts the import, kills the victim on the way, and has a server again. Four kills of five are aimed at the moment at
/// which some number of rows has been applied, the others come before the first one.
async fn cut_off(
    mut stage: Stage,
    victim: Victim,
    file: &Path,
    (tenant, rows): (&str, u64),
    random: &TestRandom,
) -> Stage {
    if victim == Victim::LoneCommand {
        assert_eq!(stage.desk.stop(), Some(0));
    }
    let mut command = import(&stage, file, tenant);
    if random.percent(80) {
        let aim = usize::try_from(1 + random.number() % rows.saturating_sub(1).max(1)).unwrap();
        let until = Instant::now() + PATIENCE;
        while command.try_wait().unwrap().is_none() && stage.database.events(&stage.desk, tenant) < aim {
            assert!(Instant::now() < until, "the import does not get to row {aim}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    } else {
        tokio::time::sleep(Duration::from_micros(random.number() % (200_000 + rows * 20))).await;
    }
    match victim {
        Victim::Command | Victim::LoneCommand => {
            command.kill().unwrap();
            command.wait().unwrap();
        }
        // A command that had not reached the server yet goes on by itself, so it is waited for.
        Victim::Server => {
            let ended = || assert!(command.wait().is_ok());
            return stage.kill_the_desk_and(ended).await;
        }
    }
    if victim == Victim::LoneCommand {
        stage.desk = stage.desk.start_again();
    }
    stage
}

fn feed(files: &TestFolder, rows: u64) -> PathBuf {
    let file = files.join("stock.csv");
    let rows: String = (0..u32::try_from(rows).unwrap()).map(sample_feed::row).collect();
    std::fs::write(&file, format!("{}{rows}", sample_feed::HEADER)).unwrap();
    file
}

fn import(stage: &Stage, file: &Path, tenant: &str) -> Child {
    let mut command = Command::new(frontdesk_binary());
    command.env_clear().envs(stage.settings()).args(["import", "vehicles"]).arg(file);
    command.args(["--tenant", tenant, "--data"]).arg(stage.desk.data());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}
