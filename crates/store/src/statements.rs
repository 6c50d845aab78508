//! The texts that the stores prepare, for whoever measures them: the bench's bare reference runs these and
//! no copies, so that it cannot drift from what is served; and how SQLite's log is brought home. Nothing that serves may need this module.

use frontdesk_engine::page::Query;

use crate::sql;

pub use crate::sql::{COUNT_EVENTS, LAST_EVENT, for_sqlite, get};

/// The values are the tenant, those of the filters in their order, and the limit.
pub fn page(query: &Query) -> String {
    sql::page("", query, None).text
}

/// What only SQLite is asked.
pub mod sqlite {
    pub use crate::sql::{ADD_CLAIM, ADD_EVENT, FIND_CLAIM, add_word, insert};
    pub use crate::sqlite::checkpoints::Checkpoints;
}

/// What only PostgreSQL is asked.
pub mod postgres {
    pub use crate::postgres::texts::{
        ADD_CLAIMS, ADD_EVENTS, BEGIN, BEGIN_READ, COMMIT, LOCK, TENANT, add_words, insert_many,
    };
}
