//! One run as a whole: registration, a day of user sessions, the list of tools a day later, and what came back. Whatever
//! happens, what was booked is cancelled before the report.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::super::doctor::Doctor;
use super::super::intent::{IntentFile, KnownIntents};
use super::super::target::Target;
use super::bookings::{Bookings, RUN_PREFIX};
use super::drift::differences;
use super::points::{MeasuredCall, SimulationPoints};
use super::random::SeededRandom;
use super::receiver::{ReceiverRules, Refused};
use super::user_session::{Blip, UserSession};
use crate::command::ProbeReport;
use crate::report::shown;
use crate::rpc::ProbeCredential;

/// So many sessions go on at the same time.
const MAX_AT_ONCE: usize = 64;
/// After the last completion, for one more that must not come.
const SETTLE: Duration = Duration::from_millis(500);
/// For what was booked, after the time of the run is over.
const CANCEL_TIME: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

pub(super) struct SimulationOptions {
    /// For each intent.
    pub(super) sessions: usize,
    /// Over which the sessions begin.
    pub(super) dispatch: Duration,
    /// How often an order is tracked.
    pub(super) tracks: usize,
    pub(super) speed: u32,
    pub(super) seed: u64,
    /// How long completions are waited for.
    pub(super) completion_wait: Duration,
    /// When everything is over, whatever the server does.
    pub(super) until: Instant,
}

/// Hours that pass in the run and nowhere else.
#[derive(Default)]
pub(super) struct SimulatedClock(AtomicBool);

