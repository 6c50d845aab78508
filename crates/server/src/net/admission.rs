//! Who may open one more connection: a cap in all and a cap per address. It never waits and never queues.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use super::caps::Caps;
use super::gauges::{Gauges, count};

pub(super) struct Admission {
    connections: usize,
    per_address: usize,
    open: Mutex<Open>,
    gauges: Arc<Gauges>,
}

/// The right to one connection; dropping it gives the place back.
pub(super) struct Place {
    admission: Arc<Admission>,
    neighbourhood: IpAddr,
}

#[derive(Default)]
struct Open {
    all: usize,
    by_neighbourhood: HashMap<IpAddr, usize>,
}

impl Admission {
    pub(super) fn new(caps: &Caps, gauges: Arc<Gauges>) -> Arc<Self> {
        Arc::new(Self {
            connections: caps.connections,
            per_address: caps.per_address,
            open: Mutex::new(Open::default()),
            gauges,
        })
    }

    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let neighbourhood = neighbourhood(address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.all >= self.connections {
            count(&self.gauges.refused_full);
            return None;
        }
        let here = open.by_neighbourhood.entry(neighbourhood).or_insert(0);
        if *here >= self.per_address {
            // With a cap of zero the entry is fresh and would stay for ever.
            if *here == 0 {
                open.by_neighbourhood.remove(&neighbourhood);
            }
            count(&self.gauges.refused_address);
            return None;
        }
        *here += 1;
        open.all += 1;
        count(&self.gauges.accepted);
        self.gauges.open.fetch_add(1, Ordering::Relaxed);
        Some(Place { admission: Arc::clone(self), neighbourhood })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.admission.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all = open.all.saturating_sub(1);
        // An address that left is forgotten, so that the table never outgrows the open connections.
        if let Some(here) = open.by_neighbourhood.get_mut(&self.neighbourhood) {
            *here = here.saturating_sub(1);
            if *here == 0 {
                open.by_neighbourhood.remove(&self.neighbourhood);
            }
        }
        self.admission.gauges.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The part of an address that one subscriber cannot change at will.
fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let prefix = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(prefix))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(connections: usize, per_address: usize) -> Arc<Admission> {
        let caps = Caps { connections, per_address, ..Caps::default() };
        Admission::new(&caps, Arc::new(Gauges::default()))
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_address_is_refused_at_its_cap_while_another_is_let_in() {
        let admission = admission(10, 2);
        let first = admission.admit(ip("192.0.2.1"));
        let _second = admission.admit(ip("192.0.2.1"));
        assert!(admission.admit(ip("192.0.2.1")).is_none());
        assert!(admission.admit(ip("192.0.2.2")).is_some());
        drop(first);
        assert!(admission.admit(ip("192.0.2.1")).is_some());
    }

    #[test]
    fn the_addresses_of_one_ipv6_network_share_a_cap() {
        let admission = admission(10, 1);
        let _place = admission.admit(ip("2001:db8:1:2::1"));
        assert!(admission.admit(ip("2001:db8:1:2:ffff::9")).is_none());
        assert!(admission.admit(ip("2001:db8:1:3::1")).is_some());
    }

    #[test]
    fn an_ipv4_address_inside_ipv6_counts_as_itself() {
        let admission = admission(10, 1);
        let _place = admission.admit(ip("::ffff:192.0.2.1"));
        assert!(admission.admit(ip("192.0.2.1")).is_none());
        assert!(admission.admit(ip("::ffff:192.0.2.2")).is_some());
    }

    #[test]
    fn a_full_server_refuses_every_address_and_remembers_none_that_left() {
        let admission = admission(2, 2);
        let places: Vec<_> = ["192.0.2.1", "192.0.2.2"].map(|text| admission.admit(ip(text)).unwrap()).into();
        assert!(admission.admit(ip("192.0.2.3")).is_none());
        assert_eq!((admission.gauges.snapshot().open, admission.gauges.snapshot().refused_full), (2, 1));
        drop(places);
        assert_eq!(admission.gauges.snapshot().open, 0);
        assert!(admission.open.lock().unwrap().by_neighbourhood.is_empty());
    }
}
