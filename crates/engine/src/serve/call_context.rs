//! A call while it is being answered: who calls, until when, and the record that every stage adds to. It exists only for
//! identified callers, and must never outlive its call.

use std::sync::Arc;

use frontdesk_wire::peek::peek;
use tokio::time::{Instant, timeout, timeout_at};

use crate::model::caller::Caller;
use crate::model::fault::Fault;
use crate::pipeline::admit::Charge;
use crate::pipeline::identify::identify;
use crate::pipeline::record::CallRecord;
use crate::pipeline::record::stopwatch::Stage;

/// An identified caller's call. Desk, mount and request are those of its record.
pub struct CallContext<'c, 'a> {
    pub(crate) record: &'c mut CallRecord<'a>,
    pub(crate) caller: Arc<Caller>,
    /// When it must have been answered, together with all other calls of the same request.
    pub(crate) deadline: Instant,
    pub(crate) charge: Charge,
    pub(crate) form: AnswerForm,
}

/// In which form a call may be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// One message, because it is part of something else.
    Message,
    /// As the caller asked for.
    AsAsked,
}

impl<'c, 'a> CallContext<'c, 'a> {
    /// Stage 2, within the deadline that starts here.
    pub async fn identify(call_record: &'c mut CallRecord<'a>) -> Result<CallContext<'c, 'a>, Fault> {
        let deadline = Instant::now() + call_record.desk.settings.deadline;
        call_record.start_stage(Stage::Identify);
        let identified = identify(call_record.desk, call_record.mount, call_record.incoming);
        let identified = timeout_at(deadline, identified)
            .await
            .unwrap_or_else(|_| Err(Fault::unavailable("the credential was not checked within the deadline")));
        match identified {
            Ok(caller) => {
                call_record.end_stage();
                let context = CallContext::new(call_record, caller, deadline, Charge::Due);
                Ok(CallContext { form: AnswerForm::AsAsked, ..context })
            }
            // Boxed, because hardly any call comes here.
            Err(fault) => Err(Box::pin(refuse(call_record, fault)).await),
        }
    }

    /// For a caller that was identified before.
    pub(crate) fn new(
        call_record: &'c mut CallRecord<'a>,
        caller: Arc<Caller>,
        deadline: Instant,
        charge: Charge,
    ) -> CallContext<'c, 'a> {
        call_record.set_caller(&caller);
        // It is known before the message is understood, and holds for refused messages too.
        if let Some(tenant) = call_record.mount.site_tenant() {
            call_record.set_tenant(&caller, Some(tenant.as_str()));
        }
        CallContext { record: call_record, caller, deadline, charge, form: AnswerForm::Message }
    }
}

/// A message of somebody who is not known is read up to here: one to search or to book has a few hundred bytes.
const STRANGER_BYTES: usize = 64 << 10;

/// Where the contract wants it, the answer to a caller that was not identified has the id of its message. Nothing else of
/// the body is looked at.
async fn refuse(call_record: &mut CallRecord<'_>, fault: Fault) -> Fault {
    let CallRecord { desk, mount, incoming, .. } = *call_record;
    if !mount.contract.dialect.compatibility().echoes_refused_id || incoming.transport_fault.is_some() {
        return fault;
    }
    let body = timeout(desk.settings.deadline, incoming.body.collect_up_to(STRANGER_BYTES)).await;
    if let Ok(Ok(body)) = body
        && let Some(id) = peek(&body).id
    {
        call_record.set_id(id);
    }
    fault
}
