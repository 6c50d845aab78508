//! Attacks on the token endpoint: guessed secrets beside a client that knows its own.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::figures::AttackFigure;
use super::victim::Victim;
use super::{AttackOptions, log};
use crate::BenchResult;

const GUESSERS: usize = 8;
const GUESSES_EACH: usize = 150;
const RIGHT: usize = 30;

pub async fn wrong_secrets(options: &AttackOptions) -> BenchResult<Vec<AttackFigure>> {
    log("wrong secrets beside a right one");
    let victim = Victim::start(options, &[])?;
    let (guessed, honest) = (victim.client(0), victim.client(1));
    let mut flood = JoinSet::new();
    for _ in 0..GUESSERS {
        let (route, client) = (victim.route(), guessed.clone());
        flood.spawn(async move {
            let mut granted = 0;
            for guess in 0..GUESSES_EACH {
                let answer = route.request_token(&client, Some(&format!("guess-{guess}"))).await;
                granted += usize::from(answer.is_ok_and(|answer| answer.status == 200));
            }
            granted
        });
    }
    let mut took = Vec::new();
    for _ in 0..RIGHT {
        let began = Instant::now();
        if victim.route().request_token(&honest, None).await.is_ok_and(|answer| answer.status == 200) {
            took.push(began.elapsed());
        }
        sleep(Duration::from_millis(50)).await;
    }
    let granted: usize = flood.join_all().await.into_iter().sum();
    took.sort();
    let right = took.len();
    Ok(vec![AttackFigure {
        what: "wrong secrets from the address of a client with the right one",
        tried: format!("{} guesses, {RIGHT} right ones", GUESSERS * GUESSES_EACH),
        held: format!("{granted} guesses got a token, {right} of {RIGHT} right ones did"),
        quiet: None,
        attacked: took.get(right * 95 / 100).copied(),
        memory: String::new(),
        before: "the right one was refused with the others",
        target: "no guess, every right one",
        is_held: granted == 0 && right == RIGHT,
    }])
}
