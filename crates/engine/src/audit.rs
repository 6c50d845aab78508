//! What is remembered of a call: who did what to which resource, and how it ended. Never the values
//! of arguments or answers.

use std::net::IpAddr;

use frontdesk_wire::answer::quote;

use crate::caller::Caller;
use crate::timestamp::Millis;

/// One call as seen from outside. Made when the request arrives, completed as it is understood.
#[derive(Debug, Clone)]
pub struct Observation {
    pub at: Millis,
    pub trace: String,
    pub contract: &'static str,
    pub address: IpAddr,
    pub caller: Option<Caller>,
    pub method: Option<String>,
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
        let mut line = String::with_capacity(256);
        line.push_str("{\"at\":");
        line.push_str(&quote(&self.at.to_rfc3339()));
        let mut field = |name: &str, value: &str| {
            line.push_str(",\"");
            line.push_str(name);
            line.push_str("\":");
            line.push_str(&quote(value));
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
        if let Some(method) = &self.method {
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
            let ids: Vec<String> = self.ids.iter().map(|id| quote(id)).collect();
            line.push_str(",\"ids\":[");
            line.push_str(&ids.join(","));
            line.push(']');
        }
        if let Some(count) = self.count {
            line.push_str(",\"count\":");
            line.push_str(&count.to_string());
        }
        if self.personal {
            line.push_str(",\"personal\":true");
        }
        line.push('}');
        line
    }
}
