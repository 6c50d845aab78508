//! The memory of request bodies in flight: one bound for all of them. When it is reached, whoever holds most is refused
//! first, so that a small body of somebody else still gets in. It never waits.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::limits::ip_prefix::ip_prefix;
use crate::model::caller::ClientId;

/// A body up to this size is part of its connection's buffers and is not counted.
pub const UNCOUNTED_BODY: usize = 16 * 1024;

/// 64 MiB, the default of `limits.body_memory_bytes`.
const DEFAULT_LIMIT: usize = 64 << 20;

/// Clones share what is held, each with its own limit.
#[derive(Debug, Clone)]
pub struct BodyMemory {
    held: Arc<Mutex<HeldBodies>>,
    limit: usize,
}

/// Whose body it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BodyHolder {
    Client(ClientId),
    /// Of somebody who was not identified; IPv6 by its /64, which one subscriber has.
    Address(IpAddr),
}

impl BodyHolder {
    pub fn of_address(address: IpAddr) -> BodyHolder {
        BodyHolder::Address(ip_prefix(address))
    }
}

/// There is no memory for the body, or it was taken away for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyMemoryFull;

#[derive(Debug, Default)]
struct HeldBodies {
    total: usize,
    next_id: u64,
    by_holder: HashMap<BodyHolder, HolderBodies>,
}

#[derive(Debug, Default)]
struct HolderBodies {
    bytes: usize,
    /// Every body of the holder that is counted.
    bodies: BTreeMap<u64, HeldBody>,
}

#[derive(Debug)]
struct HeldBody {
    bytes: usize,
    state: BodyReading,
}

#[derive(Debug)]
enum BodyReading {
    /// It is arriving; whoever reads it is told when its memory is taken away.
    Partial(Arc<Revocation>),
    /// It has arrived and its call is running, which is not interrupted.
    Complete,
}

/// Tells whoever reads a body that its memory was taken away.
#[derive(Debug, Default)]
struct Revocation {
    is_revoked: AtomicBool,
    changed: Notify,
}

/// The memory of one body; given back when it is dropped.
#[derive(Debug)]
pub struct BodyReservation {
    memory: BodyMemory,
    holder: BodyHolder,
    id: u64,
    revocation: Arc<Revocation>,
}

impl Default for BodyMemory {
    fn default() -> BodyMemory {
        BodyMemory { held: Arc::default(), limit: DEFAULT_LIMIT }
    }
}

impl BodyMemory {
    /// The same bodies under another limit; those that are held stay.
    #[must_use]
    pub fn with_limit(&self, limit: usize) -> BodyMemory {
        BodyMemory { held: Arc::clone(&self.held), limit }
    }

    /// A body that is going to be read. It holds nothing until something is reserved for it.
    pub fn enter(&self, holder: BodyHolder) -> BodyReservation {
        let mut held = self.lock();
        held.next_id += 1;
        let id = held.next_id;
        drop(held);
        BodyReservation { memory: self.clone(), holder, id, revocation: Arc::default() }
    }

