//! A lead as the reference makes it: the rows that Frontdesk writes for one except the audit's, nothing sealed and
//! nothing hashed.

use frontdesk::system::SystemClock;
use frontdesk_engine::ports::Clock as _;
use serde_json::json;

use super::Arguments;
use crate::BenchResult;

pub const CLIENT: &str = "reference";
pub const TOOL: &str = "leads.create";

/// The request.
pub struct Lead {
    pub tenant: String,
    pub email: String,
    pub key: String,
    name: String,
    interest: String,
}

/// The rows that are written, and the answer.
pub struct NewLead {
    pub id: String,
    pub event: String,
    pub at: i64,
    pub body: String,
    pub personal: String,
    pub answer: String,
    pub words: Vec<String>,
}

impl Lead {
    pub fn new(arguments: Arguments) -> BenchResult<Lead> {
        let contact = arguments.contact.ok_or("a contact is needed")?;
        Ok(Lead {
            tenant: arguments.dealership_id,
            name: contact.name,
            email: contact.email,
            key: arguments.idempotency_key.ok_or("a key is needed")?,
            interest: arguments.interest.ok_or("an interest is needed")?,
        })
    }

    /// `number` is another for every lead of a process.
    pub fn to_row(&self, number: u64) -> NewLead {
        let now = SystemClock.now();
        let (at, instant) = (now.0, now.to_rfc3339());
        let id = format!("led_{at:016}{number:010}");
        let open = json!({
            "id": id, "type": "lead", "dealership_id": self.tenant, "status": "new", "created_at": instant,
            "updated_at": instant, "version": 1, "interest": self.interest, "received_at": instant,
            "consent": {"status": "granted", "channels": ["email"], "granted_at": instant},
        });
        let personal = json!({
            "contact": {"name": self.name, "email": self.email}, "source": {"channel": "ai_agent"}, "redacted": [],
        });
        let (body, personal) = (open.to_string(), personal.to_string());
        NewLead {
            answer: frontdesk_wire::json::splice(&body, &personal),
            event: format!("evt_{at:016}{number:010}"),
            words: self.name.split(' ').map(str::to_lowercase).collect(),
            id,
            at,
            body,
            personal,
        }
    }
}
