//! The statements of the stores, and how SQLite is opened and checkpointed, for the benchmark's reference server: it
//! runs these and no copies, so that it cannot drift from the stores. The server must not use this module.

use frontdesk_engine::model::page::Query;
use frontdesk_engine::model::table::TableSpec;

use crate::sql;

pub use crate::sql::{GET_EVENT_COUNTER, SET_EVENT_COUNTER, for_sqlite, get};

/// The parameters are the tenant, those of the filters in their order, and the limit.
pub fn page(query: &Query) -> String {
    sql::page("", query, None).text
}

/// The parameters are the tenant and the value.
pub fn find(table: &TableSpec, column: &str) -> String {
    sql::find(table, column)
}

/// The parameters are the tenant and the id.
pub fn version(table: &TableSpec) -> String {
    sql::version(table)
}

/// Statements for SQLite only.
pub mod sqlite {
    use frontdesk_engine::model::table::TableSpec;

    pub use crate::sql::{FIND_CLAIM, INSERT_CLAIM, INSERT_EVENT, insert};
    pub use crate::sqlite::checkpoints::Checkpointer;
    pub use crate::sqlite::open::lookup;
    pub use crate::sqlite::search_terms::insert_terms;

    /// The parameters are those of an insert, and the expected version.
    pub fn update(table: &TableSpec) -> String {
        crate::sql::update(table, crate::sql::FIXED_COLUMNS)
    }
}

/// Statements for PostgreSQL only.
pub mod postgres {
    pub use crate::postgres::sql_texts::{
        BEGIN, BEGIN_READ, COMMIT, INSERT_CLAIMS, INSERT_EVENTS, SET_TENANT, insert_many, insert_terms,
    };
    pub use crate::sql::registry_rows::LOCK_TENANT;
}

/// Queries for a site's database.
pub mod site {
    use frontdesk_engine::ports::site_db::Select;

    use crate::site_db::{SiteDbSettings, open_rendering};
    pub use crate::site_db::{SiteQuery, SqlParam};

    /// The SQL for these, which depends on the columns of the database.
    pub async fn queries(settings: &SiteDbSettings, selects: &[Select]) -> Result<Vec<SiteQuery>, String> {
        let site_db = open_rendering(settings).await.map_err(|error| error.to_string())?;
        let queries = selects.iter().map(|select| site_db.render(select));
        queries.collect::<Result<_, _>>().map_err(|fault| fault.message.into_owned())
    }
}
