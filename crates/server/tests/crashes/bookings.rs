//! A partner books rooms and places at a workshop on many connections while the desk is killed at moments left to
//! chance. Whatever had no answer is asked for again with its key: then each key has its one booking, and nothing is
//! sold twice.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use frontdesk_testkit::TestRandom;
use frontdesk_testkit::app::TestApp;

use super::booking_tables::BookingTables;
use super::partner::{BookingAnswer, BookingLog, BookingOrder, PartnerLine, orders};
use super::seed::{rounds, seeded};
use super::stage::Stage;

const CALLERS: usize = 12;
/// Longer than any part of a round takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn a_killed_desk_on_sqlite_books_each_key_once() {
    survive("bookings on SQLite", Stage::embedded().await).await;
}

#[tokio::test]
async fn a_killed_desk_on_postgres_books_each_key_once() {
    survive("bookings on PostgreSQL", Stage::on_postgres().await).await;
}

async fn survive(whose: &str, mut stage: Stage) {
    let random = seeded(whose);
    let before = BookingTables::read(&stage);
    before.check_capacity();
    let mut all = BookingLog::default();
    let (mut round, mut unanswered, mut answer_lost) = (0, 0, 0);
    // As often as asked for, and on until calls were cut off, however fast the machine is.
    while round < rounds() || unanswered == 0 {
        assert!(round < 20 * rounds(), "no kill came while somebody waited for an answer");
        round += 1;
        let queue = orders(&stage.desk, round, &random).await;
        let (log, left);
        (stage, log, left) = cut_off(stage, queue, &random).await;

        // What the tables hold now was committed before the end, answered or not.
        let committed = BookingTables::read(&stage).bookings.len() - all.booked.len();
        let (sent, booked, open) = (log.sent.len(), log.booked.len(), log.unanswered());
        assert!((booked..=booked + open.len()).contains(&committed), "{booked} booked, {committed} there, {sent} sent");
        unanswered += open.len();
        // One of them was lost on the way.
        assert!(committed > booked, "round {round}: a booking is gone");
        answer_lost += committed - booked - 1;

        // All that was sent is sent again and then what never was, so that the last rooms and places go, too.
        let booked: Vec<BookingOrder> = log.booked.keys().map(|key| log.sent[key].clone()).collect();
        let log = send_all(&stage.desk, open.into_iter().chain(booked).chain(left).collect(), log).await;
        assert_eq!(log.answers(), log.sent.len());
        all.add(log);
        BookingTables::read(&stage).check(&before, &all);
        assert!(stage.database.has_no_gaps(&stage.desk), "round {round}");
        let (code, out, errors) = stage.desk.command(&["audit", "verify"]);
        assert_eq!(code, Some(0), "{out}{errors}");
        assert!(out.contains("valid   tenant:htl_monsoon") && out.contains("valid   tenant:dlr_bengaluru"), "{out}");
        if round % 20 == 0 || round >= rounds() {
            eprintln!(
                "{whose}: killed {round} times among {} keys; {unanswered} had no answer when it died, and \
                 {answer_lost} of them had been booked all the same; {} were refused",
                all.sent.len(),
                all.refused.len()
            );
        }
    }
    assert!(all.refused.values().any(|code| code == "NOT_AVAILABLE"), "nothing was sold out");
}

/// Sends from the queue until the desk is killed. What was sent, and what was not.
async fn cut_off(
    stage: Stage,
    queue: Vec<BookingOrder>,
    random: &TestRandom,
) -> (Stage, BookingLog, Vec<BookingOrder>) {
    // A third at most, so that everybody is still at work.
    let enough = 1 + random.below(queue.len() / 3);
    let counter = Arc::new(Counter::new(queue, BookingLog::default()));
    // A kill seldom comes between a commit and its answer, so one answer of each round is lost in any case.
    let lost = counter.next().unwrap();
    counter.state.lock().unwrap().0.retain(|order| order.key != lost.key);
    let answer = PartnerLine::new(&stage.desk).order(&lost).await;
    assert!(matches!(answer, BookingAnswer::Booked(_)), "{}: what was just offered is there", lost.key);
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(work(PartnerLine::new(&stage.desk), Arc::clone(&counter)));
    }
    timeout(PATIENCE, counter.answers(enough)).await.unwrap();
    if random.percent(50) {
        tokio::time::sleep(Duration::from_micros(random.number() % 50_000)).await;
    }
    let stage = stage.kill_the_desk().await;
    timeout(PATIENCE, callers.join_all()).await.unwrap();
    let (log, left) = counter.take();
    (stage, log, left)
}

/// Sends all of them, each until it is answered.
async fn send_all(desk: &TestApp, orders: Vec<BookingOrder>, log: BookingLog) -> BookingLog {
    let counter = Arc::new(Counter::new(orders, log));
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(work(PartnerLine::new(desk), Arc::clone(&counter)));
    }
    callers.join_all().await;
    let (log, left) = counter.take();
    assert!(left.is_empty(), "the desk is gone");
    log
}

/// What the callers share.
struct Counter {
    state: Mutex<(VecDeque<BookingOrder>, BookingLog)>,
    /// Told of every answer.
    answered: Notify,
}

impl Counter {
    fn new(orders: Vec<BookingOrder>, log: BookingLog) -> Counter {
        Counter { state: Mutex::new((orders.into(), log)), answered: Notify::new() }
    }

    fn next(&self) -> Option<BookingOrder> {
        let (queue, log) = &mut *self.state.lock().unwrap();
        let order = queue.pop_front()?;
        log.sent.insert(order.key.clone(), order.clone());
        Some(order)
    }

    async fn answers(&self, number: usize) {
        while self.state.lock().unwrap().1.answers() < number {
            self.answered.notified().await;
        }
    }

    fn take(&self) -> (BookingLog, Vec<BookingOrder>) {
        let (queue, log) = std::mem::take(&mut *self.state.lock().unwrap());
        (log, queue.into())
    }
}

/// Until nothing is left, or the desk is gone.
async fn work(mut line: PartnerLine, counter: Arc<Counter>) {
    while let Some(order) = counter.next() {
        let until = Instant::now() + PATIENCE;
        loop {
            match line.order(&order).await {
                BookingAnswer::Booked(booking_ref) => {
                    break counter.state.lock().unwrap().1.book(&order.key, booking_ref);
                }
                BookingAnswer::Refused(code) => break counter.state.lock().unwrap().1.refuse(&order.key, code),
                BookingAnswer::Later(why) => assert!(Instant::now() < until, "{}: {why}", order.key),
                BookingAnswer::Cut => return,
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        counter.answered.notify_one();
    }
}
