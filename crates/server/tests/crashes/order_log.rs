//! What was ordered and what was answered, as a careful caller would keep it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Something to be done once, for the dealership of this number.
#[derive(Clone)]
pub(crate) struct Order {
    pub(crate) dealership: usize,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

impl Order {
    pub(crate) fn key(&self) -> &str {
        self.arguments["idempotency_key"].as_str().unwrap()
    }
}

/// Orders and answers, by key.
#[derive(Default)]
pub(crate) struct OrderLog {
    sent: BTreeMap<String, Order>,
    answered: BTreeMap<String, String>,
}

impl OrderLog {
    /// Written down before it goes out: whoever dies meanwhile, it can be asked for again.
    pub(crate) fn send(&mut self, order: &Order) {
        self.sent.insert(order.key().to_owned(), order.clone());
    }

    /// A key answers with the same bytes, whoever asks and however often.
    pub(crate) fn answer(&mut self, key: &str, text: &str) {
        assert!(!text.contains(r#""error":"#), "{key}: {text}");
        match self.answered.entry(key.to_owned()) {
            Entry::Occupied(earlier) => assert_eq!(text, earlier.get(), "{key} answers otherwise than before"),
            Entry::Vacant(free) => {
                free.insert(text.to_owned());
            }
        }
    }

    pub(crate) fn orders(&self) -> Vec<Order> {
        self.sent.values().cloned().collect()
    }

    pub(crate) fn unanswered(&self) -> Vec<Order> {
        self.sent.values().filter(|order| !self.answered.contains_key(order.key())).cloned().collect()
    }

    pub(crate) fn sent(&self) -> usize {
        self.sent.len()
    }

    pub(crate) fn answered(&self) -> usize {
        self.answered.len()
    }

    pub(crate) fn count(&self, which: impl Fn(&Order) -> bool) -> usize {
        self.sent.values().filter(|order| which(order)).count()
    }

    /// Every lead and its latest version, as the answers have it.
    pub(crate) fn leads(&self) -> BTreeSet<String> {
        let mut latest: BTreeMap<String, i64> = BTreeMap::new();
        for text in self.answered.values() {
            let answer: Value = serde_json::from_str(text).unwrap();
            let version = answer["version"].as_i64().unwrap();
            let known = latest.entry(answer["id"].as_str().unwrap().to_owned()).or_default();
            *known = version.max(*known);
        }
        latest.into_iter().map(|(id, version)| format!("{id} {version}")).collect()
    }

    /// Takes in what another one has.
    pub(crate) fn add(&mut self, other: OrderLog) {
        self.sent.extend(other.sent);
        self.answered.extend(other.answered);
    }
}
