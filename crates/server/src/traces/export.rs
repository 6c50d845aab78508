//! The task that sends: calls are gathered for a moment and posted together. It has all the time of the world and no
//! call's; while the collector is slow the queue fills, and what finds no room in it is dropped.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep, timeout_at};

use super::Counts;
use super::post::{Post, Trouble};
use super::span::{Call, request};
use crate::observe::Log;

/// So many calls are posted together,
const TOGETHER: usize = 512;
/// or those that came within this time.
const LINGER: Duration = Duration::from_secs(1);
/// How long a collector that is not there or too busy is left alone before each further try.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// How soon the end is noticed during a pause.
const GLANCE: Duration = Duration::from_millis(50);

/// Runs until nobody can send any more and what was sent has been tried.
pub(super) async fn export(mut calls: Receiver<Call>, mut post: Post, counts: Arc<Counts>, log: Arc<Log>) {
    let mut complained = false;
    while let Some(first) = calls.recv().await {
        let batch = gather(first, &mut calls).await;
        let count = batch.len() as u64;
        let delivered = deliver(Bytes::from(request(&batch)), &mut post, &calls).await;
        counts.waiting.fetch_sub(count, Ordering::Relaxed);
        match delivered {
            Ok(rejected) => {
                counts.sent.fetch_add(count, Ordering::Relaxed);
                if std::mem::take(&mut complained) {
                    log.say("traces are delivered again");
                }
                if rejected > 0 {
                    log.say(&format!("the collector of traces took a batch, but not {rejected} spans of it"));
                }
            }
            Err(why) => {
                counts.undelivered.fetch_add(count, Ordering::Relaxed);
                if !std::mem::replace(&mut complained, true) {
                    log.say(&format!(
                        "traces cannot be delivered: {why}. Calls go on without; check `traces.endpoint` and its collector"
                    ));
                }
            }
        }
    }
}

async fn gather(first: Call, calls: &mut Receiver<Call>) -> Vec<Call> {
    let until = Instant::now() + LINGER;
    let mut batch = vec![first];
    while batch.len() < TOGETHER {
        match timeout_at(until, calls.recv()).await {
            Ok(Some(call)) => batch.push(call),
            Ok(None) | Err(_) => break,
        }
    }
    batch
}

/// How many spans the collector did not want, or why it has none.
async fn deliver(body: Bytes, post: &mut Post, calls: &Receiver<Call>) -> Result<u64, String> {
    let mut pauses = PAUSES.into_iter();
    loop {
        let why = match post.send(body.clone()).await {
            Ok(rejected) => return Ok(rejected),
            Err(Trouble::Lasting(why)) => return Err(why),
            Err(Trouble::Passing(why)) => why,
        };
        let Some(pause) = pauses.next() else {
            return Err(why);
        };
        let until = Instant::now() + pause;
        while Instant::now() < until {
            // Whoever closes does not wait for better times.
            if calls.is_closed() {
                return Err(why);
            }
            sleep(GLANCE).await;
        }
    }
}
