//! Stage 9: from an outcome to an answer. Personal data is left out unless the caller may see it, the
//! page's end is sealed into a cursor, and the dialect puts the contract's envelope around it.

use crate::model::contract::Payload;
use crate::model::fault::{Fault, FaultKind};
use crate::model::reply::Reply;
use crate::model::table::joined;
use crate::model::tool::{Effect, ListAnswer, Outcome};
use crate::pipeline::permit::Permitted;
use crate::pipeline::record::CallRecord;
use crate::ports::Disclosure;

pub(crate) fn shape(
    call_record: &mut CallRecord<'_>,
    permitted: &Permitted<'_>,
    outcome: Outcome,
) -> Result<Reply, Fault> {
    let CallRecord { desk, mount, .. } = *call_record;
    let payload = match outcome {
        Outcome::One(item) => {
            call_record.add_id(&item.id);
            Payload::One(match (permitted.disclosure(), &item.personal, &item.masked) {
                (Disclosure::Full, Some(personal), _) => {
                    if permitted.reveals_personal_data(&item) {
                        call_record.mark_personal();
                    }
                    joined(&item.body, Some(personal))
                }
                (Disclosure::Full | Disclosure::Masked | Disclosure::ToChange, _, Some(masked)) => {
                    joined(&item.body, Some(masked))
                }
                (Disclosure::Full | Disclosure::Masked | Disclosure::ToChange, _, None) => item.body,
            })
        }
        Outcome::Many(ListAnswer { page, total, note }) => {
            call_record.set_rows(page.rows.len());
            // Who looked a person up is worth knowing as exactly as who read the whole record.
            page.ids.iter().for_each(|id| call_record.add_id(id));
            if permitted.personal_filter() {
                call_record.mark_personal();
            }
            let cursor = match page.next {
                None => None,
                Some(key) => {
                    Some(permitted.cursor(key).ok_or_else(|| Fault::internal("the cursor could not be sealed"))?)
                }
            };
            Payload::Many { items: page.rows, cursor, total, note }
        }
        Outcome::Raw { answer, rows } => {
            call_record.set_rows(rows);
            Payload::One(answer)
        }
    };
    let reply = mount.contract.dialect.success(payload, &call_record.reply_context());
    // A write has happened by now, and its answer must say so however long it is.
    let limit = mount.policy.as_ref().map_or(desk.settings.reply_bytes, |policy| policy.result_bytes);
    if call_record.effect() == Some(Effect::Reads) && reply.body.len() > limit {
        return Err(too_large());
    }
    Ok(reply)
}

pub(crate) fn too_large() -> Fault {
    Fault::new(FaultKind::AnswerTooLarge, "The answer would be too large. Ask for less.")
}
