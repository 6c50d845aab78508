//! How ids, versions and tools of intents are written.

pub(super) fn is_intent_id(text: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_lowercase())
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    text.split_once('.').is_some_and(|(domain, name)| is_word(domain) && is_word(name))
}

pub(super) fn is_version(text: &str) -> bool {
    let numbers: Option<Vec<u32>> =
        text.strip_prefix('v').map(|rest| rest.split('.').filter_map(|number| number.parse().ok()).collect());
    numbers.is_some_and(|numbers| numbers.len() == 3 && text.split('.').count() == 3)
}

/// §2: snake case, at least a verb and a noun.
pub(super) fn is_tool_name(text: &str) -> bool {
    let words: Vec<&str> = text.split('_').collect();
    let is_word =
        |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    words.len() >= 2 && words.iter().all(is_word)
}
