//! The demo's partner: its mounts, and the credentials with which it can be called. They are files in the data folder,
//! because a partner's credentials always are; so they can be shown again at every start.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_contracts::demo::{DemoPartner, DemoPartnerMount};
use frontdesk_engine::TenantId;
use frontdesk_engine::ports::Random;

use super::CliError;
use crate::config::{
    BookingClock, CompletionConfig, LoadedConfig, MountConfig, PartnerAuthConfig, PartnerConfig, PartnerCredentials,
};

/// In the data folder.
const LIVE_FILE: &str = "demo-partner-live.token";
const SANDBOX_FILE: &str = "demo-partner-sandbox.token";
/// What notifications about the demo's bookings are signed with.
const NOTIFICATION_FILE: &str = "demo-partner-notifications.token";

/// What a caller of a partner's mount needs, for the banner.
pub(super) struct PartnerAccess {
    pub(super) path: String,
    pub(super) intent: &'static str,
    pub(super) partner_id: String,
    pub(super) sandbox_bearer: String,
    pub(super) live_bearer: String,
}

/// The configuration with the demo's partner mounted in addition.
pub(super) fn with_partner(loaded: LoadedConfig, partner: &DemoPartner) -> Result<LoadedConfig, CliError> {
    let data = std::path::absolute(&loaded.config.data)?;
    let file = |name: &str| PartnerCredentials { tokens: Some(data.join(name)), ..PartnerCredentials::default() };
    let auth = PartnerAuthConfig { live: file(LIVE_FILE), sandbox: file(SANDBOX_FILE) };
    let mut loaded = loaded;
    for DemoPartnerMount { path, business, settings, .. } in &partner.mounts {
        let config = PartnerConfig {
            tenant: TenantId::parse(business).ok_or("the demo's partner has no tenant")?,
            settings: settings.clone(),
            auth: auth.clone(),
            backend_keys: None,
            completion: CompletionConfig::default(),
            maintenance: false,
            stream_time: Duration::ZERO,
            notification_keys: Some(data.join(NOTIFICATION_FILE)),
            // Rides and orders of the demo are nobody's.
            clock: BookingClock { plays_stages: true, complete_after_hours: None },
        };
        loaded = loaded.with_mount(MountConfig::for_partner(partner.entry, path, config));
    }
    Ok(loaded)
}

/// Makes the credentials that do not exist yet.
pub(super) fn make_tokens(folder: &Path, random: &dyn Random) -> Result<(), String> {
    let secrets =
        [(LIVE_FILE, "demo_live_"), (SANDBOX_FILE, "demo_sandbox_"), (NOTIFICATION_FILE, "demo_notifications_")];
    for (name, prefix) in secrets {
        let file = folder.join(name);
        if !file.exists() {
            let mut bytes = [0; 32];
            random.fill(&mut bytes);
            let token = format!("{prefix}{}\n", URL_SAFE_NO_PAD.encode(bytes));
            write_private(&file, &token).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        }
    }
    Ok(())
}

/// Renamed into place when it is complete, and never readable by others.
fn write_private(file: &Path, content: &str) -> io::Result<()> {
    let temporary: PathBuf = file.with_extension("token.new");
    let _ = fs::remove_file(&temporary);
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    opened.write_all(content.as_bytes())?;
    opened.sync_all()?;
    fs::rename(&temporary, file)
}

/// How each mount of the partner is called.
pub(super) fn access(folder: &Path, partner: &DemoPartner) -> Result<Vec<PartnerAccess>, CliError> {
    let first_line = |name: &str| -> io::Result<String> {
        let text = fs::read_to_string(folder.join(name))?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    };
    let (sandbox_bearer, live_bearer) = (first_line(SANDBOX_FILE)?, first_line(LIVE_FILE)?);
    let of_mount = |mount: &DemoPartnerMount| PartnerAccess {
        path: mount.path.clone(),
        intent: mount.intent,
        partner_id: mount.settings.partner_id.clone(),
        sandbox_bearer: sandbox_bearer.clone(),
        live_bearer: live_bearer.clone(),
    };
    Ok(partner.mounts.iter().map(of_mount).collect())
}
