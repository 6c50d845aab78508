//! Serving: the public and the admin listener and the background tasks, until a shutdown is requested; meanwhile
//! certificates and configuration are reloaded.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::signal::unix::Signal;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::audit_sealing::{run_audit_sealing, seal_at_shutdown};
use super::background::{
    abort_tasks, flush_tally, flush_traces, run_delivery_worker, run_dispatch_worker, run_import_worker,
    run_relay_worker, run_retention, run_service_levels, run_tally_flush,
};
use super::booking_clock::run_booking_clock;
use super::{App, OnDatabaseDown, OpenMounts, Reload, SiteNotice, register_tenants};
use crate::admin::health;
use crate::config::Config;
use crate::http;
use crate::net::{
    CertificateEvent, CertificateWatcher, ConnectionLimits, DrainResult, Listener, Shutdown, prepare_certificate,
};
use crate::stdio::StdioListener;
use crate::telemetry::ListenerMetrics;
use crate::telemetry::traces::{self, listed};

/// How soon a changed certificate file is noticed.
const CERTIFICATE_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The listeners, bound to their ports, and the certificate that they present.
pub struct BoundListeners {
    pub public: Listener,
    pub admin: Listener,
    pub certificates: CertificateWatcher,
    /// For `frontdesk stdio`; none where no data folder is locked.
    pub stdio: Option<StdioListener>,
}

/// What SIGHUP does.
pub enum OnSighup {
    /// The default of the system: closing the terminal ends the process.
    Exit,
    Reload(Signal, Box<Reload>),
}

/// Serves until a signal or `shutdown` requests the end; running calls are finished first. A reload replaces the current
/// app.
pub async fn serve_until_shutdown(
    current: Arc<ArcSwap<App>>,
    listeners: BoundListeners,
    on_sighup: OnSighup,
    shutdown: Shutdown,
) -> DrainResult {
    let (limits, drain) = {
        let app = current.load();
        (connection_limits(&app.config), app.config.deadlines.drain)
    };
    let (tls, validity) = (listeners.certificates.tls(), listeners.certificates.validity());
    let background_tasks = [
        tokio::spawn(run_tally_flush(Arc::clone(&current))),
        tokio::spawn(run_retention(Arc::clone(&current))),
        tokio::spawn(run_audit_sealing(Arc::clone(&current))),
        tokio::spawn(run_dispatch_worker(Arc::clone(&current))),
        tokio::spawn(run_import_worker(Arc::clone(&current))),
        tokio::spawn(run_delivery_worker(Arc::clone(&current))),
        tokio::spawn(run_booking_clock(Arc::clone(&current))),
        tokio::spawn(run_relay_worker(Arc::clone(&current))),
        tokio::spawn(run_service_levels(Arc::clone(&current))),
        tokio::spawn(watch_reload_and_certs(Arc::clone(&current), listeners.certificates, on_sighup)),
    ];
    let metrics = ListenerMetrics::default();
    let for_calls = Arc::clone(&current);
    let public = listeners.public.serve(
        Arc::clone(&tls),
        limits.clone(),
        Arc::clone(&metrics.public),
        Arc::new(move |request, peer| http::respond(for_calls.load_full(), request, peer)),
        shutdown.clone(),
    );
    let requested = shutdown.clone();
    let for_streams = Arc::clone(&current);
    let deadline = async move {
        requested.requested().await;
        // They would stay open for as long as the drain waits.
        for_streams.load().desk.inflight.streams.close();
        Instant::now() + drain
    };
    let (for_stdio, stdio_shutdown) = (Arc::clone(&current), shutdown.clone());
    let stdio = async move {
        if let Some(listener) = listeners.stdio {
            listener.serve(for_stdio, stdio_shutdown).await;
        }
    };
    let (for_admin, metrics_for_admin) = (Arc::clone(&current), metrics.clone());
    let admin = listeners.admin.serve(
        tls,
        limits,
        Arc::clone(&metrics.admin),
        Arc::new(move |request, _| health(for_admin.load_full(), metrics_for_admin.clone(), validity.clone(), request)),
        shutdown,
    );
    let (drained, _, deadline, ()) = tokio::join!(public, admin, deadline, stdio);
    abort_tasks(background_tasks).await;
    let app = current.load_full();
    flush_tally(&app).await;
    seal_at_shutdown(&app).await;
    flush_traces(&app, deadline).await;
    drained
}

/// Reloads changed certificate files, and the configuration on SIGHUP.
async fn watch_reload_and_certs(
    current: Arc<ArcSwap<App>>,
    mut certificates: CertificateWatcher,
    mut on_sighup: OnSighup,
) {
    let mut tick = interval(CERTIFICATE_CHECK_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let sighup = async {
            match &mut on_sighup {
                OnSighup::Exit => std::future::pending().await,
                OnSighup::Reload(signal, reload) => signal.recv().await.map(|()| reload),
            }
        };
        let app = current.load_full();
        tokio::select! {
            _ = tick.tick() => {
                if let Some(event) = certificates.check(&app.config, app.desk.now()) {
                    event.log();
                }
            }
            reload = sighup => match reload {
                Some(reload) => apply_reload(&current, &mut certificates, reload).await,
                // No more signals can arrive; certificates are watched all the same.
                None => on_sighup = OnSighup::Exit,
            },
        }
    }
}

/// Everything that can fail is done before anything is replaced.
async fn apply_reload(current: &ArcSwap<App>, certificates: &mut CertificateWatcher, reload: &mut Reload) {
    let app = current.load_full();
    let reject = |why: &dyn std::fmt::Display| {
        tracing::error!(error = %why, "configuration not reloaded; the current one stays in effect");
    };
    let reloaded = match reload.read() {
        Ok(reloaded) => reloaded,
        Err(error) => return reject(&error),
    };
    let certificate = match prepare_certificate(&reloaded.config, app.desk.now()) {
        Ok(certificate) => certificate,
        Err(error) => return reject(&error),
    };
    let traces = match traces::prepare(&reloaded.config.traces) {
        Ok(traces) => traces,
        Err(errors) => return reject(&listed(&errors)),
    };
    let clock = &app.backend.clock;
    let (opened, notices) = match OpenMounts::open(&reloaded.config, clock, OnDatabaseDown::Fail, &app.opened).await {
        Ok(both) => both,
        Err(errors) => return reject(&errors),
    };
    if let Err(why) = register_tenants(&reloaded.config, &app.backend).await {
        return reject(&why);
    }
    let event = certificate.event();
    certificates.replace(certificate);
    app.traces.set_exporter(traces);
    current.store(Arc::new(app.reloaded(reloaded.config.clone(), opened)));
    reload.finish(reloaded);
    notices.iter().for_each(SiteNotice::log);
    event.iter().for_each(CertificateEvent::log);
}

fn connection_limits(config: &Config) -> ConnectionLimits {
    ConnectionLimits {
        connections: config.limits.connections,
        per_address: config.limits.connections_per_address,
        trusted_proxies: config.trusted_proxies.clone(),
        drain: config.deadlines.drain,
        ..ConnectionLimits::default()
    }
}
