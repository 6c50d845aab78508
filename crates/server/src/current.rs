//! The house as it is now. It is replaced whole: a call that has begun keeps the one it began with.

use std::sync::{Arc, PoisonError, RwLock};

use crate::house::House;

pub struct Current(RwLock<Arc<House>>);

impl Current {
    pub fn new(house: House) -> Current {
        Current(RwLock::new(Arc::new(house)))
    }

    pub fn house(&self) -> Arc<House> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes effect with the next call.
    pub fn replace(&self, house: House) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(house);
    }
}
