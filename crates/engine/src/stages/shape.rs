//! Stage 9: from an outcome to an answer. Personal data is left out unless the caller may see it, the
//! page's end is sealed into a cursor, and the dialect puts the contract's envelope around it.

use frontdesk_wire::answer::success;
use frontdesk_wire::frame::Id;
use frontdesk_wire::version::{Era, Version};

use crate::caller::Scopes;
use crate::contract::{self, Place, Presented, Shaped};
use crate::desk::{Desk, Mount};
use crate::fault::{Fault, FaultKind};
use crate::incoming::{Credential, Incoming};
use crate::permit::Permitted;
use crate::ports::Disclosure;
use crate::reply::Reply;
use crate::stages::record::Sighting;
use crate::table::joined;
use crate::tool::{Effect, Outcome};
use crate::trace::Trace;

pub fn shape(
    desk: &Desk,
    mount: &Mount,
    permitted: &Permitted<'_>,
    outcome: Outcome,
    sighting: &mut Sighting<'_>,
    at: &At<'_>,
) -> Result<Reply, Fault> {
    let shaped = match outcome {
        Outcome::One(item) => {
            sighting.touched(&item.id);
            Shaped::One(match (permitted.disclosure(), &item.personal, &item.masked) {
                (Disclosure::Full, Some(personal), _) => {
                    sighting.disclosed();
                    joined(&item.body, Some(personal))
                }
                (Disclosure::Full | Disclosure::Masked, _, Some(masked)) => joined(&item.body, Some(masked)),
                (Disclosure::Full | Disclosure::Masked, _, None) => item.body,
            })
        }
        Outcome::Many(page) => {
            sighting.counted(page.rows.len());
            // Who looked a person up is worth knowing as exactly as who read the whole record.
            page.ids.iter().for_each(|id| sighting.touched(id));
            if permitted.looked_up() {
                sighting.disclosed();
            }
            let cursor = match page.next {
                None => None,
                Some(key) => {
                    Some(permitted.cursor(key).ok_or_else(|| Fault::internal("the cursor could not be sealed"))?)
                }
            };
            Shaped::Many { items: page.rows, cursor }
        }
        Outcome::Made { answer, rows } => {
            sighting.counted(rows);
            Shaped::One(answer)
        }
    };
    let reply = mount.contract.dialect.success(shaped, &at.0);
    // A write has happened by now, and its answer must say so however long it is.
    let most = mount.door.as_ref().map_or(desk.settings.reply_bytes, |door| door.result_bytes);
    if sighting.effect() == Some(Effect::Reads) && reply.body.len() > most {
        return Err(too_large());
    }
    Ok(reply)
}

pub(crate) fn too_large() -> Fault {
    Fault::new(FaultKind::AnswerTooLarge, "The answer would be too large. Ask for less.")
}

/// Where an answer is going, filled in as the request is understood.
#[derive(Clone, Copy)]
pub struct At<'a>(pub(crate) contract::At<'a>);

impl<'a> At<'a> {
    pub fn unknown(mount: &'a Mount, incoming: &'a Incoming) -> At<'a> {
        At(contract::At {
            era: None,
            named: incoming.protocol_version.as_deref().and_then(Version::parse),
            id: None,
            place: Place::Transport,
            metadata: &mount.metadata,
            least: &mount.contract.least,
            granted: None,
            credential: match incoming.credential {
                Credential::Missing => Presented::Nothing,
                Credential::Bearer(_) | Credential::Unusable => Presented::Something,
            },
            trace: incoming.trace.shown(),
        })
    }

    pub fn granted(mut self, scopes: &'a Scopes) -> At<'a> {
        self.0.granted = Some(scopes);
        self
    }

    pub fn id(mut self, id: &'a Id) -> At<'a> {
        self.0.id = Some(id);
        self.0.place = Place::Method;
        self
    }

    /// As `id`, where the request named one that could be read.
    pub fn maybe_id(self, id: Option<&'a Id>) -> At<'a> {
        match id {
            Some(id) => self.id(id),
            None => self,
        }
    }

    /// In another trace than that of the whole request.
    pub fn traced(mut self, trace: &'a Trace) -> At<'a> {
        self.0.trace = trace.shown();
        self
    }

    pub fn era(&mut self, era: Era) {
        self.0.era = Some(era);
    }

    pub fn place(&mut self, place: Place<'a>) {
        self.0.place = place;
    }

    /// The era the request speaks; one that was never decided counts as the oldest with a default.
    pub fn spoken(&self) -> Era {
        self.0.era.unwrap_or(Era::Legacy(Version::V2025_03_26))
    }
}

/// Putting a finished result into its JSON-RPC envelope.
pub trait Wrap {
    fn result(&self, result: &str) -> Reply;
}

impl Wrap for At<'_> {
    fn result(&self, result: &str) -> Reply {
        match self.0.id {
            Some(id) => Reply::rpc(success(id, result)),
            None => Reply::empty(202),
        }
    }
}
