//! Audit records that nobody waits for, which only stores with a background writer have.

use std::fmt::Debug;

use frontdesk_engine::ports::{Durability, Store};

use crate::eventually;

/// Such records are counted until they are written, and leave `groups` as it was. They are written after a tenth of a
/// second; a busy machine may need longer to add them, but not every time.
pub async fn records_are_counted<T: PartialEq + Debug>(
    store: &dyn Store,
    unwritten: impl Fn() -> u64,
    groups: impl Fn() -> T,
) {
    let before = groups();
    let mut max = 0;
    for _ in 0..100 {
        for number in 0..3 {
            store.append_audit(format!(r#"{{"read":{number}}}"#), Durability::Grouped).await.unwrap();
        }
        max = max.max(unwritten());
        eventually("they are written", async || unwritten() == 0).await;
        if max == 3 {
            break;
        }
    }
    assert_eq!(max, 3);
    assert_eq!(groups(), before);
}