    /// Bytes that are held now.
    pub fn held(&self) -> usize {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, HeldBodies> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BodyReservation {
    /// Reserves memory for the whole body. If there is none, arriving bodies of whoever holds most lose theirs, unless
    /// that is this body's holder.
    pub fn reserve(&self, bytes: usize) -> Result<(), BodyMemoryFull> {
        let limit = self.memory.limit;
        // A body that is larger than the limit is read alone.
        let bytes = bytes.min(limit);
        let mut held = self.memory.lock();
        let own = held.by_holder.get(&self.holder).map_or(0, |bodies| bodies.bytes);
        while held.total.saturating_add(bytes) > limit {
            held.revoke_from_largest(own.saturating_add(bytes))?;
        }
        held.total += bytes;
        let bodies = held.by_holder.entry(self.holder.clone()).or_default();
        bodies.bytes += bytes;
        bodies.bodies.insert(self.id, HeldBody { bytes, state: BodyReading::Partial(Arc::clone(&self.revocation)) });
        Ok(())
    }

    /// The body has arrived with so many bytes. Fails if its memory was taken away meanwhile.
    pub fn complete(&self, bytes: usize) -> Result<(), BodyMemoryFull> {
        let mut held = self.memory.lock();
        if self.revocation.is_revoked.load(Ordering::Relaxed) {
            return Err(BodyMemoryFull);
        }
        let removed = held.remove(&self.holder, self.id);
        // Nothing was reserved for a body that was in memory before.
        let Some(reserved) = removed.filter(|_| bytes > UNCOUNTED_BODY) else {
            return Ok(());
        };
        let bytes = bytes.min(reserved.bytes);
        held.total += bytes;
        let bodies = held.by_holder.entry(self.holder.clone()).or_default();
        bodies.bytes += bytes;
        bodies.bodies.insert(self.id, HeldBody { bytes, state: BodyReading::Complete });
        Ok(())
    }

    /// Ends when the memory of the arriving body is taken away.
    pub async fn revoked(&self) {
        self.revocation.changed.notified().await;
    }
}

impl HeldBodies {
    /// Takes away the newest arriving body of whoever holds most, if that is more than `wanted`.
    fn revoke_from_largest(&mut self, wanted: usize) -> Result<(), BodyMemoryFull> {
        let arriving = |bodies: &HolderBodies| {
            let mut newest = bodies.bodies.iter().rev();
            newest.find(|(_, body)| matches!(body.state, BodyReading::Partial(_))).map(|(id, _)| *id)
        };
        let candidates = self.by_holder.iter().filter(|(_, bodies)| bodies.bytes > wanted);
        let largest = candidates
            .filter_map(|(holder, bodies)| Some((bodies.bytes, holder, arriving(bodies)?)))
            .max_by_key(|(bytes, ..)| *bytes);
        let (_, holder, id) = largest.ok_or(BodyMemoryFull)?;
        let holder = holder.clone();
        if let Some(HeldBody { state: BodyReading::Partial(revocation), .. }) = self.remove(&holder, id) {
            revocation.is_revoked.store(true, Ordering::Relaxed);
            revocation.changed.notify_one();
        }
        Ok(())
    }

    fn remove(&mut self, holder: &BodyHolder, id: u64) -> Option<HeldBody> {
        let bodies = self.by_holder.get_mut(holder)?;
        let removed = bodies.bodies.remove(&id)?;
        bodies.bytes = bodies.bytes.saturating_sub(removed.bytes);
        self.total = self.total.saturating_sub(removed.bytes);
        if bodies.bodies.is_empty() {
            self.by_holder.remove(holder);
        }
        Some(removed)
    }
}

impl Drop for BodyReservation {
    fn drop(&mut self) {
        self.memory.lock().remove(&self.holder, self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    fn memory() -> BodyMemory {
        BodyMemory::default().with_limit(1000 * KIB)
    }

    fn client(name: &str) -> BodyHolder {
        BodyHolder::Client(ClientId::new(name))
    }

    fn reserved(memory: &BodyMemory, name: &str, bytes: usize) -> Result<BodyReservation, BodyMemoryFull> {
        let reservation = memory.enter(client(name));
        reservation.reserve(bytes).map(|()| reservation)
    }

    fn is_revoked(reservation: &BodyReservation) -> bool {
        reservation.revocation.is_revoked.load(Ordering::Relaxed)
    }

    #[test]
    fn whoever_holds_most_makes_room_for_others() {
        let memory = memory();
        let large: Vec<_> = (0..10).map(|_| reserved(&memory, "large", 100 * KIB).unwrap()).collect();
        assert_eq!(memory.held(), 1000 * KIB);
        assert_eq!(reserved(&memory, "large", 20 * KIB).err(), Some(BodyMemoryFull));
        let small = reserved(&memory, "small", 20 * KIB).unwrap();
        assert_eq!(memory.held(), 920 * KIB);
        assert_eq!(large.iter().map(is_revoked).filter(|revoked| *revoked).count(), 1);
        assert!(is_revoked(&large[9]) && !is_revoked(&small));
        assert_eq!((large[9].complete(100 * KIB), small.complete(20 * KIB)), (Err(BodyMemoryFull), Ok(())));
        drop((large, small));
        assert_eq!((memory.held(), memory.lock().by_holder.len()), (0, 0));
    }

    #[test]
    fn two_who_hold_as_much_take_nothing_from_each_other() {
        let memory = memory();
        let _one = reserved(&memory, "one", 500 * KIB).unwrap();
        let _two = reserved(&memory, "two", 500 * KIB).unwrap();
        assert_eq!(reserved(&memory, "one", 20 * KIB).err(), Some(BodyMemoryFull));
        assert!(reserved(&memory, "three", 20 * KIB).is_ok());
    }

    #[test]
    fn a_body_that_has_arrived_is_not_taken_away() {
        let memory = memory();
        let arrived = reserved(&memory, "one", 1000 * KIB).unwrap();
        arrived.complete(900 * KIB).unwrap();
        assert_eq!(memory.held(), 900 * KIB);
        assert_eq!(reserved(&memory, "two", 101 * KIB).err(), Some(BodyMemoryFull));
        assert!(reserved(&memory, "two", 100 * KIB).is_ok());
    }

    #[test]
    fn a_body_beyond_the_limit_is_read_alone() {
        let memory = memory();
        let alone = reserved(&memory, "one", 5000 * KIB).unwrap();
        assert_eq!(memory.held(), 1000 * KIB);
        alone.complete(5000 * KIB).unwrap();
        drop(alone);
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn small_and_ready_bodies_hold_nothing() {
        let memory = memory();
        let chunked = reserved(&memory, "one", 1000 * KIB).unwrap();
        chunked.complete(UNCOUNTED_BODY).unwrap();
        assert_eq!(memory.held(), 0);
        memory.enter(client("one")).complete(100 * KIB).unwrap();
        assert_eq!(memory.held(), 0);
    }
}
