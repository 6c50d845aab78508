//! What a business says of itself to the one party that calls it: the settings of a mount whose contract requires a
//! partner. The configuration fills them in; the contract checks them and makes its tools from them.

use frontdesk_engine::Contract;

use crate::tomo;

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
    pub error_status: ErrorStatus,
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
