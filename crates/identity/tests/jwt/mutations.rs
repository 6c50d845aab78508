//! A token with any change is invalid.

use frontdesk_engine::model::fault::FaultKind;
use frontdesk_identity::JwtVerifier;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::support::{claims, identify, settings, token, verifier};

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

async fn assert_invalid(verifier: &JwtVerifier, text: &str) {
    let fault = identify(verifier, text).await.map(|_| text.to_owned()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unauthenticated);
}

/// [K17] Each byte in turn is replaced by each other ASCII character, removed, truncated and preceded by a letter.
#[tokio::test]
async fn no_token_with_one_letter_changed_is_valid() {
    let verifier = verifier(settings());
    let valid = token(&claims());
    assert!(identify(&verifier, &valid).await.is_ok());
    for at in 0..valid.len() {
        let (before, after) = (&valid[..at], &valid[at + 1..]);
        for other in (0..128_u8).map(char::from).filter(|other| !valid[at..].starts_with(*other)) {
            assert_invalid(&verifier, &format!("{before}{other}{after}")).await;
        }
        assert_invalid(&verifier, &format!("{before}{after}")).await;
        assert_invalid(&verifier, &valid[..at]).await;
        for more in LETTERS.chars().chain(['.', '=', ' ', '\0', 'é']) {
            assert_invalid(&verifier, &format!("{before}{more}{}", &valid[at..])).await;
        }
    }
    for more in LETTERS.chars().chain(['.', '=', ' ', '\n', '\0']) {
        assert_invalid(&verifier, &format!("{valid}{more}")).await;
    }
}

/// [K17] Several changes at once, at random positions.
#[test]
fn no_token_with_several_letters_changed_is_valid() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let verifier = verifier(settings());
    let valid = token(&claims());
    let config = Config { cases: 20_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let tested = runner.run(&vec(mutation(), 1..=8), |mutations| {
        let mut bytes = valid.clone().into_bytes();
        for mutation in &mutations {
            mutation.apply(&mut bytes);
        }
        let text = String::from_utf8(bytes).unwrap();
        if text != valid {
            runtime.block_on(assert_invalid(&verifier, &text));
        }
        Ok(())
    });
    tested.unwrap();
}

#[derive(Debug, Clone)]
enum Mutation {
    Replace(Index, u8),
    Remove(Index),
    Insert(Index, u8),
    Swap(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let letter = || select(LETTERS.as_bytes());
    prop_oneof![
        (any::<Index>(), letter()).prop_map(|(at, letter)| Mutation::Replace(at, letter)),
        any::<Index>().prop_map(Mutation::Remove),
        (any::<Index>(), letter()).prop_map(|(at, letter)| Mutation::Insert(at, letter)),
        any::<(Index, Index)>().prop_map(|(one, other)| Mutation::Swap(one, other)),
    ]
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        match self {
            Mutation::Replace(at, letter) => bytes[at.index(length)] = *letter,
            Mutation::Remove(at) => drop(bytes.remove(at.index(length))),
            Mutation::Insert(at, letter) => bytes.insert(at.index(length), *letter),
            Mutation::Swap(one, other) => bytes.swap(one.index(length), other.index(length)),
        }
    }
}
