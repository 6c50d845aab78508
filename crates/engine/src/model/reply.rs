//! The answer as the dialect decided it: status, headers and body, JSON-RPC or not.

use std::borrow::Cow;

use bytes::Bytes;

use crate::model::fault::FaultKind;

/// Whether the body is a JSON-RPC message (and may stand in a batch) or the contract's plain form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyKind {
    Rpc,
    Plain,
    Empty,
    /// One or more server-sent events, the last of which is the JSON-RPC answer.
    Events,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    pub body: Bytes,
    pub kind: ReplyKind,
    /// The contract's code for what went wrong, as it stands in the body: for the log.
    pub code: Option<&'static str>,
    /// The kind of fault behind it, if it is a failure; dispatch decides by it whether to store the answer.
    pub fault: Option<FaultKind>,
}

impl Reply {
    pub fn rpc(body: impl Into<Bytes>) -> Reply {
        Reply { status: 200, headers: Vec::new(), body: body.into(), kind: ReplyKind::Rpc, code: None, fault: None }
    }

    pub fn plain(status: u16, body: impl Into<Bytes>) -> Reply {
        Reply { status, headers: Vec::new(), body: body.into(), kind: ReplyKind::Plain, code: None, fault: None }
    }

    pub fn empty(status: u16) -> Reply {
        Reply { status, headers: Vec::new(), body: Bytes::new(), kind: ReplyKind::Empty, code: None, fault: None }
    }

    pub fn status(mut self, status: u16) -> Reply {
        self.status = status;
        self
    }

    /// Says which code is in the body.
    pub fn code(mut self, code: &'static str) -> Reply {
        self.code = Some(code);
        self
    }

    pub fn header(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }
}
