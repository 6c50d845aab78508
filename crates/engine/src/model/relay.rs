//! A tool whose work happens in somebody else's system. Only that system knows what it has done, so a call is sent there
//! under a key that stays the same however often it is sent, and nothing is stored as done before that system has said so.

use serde_json::Value;

use crate::model::fault::Fault;
use crate::model::plan::Plan;
use crate::model::tool::{Future, Item};
use crate::pipeline::permit::Permitted;

/// A tool that sends and then plans. The engine takes care that a call is under way once at a time, is repeated with the
/// same key after a crash, and that its plan is committed once.
pub trait RelayTool: Send + Sync {
    /// Names the tool and the system that it sends to, across restarts: what was abandoned is repeated by the tool with
    /// the same destination.
    fn destination(&self) -> &str;

    /// What is to be done, from what is known here. It is asked before anything is sent, and again when it is this call's
    /// turn, because another call may have done it meanwhile.
    fn prepare<'a>(&'a self, permitted: &'a Permitted<'a>) -> Future<'a, Result<Preparation, Fault>>;

    fn send<'a>(&'a self, permitted: &'a Permitted<'a>, attempt: RelayAttempt<'a>) -> Future<'a, Relayed>;

    /// What follows here from what the other system has answered.
    fn plan<'a>(&'a self, permitted: &'a Permitted<'a>, answer: RelayAnswer<'a>) -> Future<'a, Result<Plan, Fault>>;

    /// The answer to a repeated idempotency key. Of the stored one there is only the id and the version.
    fn replay<'a>(&'a self, permitted: &'a Permitted<'a>, stored: Item) -> Future<'a, Result<Item, Fault>>;
}

/// What a call comes to before anything is sent.
#[derive(Debug, Clone)]
pub enum Preparation {
    /// It has to be sent. Two calls without an idempotency key are the same call if this text is the same.
    Send { sameness: String },
    /// Nothing has to be sent: the plan is all there is to do.
    Done(Plan),
}

/// One sending of a call.
#[derive(Debug, Clone, Copy)]
pub struct RelayAttempt<'a> {
    /// The same for every attempt of this call, and for no other call.
    pub key: &'a str,
    /// The first is 1.
    pub number: u32,
}

/// What the other system has answered, as `RelayTool::send` returned it.
#[derive(Debug, Clone, Copy)]
pub struct RelayAnswer<'a> {
    pub key: &'a str,
    pub answer: &'a Value,
}

/// What became of one sending.
#[derive(Debug, Clone)]
pub enum Relayed {
    /// It is done.
    Done(Value),
    /// The other system has decided not to do it.
    Refused(Fault),
    /// This sending has not arrived, or was turned away unread.
    NotSent(Fault),
    /// It may have been done. The caller gets the fault; the call is sent again later.
    Unknown(Fault),
}