impl SimulatedClock {
    fn pass_a_day(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(super) fn has_passed_a_day(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Whether the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunState {
    Going,
    /// Nothing new is begun; what was booked is cancelled.
    Stopping,
}

pub(super) struct State {
    pub(super) points: SimulationPoints,
    pub(super) calls: Vec<MeasuredCall>,
    pub(super) bookings: Bookings,
    pub(super) refused: Refused,
    pub(super) limited: usize,
    pub(super) repeats: usize,
    pub(super) tracked: usize,
    /// Refusals with a code of the intent, as `tool with CODE`.
    pub(super) refusals: BTreeMap<String, usize>,
    completed_at: Option<Instant>,
    partner_id: String,
}

pub(super) struct Simulation {
    pub(super) target: Target,
    pub(super) options: SimulationOptions,
    pub(super) receiver: Option<ReceiverRules>,
    pub(super) clock: SimulatedClock,
    pub(super) started: Instant,
    /// What begins every id of this run.
    pub(super) run: String,
    run_state: watch::Sender<RunState>,
    state: Mutex<State>,
}

impl Simulation {
    pub(super) fn new(target: Target, options: SimulationOptions, receiver: Option<ReceiverRules>) -> Simulation {
        let nanos = super::super::doctor::now().unix_timestamp_nanos();
        Simulation {
            target,
            options,
            receiver,
            clock: SimulatedClock::default(),
            started: Instant::now(),
            run: format!("{RUN_PREFIX}{nanos:x}"),
            run_state: watch::Sender::new(RunState::Going),
            state: Mutex::new(State {
                points: SimulationPoints::new(),
                calls: Vec::new(),
                bookings: Bookings::default(),
                refused: Refused::default(),
                limited: 0,
                repeats: 0,
                tracked: 0,
                refusals: BTreeMap::new(),
                completed_at: None,
                partner_id: String::new(),
            }),
        }
    }

    /// Never held while anything is waited for.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn partner_id(&self) -> String {
        self.state().partner_id.clone()
    }

    pub(super) fn stop(&self) {
        self.run_state.send_replace(RunState::Stopping);
    }

    pub(super) fn run_state(&self) -> RunState {
        if Instant::now() >= self.options.until { RunState::Stopping } else { *self.run_state.borrow() }
    }

    /// Waits, but not longer than the run goes on.
    pub(super) async fn pause(&self, time: Duration) {
        let mut changes = self.run_state.subscribe();
        let stopped = changes.wait_for(|state| *state == RunState::Stopping);
        let _ = tokio::time::timeout(time, stopped).await;
    }

    pub(super) fn completion_problem(&self, external_id: &str, problem: &str) {
        let label = if external_id.is_empty() { "a completion".to_owned() } else { shown(external_id) };
        let remedy = "See T-140 to T-149 in spec/tomo/clauses.tsv.";
        let problem = format!("{label}: {problem}.");
        let point = &mut self.state().points.completions;
        // A delivery that is tried again is wrong again.
        if !point.problems().any(|known| known == problem) {
            point.wrong(problem, remedy);
        }
    }

    pub(super) fn completed(&self) {
        self.state().completed_at = Some(Instant::now());
    }

    /// When nothing is sent any more: what was booked can still be cancelled after the end.
    pub(super) fn last_call(&self) -> Instant {
        self.options.until + CANCEL_TIME
    }

    pub(super) async fn run(self: &Arc<Simulation>, sandbox: &ProbeCredential, intents: KnownIntents) -> ProbeReport {
        match self.register(sandbox, intents).await {
            Err(why) => {
                let mut state = self.state();
                state.points.rest_not_checked(&why);
            }
            Ok((intents, listed)) => {
                self.dispatch(&intents).await;
                self.wait_for_completions().await;
                self.clock.pass_a_day();
                self.check_drift(&listed).await;
                if self.receiver.is_some() {
                    // One more order, whose completion a key that was replaced is too old for.
                    self.next_day(&intents).await;
                    self.wait_for_completions().await;
                }
                self.sum_up(&intents);
            }
        }
        let mut state = self.state();
        let points = std::mem::replace(&mut state.points, SimulationPoints::new());
        points.finish(&state.calls)
    }

    /// The intents that are served, and the list of tools; or why there is nothing to dispatch.
    async fn register(
        &self,
        sandbox: &ProbeCredential,
        intents: KnownIntents,
    ) -> Result<(Vec<IntentFile>, Value), String> {
        let mut doctor = Doctor::new(&self.target, sandbox, intents, 1, self.options.until)?;
        let served = doctor.register().await;
        let mut problems = doctor.problems();
        problems.extend(doctor.left.iter().map(|left| format!("{left} could not be cancelled.")));
        let mut state = self.state();
        if problems.is_empty() && served.is_empty() {
            problems.push("no intent of the server is known.".to_owned());
        }
        if !problems.is_empty() {
            for problem in problems {
                let remedy = "`frontdesk tomo doctor` says what to do about it.";
                state.points.registration.wrong(format!("probe_failed: {problem}"), remedy);
            }
            return Err("the registration failed".to_owned());
        }
        state.points.registration.note(format!("sandbox_ok, {} tools called", doctor.called));
        let callback = doctor.listed.pointer("/tools/0/_meta/tomo/completion_callback").and_then(Value::as_str);
        state.partner_id = callback.and_then(|url| url.rsplit('/').next()).unwrap_or_default().to_owned();
        Ok((served, doctor.listed))
    }

    /// All sessions of all intents, begun at random moments.
    async fn dispatch(self: &Arc<Simulation>, intents: &[IntentFile]) {
        let mut random = SeededRandom::new(self.options.seed);
        let span = u64::try_from(self.options.dispatch.as_millis()).unwrap_or(u64::MAX);
        let mut planned: Vec<(Duration, UserSession)> = Vec::new();
        for intent in intents {
            for number in 0..self.options.sessions {
                let blip = match (number, random.below(4)) {
                    (0, _) | (_, 0) => Blip::LostAnswer,
                    (1, _) | (_, 1) => Blip::CutConnection(Duration::from_millis(random.below(40))),
                    _ => Blip::None,
                };
                let begins = Duration::from_millis(random.below(span));
                planned.push((begins, self.session(intent, number, blip)));
            }
        }
        planned.sort_by_key(|(begins, _)| *begins);
        let began = Instant::now();
        let mut running = JoinSet::new();
        for (begins, session) in planned {
            self.pause(begins.saturating_sub(began.elapsed())).await;
            while running.len() >= MAX_AT_ONCE {
                running.join_next().await;
            }
            if self.run_state() == RunState::Stopping {
                break;
            }
            running.spawn(session.run());
        }
        while running.join_next().await.is_some() {}
    }

    async fn next_day(self: &Arc<Simulation>, intents: &[IntentFile]) {
        for (number, intent) in intents.iter().enumerate() {
            if self.run_state() == RunState::Going {
                self.session(intent, self.options.sessions + number, Blip::None).run().await;
            }
        }
    }

    fn session(self: &Arc<Simulation>, intent: &IntentFile, number: usize, blip: Blip) -> UserSession {
        UserSession { simulation: Arc::clone(self), intent: intent.clone(), number, blip }
    }

    async fn check_drift(&self, before: &Value) {
        let listed = match self.target.client(&self.target.credential, self.last_call()) {
            Ok(mut client) => client.send("tools/list", None).await,
            Err(problem) => Err(problem),
        };
        let mut state = self.state();
        let point = &mut state.points.drift;
        match listed.and_then(|exchange| exchange.result().cloned()) {
            Err(problem) => point.wrong(format!("tools/list: {problem}."), "Answer tools/list every day (§2)."),
            Ok(after) => {
                for line in differences(before, &after) {
                    point.wrong(
                        format!("{line}."),
                        "TOMO takes that for drift: raise intent_version and register again.",
                    );
                }
            }
        }
    }

    /// Until every booking that is over was reported, or the time for that is.
    async fn wait_for_completions(&self) {
        if self.receiver.is_none() {
            return;
        }
        let deadline = Instant::now() + self.options.completion_wait;
        while Instant::now() < deadline && !self.state().bookings.missing().is_empty() {
            // Also when the run is being stopped: what was cancelled is reported, too.
            tokio::time::sleep(POLL).await;
        }
        while self.state().completed_at.is_some_and(|at| at.elapsed() < SETTLE) {
            tokio::time::sleep(POLL).await;
        }
    }

    fn sum_up(&self, intents: &[IntentFile]) {
        let mut state = self.state();
        let State { points, bookings, refused, limited, repeats, tracked, refusals, .. } = &mut *state;
        let booked = bookings.booked_count();
        points.answers.note(format!("{booked} booked"));
        for (refusal, times) in refusals {
            points.answers.note(format!("{refusal}, {}", counted(*times, "time", "times")));
        }
        if booked == 0 {
            points.answers.wrong("no session could book.", "See that the first examples of the intent can be booked.");
        }
        match repeats {
            0 => points.repeats.not_checked("nothing was booked twice"),
            _ => points.repeats.note(format!("{repeats} repeats")),
        }
        let can_track = intents.iter().flat_map(|intent| &intent.tools).any(|tool| tool.role == "track");
        match tracked {
            0 if can_track => points.tracking.not_checked("nothing was tracked"),
            0 => points.tracking.note("no tool of the intents tracks"),
            _ => points.tracking.note(counted(*tracked, "time", "times")),
        }
        if *limited > 0 {
            let calls = counted(*limited, "call was", "calls were");
            points.limits.note(format!("{calls} limited"));
        }
        if self.run_state() == RunState::Stopping {
            points.answers.not_checked("the run was stopped before its end");
        }
        let Some(rules) = &self.receiver else {
            points.completions.not_checked("--receive takes them; it was not given");
            return;
        };
        let missing = bookings.missing();
        if !missing.is_empty() {
            let seconds = self.options.completion_wait.as_secs();
            let problem = format!("no completion came within {seconds} seconds for {}.", missing.join(", "));
            points.completions.wrong(problem, "Report every order that is over to the completion_callback.");
        }
        if refused.count < rules.fail_first {
            points.completions.not_checked(format!("only {} of --fail-first {} came", refused.count, rules.fail_first));
        }
        points.completions.note(format!("{} completed", bookings.completed_count()));
        if bookings.repeated > 0 {
            points.completions.note(format!("{} came more than once", bookings.repeated));
        }
        if bookings.foreign > 0 {
            points.completions.note(format!("{} are of other runs", bookings.foreign));
        }
    }
}

fn counted(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
