//! What operators see: the log, metrics and traces. A finished call is one log line, one count and its spans. They
//! contain ids and codes, never arguments, answers or credentials. No call waits for a reader of them.

mod call_metrics;
mod events;
mod log;
mod log_writer;
mod metrics_page;
pub mod traces;

use std::sync::Arc;

use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::ports::Observer;

pub use call_metrics::CallMetrics;
pub use log::Log;
pub use metrics_page::ListenerMetrics;
pub(crate) use metrics_page::metrics_page;
use traces::Traces;

/// Passes each finished call to the log, the metrics and the traces.
pub struct Telemetry {
    pub log: Arc<Log>,
    pub call_metrics: Arc<CallMetrics>,
    pub traces: Arc<Traces>,
}

impl Observer for Telemetry {
    fn on_call(&self, call: &Observation, cause: Option<&str>) {
        self.call_metrics.add(call);
        self.traces.add(call);
        // An import of thousands of rows is one event; only its refusals are worth a line each.
        if call.import_id.is_none() || call.outcome != "ok" {
            self.log.on_call(call, cause);
        }
    }
}
