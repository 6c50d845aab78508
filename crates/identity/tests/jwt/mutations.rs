//! No text that differs from a good token in anything is a good token.

use frontdesk_engine::model::fault::FaultKind;
use frontdesk_identity::JwtVerifier;

use crate::support::{claims, identify, judge, settings, token};

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

async fn assert_bad(judge: &JwtVerifier, text: &str) {
    let fault = identify(judge, text).await.map(|_| text.to_owned()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unauthenticated);
}

/// [K17] Each byte in turn becomes each other ASCII character, is left out, doubled, and joined by a letter.
#[tokio::test]
async fn no_token_with_one_letter_changed_is_good() {
    let judge = judge(settings());
    let good = token(&claims());
    assert!(identify(&judge, &good).await.is_ok());
    for at in 0..good.len() {
        let (before, after) = (&good[..at], &good[at + 1..]);
        for other in (0..128_u8).map(char::from).filter(|other| !good[at..].starts_with(*other)) {
            assert_bad(&judge, &format!("{before}{other}{after}")).await;
        }
        assert_bad(&judge, &format!("{before}{after}")).await;
        assert_bad(&judge, &good[..at]).await;
        for more in LETTERS.chars().chain(['.', '=', ' ', '\0', 'é']) {
            assert_bad(&judge, &format!("{before}{more}{}", &good[at..])).await;
        }
    }
    for more in LETTERS.chars().chain(['.', '=', ' ', '\n', '\0']) {
        assert_bad(&judge, &format!("{good}{more}")).await;
    }
}

/// [K17] Several changes at once, at places and with letters left to a chance that can be repeated.
#[tokio::test]
async fn no_token_with_several_letters_changed_is_good() {
    let judge = judge(settings());
    let good = token(&claims());
    let mut state = 1_u64;
    let mut below = |end: usize| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    };
    for _ in 0..20_000 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..=below(8) {
            let at = below(bytes.len());
            match below(4) {
                0 => bytes[at] = LETTERS.as_bytes()[below(64)],
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, LETTERS.as_bytes()[below(64)]),
                _ => bytes.swap(at, below(good.len()).min(at)),
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        if text != good {
            assert_bad(&judge, &text).await;
        }
    }
}
