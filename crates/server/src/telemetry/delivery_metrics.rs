//! Counts of deliveries for the metrics page, and what the log says about them. No label names a tenant.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use frontdesk_engine::TenantId;
use frontdesk_engine::delivery::{AttemptOutcome, DeliveryNotice};
use frontdesk_engine::model::timestamp::Millis;

#[derive(Default)]
pub struct DeliveryMetrics {
    /// Attempts by contract and outcome.
    attempts: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    /// When the oldest delivery was made that has not arrived, by who reads the events of which tenant.
    oldest: Mutex<BTreeMap<(&'static str, TenantId, String), Millis>>,
}

/// All counts, in a stable order.
pub(super) struct DeliverySnapshot {
    pub(super) attempts: BTreeMap<(&'static str, &'static str), u64>,
    /// The oldest of each contract.
    pub(super) oldest: BTreeMap<&'static str, Millis>,
}

impl DeliveryMetrics {
    pub(super) fn add(&self, notice: &DeliveryNotice<'_>) {
        match notice {
            DeliveryNotice::Attempt { contract, outcome, .. } => {
                let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
                *attempts.entry((contract, outcome.as_str())).or_default() += 1;
            }
            DeliveryNotice::Backlog { contract, tenant, consumer, oldest } => {
                let mut all = self.oldest.lock().unwrap_or_else(PoisonError::into_inner);
                let key = (*contract, (*tenant).clone(), (*consumer).to_owned());
                match oldest {
                    Some(at) => all.insert(key, *at),
                    None => all.remove(&key),
                };
            }
            DeliveryNotice::Held { .. } | DeliveryNotice::EventSkipped { .. } => {}
        }
    }

    pub(super) fn snapshot(&self) -> DeliverySnapshot {
        let attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut oldest: BTreeMap<&'static str, Millis> = BTreeMap::new();
        for ((contract, ..), at) in self.oldest.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let of_contract = oldest.entry(*contract).or_insert(*at);
            *of_contract = (*of_contract).min(*at);
        }
        DeliverySnapshot { attempts, oldest }
    }
}

/// One line for each attempt, by how much it concerns the operator.
pub(super) fn log(notice: &DeliveryNotice<'_>) {
    match notice {
        DeliveryNotice::Attempt { contract, tenant, id, subject, tries, outcome, result, next_try_at } => {
            let tenant = tenant.as_str();
            let next = next_try_at.map(|at| at.to_rfc3339()).unwrap_or_default();
            match outcome {
                AttemptOutcome::Delivered => {
                    tracing::info!(contract, tenant, id, subject, tries, result, "delivery arrived");
                }
                AttemptOutcome::Retry => {
                    tracing::warn!(
                        contract,
                        tenant,
                        id,
                        subject,
                        tries,
                        result,
                        next,
                        "delivery failed; it is tried again"
                    );
                }
                AttemptOutcome::Alarm => {
                    tracing::error!(
                        contract,
                        tenant,
                        id,
                        subject,
                        tries,
                        result,
                        next,
                        "delivery refused: no key is accepted; it is kept and tried again"
                    );
                }
                AttemptOutcome::Dead => {
                    tracing::error!(
                        contract,
                        tenant,
                        id,
                        subject,
                        tries,
                        result,
                        "delivery given up; it can be replayed"
                    );
                }
            }
        }
        DeliveryNotice::Held { contract, tenant, consumer, reason } => {
            let tenant = tenant.as_str();
            tracing::warn!(contract, tenant, consumer, reason, "deliveries are kept and not sent");
        }
        DeliveryNotice::EventSkipped { contract, seq, cause } => {
            tracing::error!(contract, seq, error = cause, "event skipped: what is owed for it is not known");
        }
        DeliveryNotice::Backlog { .. } => {}
    }
}
