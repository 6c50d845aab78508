//! What operators see: the log, metrics and traces. A finished call is one log line, one count and its spans. They
//! contain ids and codes, never arguments, answers or credentials. No call waits for a reader of them.

mod call_metrics;
mod delivery_metrics;
mod events;
mod log;
mod log_writer;
mod metrics_page;
pub mod traces;

use std::sync::Arc;

use frontdesk_engine::delivery::DeliveryNotice;
use frontdesk_engine::model::notice::Notice;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::ports::Observer;

pub use call_metrics::CallMetrics;
pub use delivery_metrics::DeliveryMetrics;
pub use log::Log;
pub use metrics_page::ListenerMetrics;
pub(crate) use metrics_page::metrics_page;
use traces::Traces;

/// Passes each finished call to the log, the metrics and the traces.
pub struct Telemetry {
    pub log: Arc<Log>,
    pub call_metrics: Arc<CallMetrics>,
    pub delivery_metrics: Arc<DeliveryMetrics>,
    pub traces: Arc<Traces>,
}

impl Observer for Telemetry {
    fn on_delivery(&self, notice: &DeliveryNotice<'_>) {
        self.delivery_metrics.add(notice);
        delivery_metrics::log(notice);
    }

    fn on_notice(&self, notice: &Notice<'_>) {
        self.call_metrics.add_notice(notice);
        log_notice(notice);
    }

    fn on_call(&self, call: &Observation, cause: Option<&str>) {
        self.call_metrics.add(call);
        self.traces.add(call);
        // An import of thousands of rows is one event; only its refusals are worth a line each.
        if call.import_id.is_none() || call.outcome != "ok" {
            self.log.on_call(call, cause);
        }
    }
}

fn log_notice(notice: &Notice<'_>) {
    match notice {
        Notice::RemoteSuspended { contract, remote, failures } => {
            tracing::warn!(contract, remote, failures, "backend fails; it is left alone for a while");
        }
        Notice::RemoteResumed { contract, remote } => tracing::info!(contract, remote, "backend answers again"),
        Notice::RelayFailed { contract, tool, id } => {
            tracing::error!(contract, tool, id, "call given up; whether the backend has done it is not known");
        }
    }
}
