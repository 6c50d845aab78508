//! A call while it is being answered: who calls, until when, and the record that every stage adds to. It exists only for
//! identified callers, and must never outlive its call.

use std::sync::Arc;

use bytes::Bytes;
use frontdesk_wire::peek::peek;
use tokio::time::{Instant, timeout, timeout_at};

use crate::limits::body_memory::{BodyHolder, BodyReservation};
use crate::model::caller::Caller;
use crate::model::fault::Fault;
use crate::pipeline::admit::{BodyRate, Charge, take_budget_for};
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
    /// The memory of the body, which is held until the call has ended.
    body: Option<Arc<BodyReservation>>,
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
        CallContext { record: call_record, caller, deadline, charge, form: AnswerForm::Message, body: None }
    }

    /// Reads the body, for which a caller pays by its size. Where the length is known, the budget is asked before anything
    /// is read.
    pub(crate) async fn collect_body(&mut self, rate: BodyRate) -> Result<Bytes, Fault> {
        let CallRecord { desk, incoming, .. } = *self.record;
        if incoming.body.is_small() {
            return incoming.body.collect().await;
        }
        if let Some(length) = incoming.body.length() {
            self.pay_for_body(rate, length)?;
        }
        let holder = BodyHolder::Client(self.caller.client.clone());
        let reservation = Arc::new(desk.inflight.bodies.enter(holder));
        let body = incoming.body.collect_counted(usize::MAX, &reservation).await?;
        if incoming.body.length().is_none() {
            self.pay_for_body(rate, body.len())?;
        }
        self.body = Some(reservation);
        Ok(body)
    }

    /// A body that costs more than one call is paid for here, the call included.
    fn pay_for_body(&mut self, rate: BodyRate, length: usize) -> Result<(), Fault> {
        let calls = rate.calls(length);
        if calls > 1 && self.charge == Charge::Due {
            take_budget_for(self, calls)?;
            self.charge = Charge::Paid;
        }
        Ok(())
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
    let reservation = Arc::new(desk.inflight.bodies.enter(BodyHolder::of_address(incoming.address)));
    let body = timeout(desk.settings.deadline, incoming.body.collect_counted(STRANGER_BYTES, &reservation)).await;
    if let Ok(Ok(body)) = body
        && let Some(id) = peek(&body).id
    {
        call_record.set_id(id);
    }
    fault
}
