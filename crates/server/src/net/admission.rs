//! Limits the number of open connections, in total and per address. At a limit, a connection over which no byte of a
//! request has come yet makes room for a newcomer; without one, the newcomer is refused. It never waits and never queues.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use frontdesk_engine::limits::ip_prefix::ip_prefix;
use tokio::task::AbortHandle;

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
    /// Counts up, so that the smallest is the oldest.
    id: u64,
    has_sent: AtomicBool,
}

#[derive(Default)]
struct OpenConnections {
    total: usize,
    next_id: u64,
    by_ip_prefix: HashMap<IpAddr, AddressConnections>,
}

#[derive(Default)]
struct AddressConnections {
    open: usize,
    /// Those over which no byte of a request has come, oldest first, and how to close them.
    silent: BTreeMap<u64, Option<AbortHandle>>,
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

    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Arc<ConnectionPermit>> {
        let ip_prefix = ip_prefix(address);
        let mut open = self.lock();
        let here = open.by_ip_prefix.get(&ip_prefix).map_or(0, |here| here.open);
        let is_proxy = self.trusted_proxies.iter().any(|network| network.contains(address.to_canonical()));
        if here >= self.per_address && !is_proxy {
            // Honest clients behind the same address get in, and no other address loses anything.
            if !self.close_oldest_of(&mut open, ip_prefix) {
                count(&self.counters.refused_address);
                return None;
            }
        } else if open.total >= self.connections {
            let makes_room = open.most_silent().is_some_and(|address| self.close_oldest_of(&mut open, address));
            if !makes_room {
                count(&self.counters.refused_full);
                return None;
            }
        }
        open.next_id += 1;
        open.total += 1;
        let id = open.next_id;
        let here = open.by_ip_prefix.entry(ip_prefix).or_default();
        here.open += 1;
        here.silent.insert(id, None);
        count(&self.counters.accepted);
        self.counters.open.fetch_add(1, Ordering::Relaxed);
        Some(Arc::new(ConnectionPermit {
            admission: Arc::clone(self),
            ip_prefix,
            id,
            has_sent: AtomicBool::new(false),
        }))
    }

    /// Closes the oldest silent connection of an address. False if it has none.
    fn close_oldest_of(&self, open: &mut OpenConnections, ip_prefix: IpAddr) -> bool {
        let oldest = open.by_ip_prefix.get_mut(&ip_prefix).and_then(|here| here.silent.pop_first());
        let Some((_, task)) = oldest else {
            return false;
        };
        if let Some(task) = task {
            task.abort();
        }
        count(&self.counters.closed_silent);
        self.ended(open, ip_prefix);
        true
    }

