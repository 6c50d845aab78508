//! What a business says of itself to the one party that calls it: the settings of a mount whose contract requires a
//! partner. The configuration fills them in; the contract checks them and makes its tools from them.

use frontdesk_engine::Contract;
use frontdesk_engine::seal::signing_key::SigningKey;

use crate::tomo;
pub use crate::tomo::manifest::{ManifestDocument, ManifestFormat};

#[derive(Debug, Clone, PartialEq)]
pub struct PartnerSettings {
    /// The company, as the caller's logs show it.
    pub company: String,
    /// The id under which the caller knows the business.
    pub partner_id: String,
    /// Which intents are served: files, in the form of spec/tomo/intents.
    pub intents: Vec<IntentText>,
    /// Self-rated signals, 0.0 to 1.0 each.
    pub signals: Vec<(String, f64)>,
    /// Cities or pincodes.
    pub service_area: Vec<String>,
    pub pricing_band: String,
    /// Where completed orders are reported.
    pub callback: String,
    pub source: PartnerSource,
    /// The business's own system, if tools are forwarded to it.
    pub backend: Option<BackendSettings>,
    pub error_status: ErrorStatus,
    /// The address of the mount from outside, such as `https://desk.example/mcp/tomo`: what links begin with.
    pub public_url: String,
    pub keys: PartnerKeys,
    pub manifest: ManifestSettings,
}

/// What a business declares when it registers with the caller. A mount is served without any of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ManifestSettings {
    /// The name under which the business is registered.
    pub legal_name: Option<String>,
    pub tier: Option<String>,
    /// Its number for goods and services tax.
    pub gstin: Option<String>,
    /// Kind and number, such as `fssai` and 14 digits.
    pub licences: Vec<(String, String)>,
    pub privacy_policy_url: Option<String>,
    /// What an order costs at least and at most.
    pub min_price_inr: Option<u32>,
    pub max_price_inr: Option<u32>,
    /// When orders are taken.
    pub availability: Option<String>,
    /// What the business offers under this mount's intents.
    pub description: Option<String>,
}

/// A mount whose intents a manifest declares.
#[derive(Debug, Clone, Copy)]
pub struct ManifestMount<'a> {
    pub path: &'a str,
    pub settings: &'a PartnerSettings,
}

/// Secrets of a partner's mount. They are read when it is opened; a configuration that is only checked has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartnerKeys {
    /// What completions are signed with, the newest first.
    pub completion: Vec<SigningKey>,
    /// What requests to the business's own system are signed with, the newest first.
    pub backend: Vec<SigningKey>,
}

/// The business's own system behind a mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendSettings {
    /// Where requests are sent to: an `https` URL.
    pub url: String,
    pub timeouts: BackendTimeouts,
}

/// How long the system may take for each kind of tool, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackendTimeouts {
    pub search: u32,
    pub get: u32,
    pub create: u32,
    /// Also for changes and ratings.
    pub cancel: u32,
    pub track: u32,
}

impl Default for BackendTimeouts {
    /// About four fifths of what the 99th percentile may be (§7): what is left is for this server and the way.
    fn default() -> BackendTimeouts {
        BackendTimeouts { search: 2_500, get: 1_200, create: 8_000, cancel: 4_000, track: 600 }
    }
}

impl BackendTimeouts {
    /// Each kind with its smallest and its largest value, which is below what the 99th percentile may be (§7).
    pub const BOUNDS: [(&'static str, u32, u32); 5] =
        [("search", 50, 2_900), ("get", 50, 1_400), ("create", 50, 9_500), ("cancel", 50, 4_800), ("track", 50, 700)];

    /// The value of a kind, by its name in a configuration.
    pub fn get_mut(&mut self, kind: &str) -> Option<&mut u32> {
        match kind {
            "search" => Some(&mut self.search),
            "get" => Some(&mut self.get),
            "create" => Some(&mut self.create),
            "cancel" => Some(&mut self.cancel),
            "track" => Some(&mut self.track),
            _ => None,
        }
    }
}

/// An intent as it was configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentText {
    /// The id of an intent that is built in, or the path of a file: what messages name.
    pub name: String,
    pub text: String,
}

/// Whose goods and times are sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartnerSource {
    /// Records of this contract, which come in by import.
    Own,
    /// The stock and the workshop of the tenant's dealership.
    Dealership,
}

impl PartnerSource {
    pub const ALL: [PartnerSource; 2] = [PartnerSource::Own, PartnerSource::Dealership];
    /// The words of a configuration, for its reference.
    pub const WORDS: &'static str = "own or dealership";

    /// As a configuration names it.
    pub fn as_str(self) -> &'static str {
        match self {
            PartnerSource::Own => "own",
            PartnerSource::Dealership => "dealership",
        }
    }
}

/// The HTTP status of an error that is not about the credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorStatus {
    /// Always 200: common clients lose the body of anything else.
    Ok,
    /// The one that the contract names beside each code.
    Equivalent,
}

/// A setting that is wrong, by its key in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingProblem {
    pub key: String,
    pub reason: String,
}

impl SettingProblem {
    pub fn new(key: impl Into<String>, reason: impl Into<String>) -> SettingProblem {
        SettingProblem { key: key.into(), reason: reason.into() }
    }
}

/// The contract of a partner with these settings. None for a contract that needs no partner.
pub fn partner_contract(id: &str, settings: &PartnerSettings) -> Option<Result<Contract, Vec<SettingProblem>>> {
    (id == tomo::ID).then(|| tomo::contract(settings))
}

/// What the partner with these mounts registers with, or all that is missing for it. None for a contract without manifests.
pub fn partner_manifest(id: &str, mounts: &[ManifestMount<'_>]) -> Option<Result<ManifestDocument, Vec<String>>> {
    (id == tomo::ID).then(|| tomo::manifest::manifest(mounts))
}

/// The text of an intent that is built in.
pub fn built_in_intent(contract: &str, intent: &str) -> Option<&'static str> {
    (contract == tomo::ID).then(|| tomo::intent::built_in(intent)).flatten()
}

/// The ids of the intents that are built in.
pub fn built_in_intents(contract: &str) -> Vec<&'static str> {
    if contract == tomo::ID { tomo::intent::BUILT_IN.iter().map(|(id, _)| *id).collect() } else { Vec::new() }
}

/// Where the contract is explained to operators.
pub const GUIDE: &str = "docs/guides/tomo.md";

/// The currency that the contract counts in: what a business is paid in must be the same.
pub const PARTNER_CURRENCY: &str = "INR";

/// The scopes of a partner's two kinds of credential.
pub struct PartnerScopes {
    pub live: &'static str,
    pub sandbox: &'static str,
}

pub const PARTNER_SCOPES: PartnerScopes = PartnerScopes { live: tomo::LIVE, sandbox: tomo::SANDBOX };
