//! Round after round: work on many connections, somebody is killed at a moment left to chance, and everything is
//! counted. The moment that matters most, between the commit and its answer, must have been met.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use frontdesk_testkit::databases::KillSwitch;

use super::load::{Ends, Load};
use super::order_log::OrderLog;
use super::seed::{rounds, seeded};
use super::stage::Stage;
use super::tables::Before;

/// Longer than any part of a round takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_killed_desk_on_sqlite_does_each_order_once() {
    survive("the desk on SQLite", Stage::embedded().await, Victim::Desk).await;
}

#[tokio::test]
async fn a_killed_desk_on_postgres_does_each_order_once() {
    survive("the desk on PostgreSQL", Stage::on_postgres().await, Victim::Desk).await;
}

#[tokio::test]
async fn a_desk_with_a_killed_postgres_does_each_order_once() {
    survive("PostgreSQL", Stage::on_postgres().await, Victim::Database).await;
}

enum Victim {
    Desk,
    Database,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Now,
    Later,
}

async fn survive(whose: &str, mut stage: Stage, victim: Victim) {
    let random = seeded(whose);
    let before = Before::look(&stage.database, &stage.desk);
    let mut all = OrderLog::default();
    let (mut round, mut unanswered, mut answer_lost) = (0, 0, 0);
    // As often as asked for, and on until the moment was met; if it never is, the load is too thin to prove anything.
    while round < rounds() || answer_lost == 0 {
        // On a busy machine many kills miss the moment, which is short.
        assert!(round < 20 * rounds(), "no kill came between a commit and its answer");
        round += 1;
        let load = Load::start(&stage, round, &random);
        // After an answer, because those of a group come one after the other, or some time later.
        let enough = 15 + random.below(60);
        timeout(PATIENCE, load.answers(enough)).await.unwrap();
        let moment = *random.pick(&[Moment::Now, Moment::Later]);
        if moment == Moment::Later {
            tokio::time::sleep(Duration::from_micros(random.number() % 200_000)).await;
        }
        let order_log = match victim {
            Victim::Desk => {
                stage = stage.kill_the_desk().await;
                noticed(load).await.0
            }
            Victim::Database => {
                let aim = stage.database.server().kill_switch();
                // A commit and its answer are so close here that every other kill looks for one.
                if moment == Moment::Now {
                    timeout(PATIENCE, committing(&aim)).await.unwrap();
                }
                aim.fire();
                let (order_log, ends) = noticed(load).await;
                stage.database.server().resume();
                assert_eq!(ends.cut, 0, "the desk itself goes on");
                order_log
            }
        };

        // What the tables hold now was committed before the end; whatever of it had no answer met the moment.
        let committed = stage.database.claims(&stage.desk) - before.claims - all.sent();
        let (sent, answered) = (order_log.sent(), order_log.answered());
        assert!((answered..=sent).contains(&committed), "{answered} answered, {committed} committed, {sent} sent");
        unanswered += sent - answered;
        answer_lost += committed - answered;

        // Everything is asked for again, and what had no answer then once more.
        let open = order_log.unanswered();
        let order_log = stage.repeat(order_log.orders(), order_log).await;
        all.add(stage.repeat(open, order_log).await);
        before.and_then(&all, &stage.database, &stage.desk);
        stage.renew().await;
        if round % 20 == 0 || round >= rounds() {
            eprintln!(
                "{whose}: killed {round} times among {} orders; {unanswered} had no answer when it died, and \
                 {answer_lost} of them had been committed all the same",
                all.sent()
            );
        }
    }

    // Keys of long ago still answer as they did, and callers see as many leads as the tables hold.
    let first = all.orders().into_iter().take(200).collect();
    let all = stage.repeat(first, all).await;
    let mut seen = 0;
    for mut agent in stage.agents().await {
        seen += agent.all("leads.list", json!({"limit": 100})).await.len();
    }
    before.saw(seen, &all);
}

/// How everybody's work ended; nobody may be left waiting.
async fn noticed(load: Load) -> (OrderLog, Ends) {
    timeout(PATIENCE, load.end()).await.unwrap()
}

async fn committing(aim: &KillSwitch<'_>) {
    while !aim.is_committing() {
        tokio::task::yield_now().await;
    }
}
