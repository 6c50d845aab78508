//! What an operator should know and that is no call: somebody else's system fails or works again, a call was given up.
//! Notices hold names and ids only, never arguments or answers.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice<'a> {
    /// A system that calls are sent to has failed so often that it is left alone for a while.
    RemoteSuspended { contract: &'static str, remote: &'a str, failures: u32 },
    /// It answers again.
    RemoteResumed { contract: &'static str, remote: &'a str },
    /// A call may have been done elsewhere, and the worker has given up finding out.
    RelayFailed { contract: &'static str, tool: &'a str, id: &'a str },
}

impl Notice<'_> {
    pub fn contract(&self) -> &'static str {
        match self {
            Notice::RemoteSuspended { contract, .. }
            | Notice::RemoteResumed { contract, .. }
            | Notice::RelayFailed { contract, .. } => contract,
        }
    }

    /// As metrics name it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Notice::RemoteSuspended { .. } => "remote_suspended",
            Notice::RemoteResumed { .. } => "remote_resumed",
            Notice::RelayFailed { .. } => "relay_failed",
        }
    }
}
