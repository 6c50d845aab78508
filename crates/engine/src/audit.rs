//! What is remembered of a call: who did what to which resource, and how it ended. Never the values
//! of arguments or answers.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use frontdesk_wire::json::write_quoted;

use crate::caller::Caller;
use crate::timestamp::Millis;

/// One call as seen from outside. Made when the request arrives, completed as it is understood.
#[derive(Debug, Clone)]
pub struct Observation {
    pub at: Millis,
    pub trace: String,
    pub contract: &'static str,
    pub address: IpAddr,
    pub caller: Option<Arc<Caller>>,
    pub method: Option<&'static str>,
    pub tool: Option<&'static str>,
    pub tenant: Option<String>,
    /// Ids of what was read or written one by one.
    pub ids: Vec<String>,
    /// How many rows a list answered with.
    pub count: Option<usize>,
    /// `ok`, or the word of the fault.
    pub outcome: &'static str,
    /// Whether the answer carries personal data in full.
    pub personal: bool,
    /// Whether the call's record was committed together with its write.
    pub recorded: bool,
    pub micros: u64,
}

impl Observation {
    /// The record as one line of JSON.
    pub fn line(&self) -> String {
        let mut line = String::with_capacity(512);
        line.push_str("{\"at\":");
        write_quoted(&self.at.to_rfc3339(), &mut line);
        let mut field = |name: &str, value: &str| {
            line.push_str(",\"");
            line.push_str(name);
            line.push_str("\":");
            write_quoted(value, &mut line);
        };
        field("trace", &self.trace);
        field("contract", self.contract);
        if let Some(caller) = &self.caller {
            field("client", caller.client.as_str());
            if *caller.subject != *caller.client.as_str() {
                field("subject", &caller.subject);
            }
        }
        field("address", &self.address.to_string());
        if let Some(method) = self.method {
            field("method", method);
        }
        if let Some(tool) = self.tool {
            field("tool", tool);
        }
        if let Some(tenant) = &self.tenant {
            field("tenant", tenant);
        }
        field("outcome", self.outcome);
        if !self.ids.is_empty() {
            line.push_str(",\"ids\":[");
            for (place, id) in self.ids.iter().enumerate() {
                if place > 0 {
                    line.push(',');
                }
                write_quoted(id, &mut line);
            }
            line.push(']');
        }
        if let Some(count) = self.count {
            let _ = write!(line, ",\"count\":{count}");
        }
        if self.personal {
            line.push_str(",\"personal\":true");
        }
        line.push('}');
        line
    }
}
