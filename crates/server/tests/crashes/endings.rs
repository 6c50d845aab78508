//! Rides and orders of food are booked, moved on and ended by many callers at once while the server is killed at moments
//! left to chance. In the end each key has its one booking, and TOMO was told once, and the same every time, about each
//! that has ended, and about no other.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use frontdesk_testkit::TestRandom;
use frontdesk_testkit::databases::{PostgresServer, WalSync};

use super::ending_calls::{Ending, OrderLine, Task, TaskAnswer, WantedOrder, orders, shuffle};
use super::ending_stage::EndingStage;
use super::ending_tables::{EndingLog, bookings, check_received, check_received_so_far, check_tables};
use super::seed::{rounds, seeded};
use super::tables::Database;

const CALLERS: usize = 10;
/// Longer than any part of a round takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn t_146_a_killed_desk_on_sqlite_reports_each_end_once() {
    survive("endings on SQLite", Database::Embedded).await;
}

#[tokio::test]
async fn t_146_a_killed_desk_on_postgres_reports_each_end_once() {
    survive("endings on PostgreSQL", Database::Postgres(PostgresServer::start_with(WalSync::On, &[]))).await;
}

async fn survive(whose: &str, database: Database) {
    let random = seeded(whose);
    let mut stage = EndingStage::start(database, random.number());
    let mut log = EndingLog::default();
    let (mut round, mut unanswered) = (0, 0);
    // As often as asked for, and on until calls were cut off, however fast the machine is.
    while round < rounds() || unanswered == 0 {
        assert!(round < 20 * rounds(), "no kill came while somebody waited for an answer");
        round += 1;
        let mut tasks = end_the_open(&mut log, &random);
        tasks.extend(orders(&stage, round, &random).await);
        shuffle(&mut tasks, &random);

        let board = Arc::new(TaskBoard::new(tasks, std::mem::take(&mut log)));
        stage = cut_off(stage, &board, &random).await;
        unanswered += board.resume();
        run_all(&stage, &board).await;
        // Once more under the same keys: the same bookings, whatever has become of them.
        let again: Vec<Task> =
            board.with_log(|log| log.booked.values().map(|(order, _)| Task::Book(order.clone())).collect());
        board.add(again);
        run_all(&stage, &board).await;
        log = board.take_log();
        check_tables(&stage, &log);
        check_received_so_far(&stage, &bookings(&stage));
    }
    stage.wait_for_deliveries().await;
    check_received(&stage, &bookings(&stage));
    // Another start owes nobody anything.
    let count = stage.received().len();
    stage = stage.kill();
    stage.wait_for_deliveries().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    check_received(&stage, &bookings(&stage));
    assert_eq!(stage.received().len(), count, "what was delivered is delivered again");
    let verified = stage.command(&["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let live = log.booked.values().filter(|(order, _)| order.is_live()).count();
    eprintln!(
        "{whose}: killed {round} times among {} bookings, {live} of them live, and {} refusals; {unanswered} tasks had no \
         answer when it died; {} completions were sent, {} of them accepted, for {} orders that have ended",
        log.booked.len(),
        log.refused.len(),
        stage.received().len(),
        stage.received().iter().filter(|completion| completion.status == 201).count(),
        stage.deliveries().len(),
    );
    assert!(log.refused.values().any(|code| code == "NOT_AVAILABLE"), "nothing was sold out");
    assert!(live > stage.deliveries().len(), "nothing was left open");
}

/// What was left open before is ended now, so that drivers are free again.
fn end_the_open(log: &mut EndingLog, random: &TestRandom) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (order, booking_ref) in log.booked.values_mut().filter(|(order, _)| order.ending.rows.is_empty()) {
        order.ending = Ending::of_open(order.intent, random);
        tasks.extend(endings(order, booking_ref));
    }
    tasks
}

fn endings(order: &WantedOrder, booking_ref: &str) -> Vec<Task> {
    let end = |row| Task::End { order: order.clone(), booking_ref: booking_ref.to_owned(), row };
    (0..order.ending.rows.len()).map(end).collect()
}

/// Works until the server is killed; it is started again.
async fn cut_off(stage: EndingStage, board: &Arc<TaskBoard>, random: &TestRandom) -> EndingStage {
    let mut callers = spawn_callers(&stage, board);
    // Two thirds at most, so that everybody is still at work.
    let enough = 1 + random.below(board.waiting() * 2 / 3);
    timeout(PATIENCE, board.answers(enough)).await.unwrap();
    if random.percent(50) {
        tokio::time::sleep(Duration::from_micros(random.number() % 100_000)).await;
    }
    let stage = stage.kill();
    timeout(PATIENCE, async { while callers.join_next().await.transpose().unwrap().is_some() {} }).await.unwrap();
    stage
}

/// Works until nothing is left.
async fn run_all(stage: &EndingStage, board: &Arc<TaskBoard>) {
    let mut callers = spawn_callers(stage, board);
    timeout(PATIENCE, async { while callers.join_next().await.transpose().unwrap().is_some() {} }).await.unwrap();
    assert_eq!(board.resume(), 0, "the desk is gone");
    assert_eq!(board.waiting(), 0);
}

fn spawn_callers(stage: &EndingStage, board: &Arc<TaskBoard>) -> JoinSet<()> {
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(work(OrderLine::new(stage), Arc::clone(board)));
    }
    callers
}