    fn ended(&self, open: &mut OpenConnections, ip_prefix: IpAddr) {
        open.total = open.total.saturating_sub(1);
        // An address without connections is removed, so that the map does not grow.
        if let Some(here) = open.by_ip_prefix.get_mut(&ip_prefix) {
            here.open = here.open.saturating_sub(1);
            if here.open == 0 {
                open.by_ip_prefix.remove(&ip_prefix);
            }
        }
        self.counters.open.fetch_sub(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    /// The address with the most silent connections; of two with as many, the one with the oldest. So whoever fills the
    /// server with them makes room for others and not others for it.
    fn most_silent(&self) -> Option<IpAddr> {
        let silent = self.by_ip_prefix.iter().filter_map(|(address, here)| {
            let (oldest, _) = here.silent.first_key_value()?;
            Some((here.silent.len(), u64::MAX - oldest, *address))
        });
        silent.max().map(|(.., address)| address)
    }
}

impl ConnectionPermit {
    /// The task that serves the connection, by which it can be closed while it is silent.
    pub(super) fn served_by(&self, task: AbortHandle) {
        let mut open = self.admission.lock();
        let here = open.by_ip_prefix.get_mut(&self.ip_prefix);
        if let Some(place) = here.and_then(|here| here.silent.get_mut(&self.id)) {
            *place = Some(task);
        }
    }

    /// A byte of a request has come: from now on the connection ends by its deadlines only.
    pub(super) fn request_began(&self) {
        if self.has_sent.load(Ordering::Relaxed) {
            return;
        }
        let mut open = self.admission.lock();
        let here = open.by_ip_prefix.get_mut(&self.ip_prefix);
        // If it is not there, it is being closed for a newcomer, which has its place already.
        if here.is_some_and(|here| here.silent.remove(&self.id).is_some()) {
            self.has_sent.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.admission.lock();
        let here = open.by_ip_prefix.get_mut(&self.ip_prefix);
        if self.has_sent.load(Ordering::Relaxed) || here.is_some_and(|here| here.silent.remove(&self.id).is_some()) {
            self.admission.ended(&mut open, self.ip_prefix);
        }
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

    /// A connection over which a request has begun.
    fn busy(admission: &Arc<Admission>, address: &str) -> Option<Arc<ConnectionPermit>> {
        let permit = admission.admit(ip(address))?;
        permit.request_began();
        Some(permit)
    }

    fn open_of(admission: &Admission, address: &str) -> usize {
        admission.lock().by_ip_prefix.get(&ip(address)).map_or(0, |here| here.open)
    }

    #[test]
    fn one_address_is_refused_at_its_cap_while_another_is_let_in() {
        let admission = admission(10, 2);
        let first = busy(&admission, "192.0.2.1");
        let _second = busy(&admission, "192.0.2.1");
        assert!(busy(&admission, "192.0.2.1").is_none());
        assert!(busy(&admission, "192.0.2.2").is_some());
        drop(first);
        assert!(busy(&admission, "192.0.2.1").is_some());
    }

    #[test]
    fn a_trusted_proxy_has_no_cap_of_its_own() {
        let trusted_proxies = vec![IpNetwork::parse("10.0.0.0/8").unwrap()];
        let limits = ConnectionLimits { connections: 4, per_address: 1, trusted_proxies, ..Default::default() };
        let admission = Admission::new(&limits, Arc::new(ConnectionCounters::default()));
        let places: Vec<_> = (0..3).map(|_| busy(&admission, "::ffff:10.0.0.1").unwrap()).collect();
        let _other = busy(&admission, "192.0.2.1").unwrap();
        assert!(busy(&admission, "10.0.0.1").is_none(), "the total still counts");
        drop(places);
        assert!(busy(&admission, "192.0.2.1").is_none());
    }

    #[test]
    fn the_addresses_of_one_ipv6_network_share_a_cap() {
        let admission = admission(10, 1);
        let _place = busy(&admission, "2001:db8:1:2::1");
        assert!(busy(&admission, "2001:db8:1:2:ffff::9").is_none());
        assert!(busy(&admission, "2001:db8:1:3::1").is_some());
    }

    #[test]
    fn an_ipv4_address_inside_ipv6_counts_as_itself() {
        let admission = admission(10, 1);
        let _place = busy(&admission, "::ffff:192.0.2.1");
        assert!(busy(&admission, "192.0.2.1").is_none());
        assert!(busy(&admission, "::ffff:192.0.2.2").is_some());
    }

    #[test]
    fn a_full_server_without_silent_connections_refuses_all() {
        let admission = admission(2, 2);
        let places: Vec<_> = ["192.0.2.1", "192.0.2.2"].map(|text| busy(&admission, text).unwrap()).into();
        assert!(admission.admit(ip("192.0.2.3")).is_none());
        assert_eq!((admission.counters.snapshot().open, admission.counters.snapshot().refused_full), (2, 1));
        drop(places);
        assert_eq!(admission.counters.snapshot().open, 0);
        assert!(admission.lock().by_ip_prefix.is_empty());
    }

    #[test]
    fn the_oldest_silent_connection_makes_room_for_a_newcomer() {
        let admission = admission(3, 3);
        let held = ["192.0.2.1", "192.0.2.2"].map(|text| admission.admit(ip(text)).unwrap());
        let _busy = busy(&admission, "192.0.2.3").unwrap();
        let newcomer = busy(&admission, "192.0.2.4").unwrap();
        assert_eq!((open_of(&admission, "192.0.2.1"), open_of(&admission, "192.0.2.2")), (0, 1));
        let counts = admission.counters.snapshot();
        assert_eq!((counts.open, counts.closed_silent, counts.refused_full), (3, 1, 0));
        // The closed one gives nothing back a second time, and its late byte changes nothing.
        held[0].request_began();
        drop(held);
        assert_eq!((admission.counters.snapshot().open, admission.lock().total), (2, 2));
        drop(newcomer);
        assert_eq!(admission.lock().total, 1);
    }

    #[test]
    fn whoever_has_most_silent_connections_makes_room() {
        let admission = admission(4, 3);
        let _honest = admission.admit(ip("192.0.2.1")).unwrap();
        let _flood: Vec<_> = (0..3).map(|_| admission.admit(ip("192.0.2.2")).unwrap()).collect();
        let _newcomer = admission.admit(ip("192.0.2.3")).unwrap();
        assert_eq!((open_of(&admission, "192.0.2.1"), open_of(&admission, "192.0.2.2")), (1, 2));
    }

    #[test]
    fn at_its_cap_an_address_loses_its_own_oldest_silent_one() {
        let admission = admission(10, 2);
        let _other = admission.admit(ip("192.0.2.2")).unwrap();
        let _held = [(); 2].map(|()| admission.admit(ip("192.0.2.1")).unwrap());
        let _newcomer = admission.admit(ip("192.0.2.1")).unwrap();
        assert_eq!((open_of(&admission, "192.0.2.1"), open_of(&admission, "192.0.2.2")), (2, 1));
        assert_eq!(admission.counters.snapshot().closed_silent, 1);
    }
}
