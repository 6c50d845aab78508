//! The record of a finished call: who did what to which resource, and how it ended. Never the values
//! of arguments or answers.

use std::net::IpAddr;
use std::sync::Arc;

use frontdesk_wire::json::{write_integer, write_quoted};
use frontdesk_wire::version::Era;

use crate::model::caller::{Caller, TenantId};
use crate::model::timestamp::Millis;
use crate::model::trace::Trace;

/// Capacities that fit nearly every line, and the status and duration appended to it.
const LINE_CAPACITY: usize = 512;
const SUFFIX_CAPACITY: usize = 48;

/// One call as seen from outside. Made when the request arrives, completed as it is understood.
#[derive(Debug, Clone)]
pub struct Observation {
    pub at: Millis,
    pub trace: Trace,
    /// The import whose row was applied.
    pub import_id: Option<Arc<str>>,
    pub contract: &'static str,
    pub address: IpAddr,
    pub caller: Option<Arc<Caller>>,
    pub method: Option<&'static str>,
    pub tool: Option<&'static str>,
    pub tenant: Option<TenantId>,
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
    pub streamed: Streamed,
    /// The answer's status, where one was given.
    pub status: Option<u16>,
    /// The contract's code for what went wrong, as it was answered.
    pub code: Option<&'static str>,
    pub stages: StageTimes,
    pub micros: u64,
    /// The line that the store has, if what it says is how the call ended.
    pub stored_line: Option<String>,
}

/// Whether the answer was a stream of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streamed {
    No,
    AtOnce,
    /// It stayed open: how long it took says nothing about how fast the server is.
    Held,
}

/// The parts of a call that are timed by themselves, in microseconds since its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageTimes {
    pub identify: Option<StageTime>,
    pub perform: Option<StageTime>,
    pub record: Option<StageTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageTime {
    pub from: u64,
    pub until: u64,
}

impl Observation {
    /// A call that has just arrived.
    pub fn new(at: Millis, trace: Trace, contract: &'static str, address: IpAddr) -> Observation {
        Observation {
            at,
            trace,
            import_id: None,
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
            streamed: Streamed::No,
            status: None,
            code: None,
            stages: StageTimes::default(),
            micros: 0,
            stored_line: None,
        }
    }

    /// What is kept of a call that has been answered: its line, with the answer's status and how long it took. A write is
    /// recorded together with itself, before it has either.
    pub fn completed_line(&self, line: &str) -> String {
        let (Some(status), Some(open)) = (self.status, line.strip_suffix('}')) else {
            return line.to_owned();
        };
        let mut record = String::with_capacity(line.len() + SUFFIX_CAPACITY);
        record.push_str(open);
        record.push_str(",\"status\":");
        write_integer(i64::from(status), &mut record);
        record.push_str(",\"micros\":");
        write_integer(i64::try_from(self.micros).unwrap_or(i64::MAX), &mut record);
        record.push('}');
        record
    }

    /// The record as one line of JSON. It is made for every call, so it avoids the formatting machinery.
    pub fn to_line(&self) -> String {
        let mut line = String::with_capacity(LINE_CAPACITY);
        line.push_str("{\"at\":\"");
        line.push_str(&self.at.to_rfc3339());
        line.push('"');
        quoted(&mut line, "trace", self.trace.display_id());
        plain(&mut line, "contract", self.contract);
        if let Some(caller) = &self.caller {
            quoted(&mut line, "client", caller.client.as_str());
            if *caller.subject != *caller.client.as_str() {
                quoted(&mut line, "subject", &caller.subject);
            }
        }
        if let Some(import_id) = &self.import_id {
            plain(&mut line, "import", import_id);
        }
        line.push_str(",\"address\":\"");
        write_address(self.address, &mut line);
        line.push('"');
        if let Some(method) = self.method {
            plain(&mut line, "method", method);
        }
        if let Some(tool) = self.tool {
            plain(&mut line, "tool", tool);
        }
        if let Some(tenant) = &self.tenant {
            plain(&mut line, "tenant", tenant.as_str());
        }
        plain(&mut line, "outcome", self.outcome);
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
            line.push_str(",\"count\":");
            write_integer(i64::try_from(count).unwrap_or(i64::MAX), &mut line);
        }
        if self.personal {
            line.push_str(",\"personal\":true");
        }
        if self.streamed == Streamed::Held {
            line.push_str(",\"streamed\":true");
        }
        line.push('}');
        line
    }
}

fn quoted(line: &mut String, name: &str, value: &str) {
    begin(line, name);
    write_quoted(value, line);
}

/// For words of our own and names whose letters were checked: there is nothing in them to escape.
fn plain(line: &mut String, name: &str, value: &str) {
    begin(line, name);
    line.push('"');
    line.push_str(value);
    line.push('"');
}

fn begin(line: &mut String, name: &str) {
    line.push_str(",\"");
    line.push_str(name);
    line.push_str("\":");
}

fn write_address(address: IpAddr, line: &mut String) {
    match address {
        IpAddr::V4(short) => {
            for (place, part) in short.octets().into_iter().enumerate() {
                if place > 0 {
                    line.push('.');
                }
                write_integer(i64::from(part), line);
            }
        }
        IpAddr::V6(long) => line.push_str(&long.to_string()),
    }
}
