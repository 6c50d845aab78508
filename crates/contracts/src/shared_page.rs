//! A page that shows something somebody has shared by a link, such as a trip: what stands on it. The server makes the page;
//! nobody's personal data is among this.

use serde_json::Value;

use crate::tomo;

/// The segment before the token, below the path of a mount.
pub const PATH: &str = "trips";

/// The tool of the operator that opens a link; it takes `token` and answers with an object.
pub const READ_TOOL: &str = tomo::shared_trip::READ_TRIP;

/// So often it is looked at again.
pub const REFRESH_SECONDS: u32 = 10;

/// What stands on the page, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPage {
    pub heading: String,
    /// Names and values.
    pub rows: Vec<(&'static str, String)>,
}

impl SharedPage {
    /// From what the tool has answered.
    pub fn of(shared: &Value) -> SharedPage {
        let (heading, rows) = tomo::shared_trip::page(shared);
        SharedPage { heading, rows }
    }
}
