//! The business's own system behind the contract: every tool of a mount is forwarded to it as one signed request, and its
//! answer is taken back only if it is what the intent promises. Identity, arguments, idempotency and limits stay here; the
//! code of the shapes is not used. Nothing of the system's own words reaches a caller.

mod advance;
mod answer;
mod booked;
mod breaker;
mod change;
mod create;
mod forward;
mod refusal;
mod request;
mod track;

use std::sync::Arc;

use frontdesk_engine::model::tool::Run;
use frontdesk_engine::seal::signing_key::SigningKey;

use super::ToolContext;
use super::intent::{IntentTool, Role};
use crate::partner::{BackendSettings, BackendTimeouts};
pub use advance::advance;
pub use booked::{BackendBooking, find_by_reference};
use breaker::Breaker;

/// The system behind a mount.
#[derive(Debug)]
pub struct PartnerBackend {
    url: String,
    /// The newest first.
    keys: Vec<SigningKey>,
    timeouts: BackendTimeouts,
    breaker: Breaker,
}

impl PartnerBackend {
    pub(super) fn new(settings: &BackendSettings, keys: &[SigningKey]) -> PartnerBackend {
        PartnerBackend {
            url: settings.url.clone(),
            keys: keys.to_vec(),
            timeouts: settings.timeouts,
            breaker: Breaker::default(),
        }
    }
}

/// One tool that is forwarded.
#[derive(Debug, Clone)]
struct Forwarded {
    shared: Arc<ToolContext>,
    backend: Arc<PartnerBackend>,
    tool: IntentTool,
    /// Names the tool and the system across restarts. The address of the system may change.
    destination: String,
}

pub(super) fn run(context: &Arc<ToolContext>, backend: &Arc<PartnerBackend>, tool: &IntentTool) -> Run {
    let forwarded = Forwarded {
        shared: Arc::clone(context),
        backend: Arc::clone(backend),
        tool: tool.clone(),
        destination: format!("{}/{}/{}", context.partner_id, context.intent.id, tool.name),
    };
    match tool.role {
        Role::Search | Role::GetDetail | Role::Utility => Run::read(forward::Forward(forwarded)),
        Role::Track => Run::watch(track::Track(forwarded)),
        Role::Create => Run::relay(create::Create(forwarded)),
        Role::Modify | Role::Cancel | Role::Rate => Run::relay(change::ForwardedChange(forwarded)),
    }
}