/// Until nothing is left, or the desk is gone.
async fn work(mut line: OrderLine, board: Arc<TaskBoard>) {
    while let Some((number, task)) = board.next() {
        match line.run(&task).await {
            TaskAnswer::Cut => return,
            answer @ (TaskAnswer::Booked(_) | TaskAnswer::Refused(_) | TaskAnswer::Ended) => {
                board.answer(number, task, answer);
            }
        }
    }
}

/// What the callers share: what is to be done, what is being done, and what was answered.
struct TaskBoard {
    state: Mutex<BoardState>,
    /// Told of every answer.
    answered: Notify,
}

#[derive(Default)]
struct BoardState {
    queue: VecDeque<Task>,
    running: BTreeMap<u64, Task>,
    numbers: u64,
    answers: usize,
    log: EndingLog,
}

impl TaskBoard {
    fn new(tasks: Vec<Task>, log: EndingLog) -> TaskBoard {
        let state = BoardState { queue: tasks.into(), log, ..BoardState::default() };
        TaskBoard { state: Mutex::new(state), answered: Notify::new() }
    }

    fn next(&self) -> Option<(u64, Task)> {
        let mut state = self.state.lock().unwrap();
        let task = state.queue.pop_front()?;
        state.numbers += 1;
        let number = state.numbers;
        state.running.insert(number, task.clone());
        Some((number, task))
    }

    fn answer(&self, number: u64, task: Task, answer: TaskAnswer) {
        let mut state = self.state.lock().unwrap();
        state.running.remove(&number);
        state.answers += 1;
        match (task, answer) {
            (Task::Book(order), TaskAnswer::Booked(booking_ref)) => {
                if state.log.book(&order, &booking_ref) {
                    let endings = endings(&order, &booking_ref);
                    // Some are sent by two callers at once, under the same ids.
                    if number.is_multiple_of(4) {
                        state.queue.extend(endings.clone());
                    }
                    state.queue.extend(endings);
                }
            }
            (Task::Book(order), TaskAnswer::Refused(code)) => state.log.refuse(&order.key, code),
            (Task::End { .. }, TaskAnswer::Ended) => {}
            (task, _) => panic!("{task:?} is not answered so"),
        }
        drop(state);
        self.answered.notify_one();
    }

    async fn answers(&self, number: usize) {
        while self.state.lock().unwrap().answers < number {
            self.answered.notified().await;
        }
    }

    /// What had no answer is to be done again; how much that is.
    fn resume(&self) -> usize {
        let mut state = self.state.lock().unwrap();
        let running = std::mem::take(&mut state.running);
        let count = running.len();
        state.queue.extend(running.into_values());
        count
    }

    fn waiting(&self) -> usize {
        self.state.lock().unwrap().queue.len()
    }

    fn add(&self, tasks: Vec<Task>) {
        self.state.lock().unwrap().queue.extend(tasks);
    }

    fn with_log<T>(&self, read: impl FnOnce(&EndingLog) -> T) -> T {
        read(&self.state.lock().unwrap().log)
    }

    fn take_log(&self) -> EndingLog {
        std::mem::take(&mut self.state.lock().unwrap().log)
    }
}
