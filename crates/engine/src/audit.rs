//! What is remembered of a call: who did what to which resource, and how it ended. Never the values
//! of arguments or answers.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use frontdesk_wire::json::write_quoted;
use frontdesk_wire::version::Era;

use crate::caller::Caller;
use crate::timestamp::Millis;
use crate::trace::Trace;

/// One call as seen from outside. Made when the request arrives, completed as it is understood.
#[derive(Debug, Clone)]
pub struct Observation {
    pub at: Millis,
    pub trace: Trace,
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
    /// The protocol era of the message, once it is known.
    pub era: Option<Era>,
    /// The answer's status, where one was given.
    pub status: Option<u16>,
    /// The contract's code for what went wrong, as it was answered.
    pub code: Option<&'static str>,
    pub laps: Laps,
    pub micros: u64,
    /// The line that the store has, if what it says is how the call ended.
    pub kept: Option<String>,
}

/// The parts of a call that are timed by themselves, in microseconds since its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Laps {
    pub identify: Option<Lap>,
    pub perform: Option<Lap>,
    pub record: Option<Lap>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lap {
    pub from: u64,
    pub until: u64,
}

impl Observation {
    /// A call that has just arrived.
    pub fn begun(at: Millis, trace: Trace, contract: &'static str, address: IpAddr) -> Observation {
        Observation {
            at,
            trace,
            contract,
            address,
            caller: None,
            method: None,
            tool: None,
            tenant: None,
            ids: Vec::new(),
            count: None,
            outcome: "ok",
            personal: false,
            recorded: false,
            era: None,
            status: None,
            code: None,
            laps: Laps::default(),
            micros: 0,
            kept: None,
        }
    }

    /// What is kept of a call that has been answered: its line, with the answer's status and how long it took. A write is
    /// recorded together with itself, before it has either (E-66).
    pub fn completed(&self, line: &str) -> String {
        match (self.status, line.strip_suffix('}')) {
            (Some(status), Some(open)) => format!("{open},\"status\":{status},\"micros\":{}}}", self.micros),
            (Some(_) | None, _) => line.to_owned(),
        }
    }

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
        field("trace", self.trace.shown());
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
