//! Stage 2: who is calling. A credential is judged before anything else of the request is looked at,
//! so that a stranger learns nothing from the rest.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use crate::caller::Caller;
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::incoming::{Credential, Incoming};

pub async fn identify(desk: &Desk, mount: &Mount, incoming: &Incoming) -> Result<Caller, Fault> {
    if let Err(fault) = &incoming.body
        && fault.kind == FaultKind::WrongHost
    {
        // A page in somebody's browser must not even learn whether its credential would do.
        return Err(fault.clone());
    }
    match &incoming.credential {
        Credential::Missing => Err(Fault::new(
            FaultKind::Unauthenticated,
            "An access token is required: send it as `Authorization: Bearer`.",
        )),
        Credential::Unusable => Err(Fault::new(
            FaultKind::Unauthenticated,
            "The access token must be sent once, as `Authorization: Bearer`, and nowhere else.",
        )),
        Credential::Bearer(_) => desk.identity.identify(&incoming.credential, &mount.resource).await,
    }
}

const MOST_ADDRESSES: usize = 4096;

/// Refusals of unknown callers, counted by address until the next second's record, so that a flood
/// of strangers costs one line a second instead of one each.
#[derive(Default)]
pub struct Strangers(Mutex<HashMap<Option<IpAddr>, u64>>);

impl Strangers {
    pub(crate) fn count(&self, address: IpAddr) {
        if let Ok(mut counts) = self.0.lock() {
            let known = counts.contains_key(&Some(address)) || counts.len() < MOST_ADDRESSES;
            *counts.entry(known.then_some(address)).or_default() += 1;
        }
    }

    /// What was counted since the last time, as audit records; `None` stands for all further addresses.
    pub fn take(&self) -> Vec<(Option<IpAddr>, u64)> {
        let taken = self.0.lock().map(|mut counts| std::mem::take(&mut *counts));
        taken.unwrap_or_default().into_iter().collect()
    }
}
