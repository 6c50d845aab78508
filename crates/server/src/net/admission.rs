//! Limits the number of open connections, in total and per address. It never waits and never queues.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use frontdesk_engine::limits::ip_prefix::ip_prefix;

use super::counters::{ConnectionCounters, count};
use super::limits::ConnectionLimits;
use crate::config::IpNetwork;

pub(super) struct Admission {
    connections: usize,
    per_address: usize,
    trusted_proxies: Vec<IpNetwork>,
    open: Mutex<OpenConnections>,
    counters: Arc<ConnectionCounters>,
}

/// The permission for one connection, returned when it is dropped.
pub(super) struct ConnectionPermit {
    admission: Arc<Admission>,
    ip_prefix: IpAddr,
}

#[derive(Default)]
struct OpenConnections {
    total: usize,
    by_ip_prefix: HashMap<IpAddr, usize>,
}

impl Admission {
    pub(super) fn new(limits: &ConnectionLimits, counters: Arc<ConnectionCounters>) -> Arc<Self> {
        Arc::new(Self {
            connections: limits.connections,
            per_address: limits.per_address,
            trusted_proxies: limits.trusted_proxies.clone(),
            open: Mutex::new(OpenConnections::default()),
            counters,
        })
    }

    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionPermit> {
        let ip_prefix = ip_prefix(address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.total >= self.connections {
            count(&self.counters.refused_full);
            return None;
        }
        let is_proxy = self.trusted_proxies.iter().any(|network| network.contains(address.to_canonical()));
        let here = open.by_ip_prefix.entry(ip_prefix).or_insert(0);
        if *here >= self.per_address && !is_proxy {
            // With a limit of zero the new entry would stay for ever.
            if *here == 0 {
                open.by_ip_prefix.remove(&ip_prefix);
            }
            count(&self.counters.refused_address);
            return None;
        }
        *here += 1;
        open.total += 1;
        count(&self.counters.accepted);
        self.counters.open.fetch_add(1, Ordering::Relaxed);
        Some(ConnectionPermit { admission: Arc::clone(self), ip_prefix })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.admission.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.total = open.total.saturating_sub(1);
        // An address without connections is removed, so that the map does not grow.
        if let Some(here) = open.by_ip_prefix.get_mut(&self.ip_prefix) {
            *here = here.saturating_sub(1);
            if *here == 0 {
                open.by_ip_prefix.remove(&self.ip_prefix);
            }
        }
        self.admission.counters.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(connections: usize, per_address: usize) -> Arc<Admission> {
        let limits = ConnectionLimits { connections, per_address, ..ConnectionLimits::default() };
        Admission::new(&limits, Arc::new(ConnectionCounters::default()))
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
    fn a_trusted_proxy_has_no_cap_of_its_own() {
        let trusted_proxies = vec![IpNetwork::parse("10.0.0.0/8").unwrap()];
        let limits = ConnectionLimits { connections: 4, per_address: 1, trusted_proxies, ..Default::default() };
        let admission = Admission::new(&limits, Arc::new(ConnectionCounters::default()));
        let places: Vec<_> = (0..3).map(|_| admission.admit(ip("::ffff:10.0.0.1")).unwrap()).collect();
        let _other = admission.admit(ip("192.0.2.1")).unwrap();
        assert!(admission.admit(ip("10.0.0.1")).is_none(), "the total still counts");
        drop(places);
        assert!(admission.admit(ip("192.0.2.1")).is_none());
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
    fn a_full_server_refuses_every_address() {
        let admission = admission(2, 2);
        let places: Vec<_> = ["192.0.2.1", "192.0.2.2"].map(|text| admission.admit(ip(text)).unwrap()).into();
        assert!(admission.admit(ip("192.0.2.3")).is_none());
        assert_eq!((admission.counters.snapshot().open, admission.counters.snapshot().refused_full), (2, 1));
        drop(places);
        assert_eq!(admission.counters.snapshot().open, 0);
        assert!(admission.open.lock().unwrap().by_ip_prefix.is_empty());
    }
}
