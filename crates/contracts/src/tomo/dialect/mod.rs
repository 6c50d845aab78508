//! How this contract reads arguments and writes answers: one text with the payload, JSON-RPC errors with TOMO's codes
//! beside them. No other module formats its answers.

mod failure;
mod success;

use std::sync::Arc;

use frontdesk_engine::delivery::DeliveryRules;
use frontdesk_engine::limits::rate::Budget;
use frontdesk_engine::model::contract::{Compatibility, Dialect, Payload, ReplyContext};
use frontdesk_engine::model::idempotency_key::IdempotencyKey;
use frontdesk_engine::model::tool::{Effect, ToolSpec};
use frontdesk_engine::model::tool_input::ToolInput;
use frontdesk_engine::{Fault, Reply};
use frontdesk_wire::version::Version;
use serde_json::{Map, Value, json};

use super::TENANT;
use super::completion::Completions;
use super::intent::{Intent, IntentTool};
use super::settings::SIGNALS;
use crate::partner::{ErrorStatus, PartnerSettings};

pub(super) const KEY: &str = "idempotency_key";

/// One client calls for all users of TOMO, so what it may send in a minute is no measure of one user: 50 sessions at
/// TOMO's own ceilings (§8) come to a tenth of this.
const CLIENT_BUDGET: Budget = Budget { per_minute: 60_000, burst: 6_000 };

pub struct Tomo {
    intents: Vec<Arc<Intent>>,
    partner: Map<String, Value>,
    error_status: ErrorStatus,
    /// None without a partner.
    completions: Option<Completions>,
}

impl Default for Tomo {
    /// Without a partner, for what needs no tools.
    fn default() -> Tomo {
        Tomo { intents: Vec::new(), partner: Map::new(), error_status: ErrorStatus::Ok, completions: None }
    }
}

impl Tomo {
    pub(super) fn new(partner: &PartnerSettings, intents: &[Arc<Intent>]) -> Tomo {
        let rating = |axis: &str| partner.signals.iter().find(|(name, _)| name == axis).map(|(_, rating)| *rating);
        let signals: Map<String, Value> =
            SIGNALS.iter().map(|axis| ((*axis).to_owned(), json!(rating(axis)))).collect();
        let partner_members = Map::from_iter([
            ("ttbs_signals".to_owned(), Value::Object(signals)),
            ("service_area".to_owned(), json!(partner.service_area)),
            ("pricing_band".to_owned(), json!(partner.pricing_band)),
            ("completion_callback".to_owned(), json!(partner.callback)),
        ]);
        Tomo {
            intents: intents.to_vec(),
            partner: partner_members,
            error_status: partner.error_status,
            completions: Some(Completions::new(partner, intents)),
        }
    }

    /// The intent that a tool belongs to: names are disjoint within a mount.
    fn find(&self, tool: &str) -> Option<(&Intent, &IntentTool)> {
        self.intents.iter().find_map(|intent| Some((intent.as_ref(), intent.tool(tool)?)))
    }

    /// Whether calls of this tool, or any call where there is none, may end with this code.
    fn has_code(&self, tool: Option<&str>, code: &str) -> bool {
        match tool.and_then(|tool| self.find(tool)) {
            Some((intent, _)) => intent.has_code(code),
            None => false,
        }
    }
}

impl Dialect for Tomo {
    fn read(
        &self,
        tool: &ToolSpec,
        mut arguments: Map<String, Value>,
        header_key: Option<&str>,
    ) -> Result<ToolInput, Fault> {
        let key = match (tool.effect, arguments.remove(KEY)) {
            (Effect::Adds | Effect::Changes, Some(Value::String(key))) => Some(IdempotencyKey::read(&key, KEY)?),
            (Effect::Adds | Effect::Changes, _) => header_key.map(|key| IdempotencyKey::read(key, KEY)).transpose()?,
            (Effect::Reads, _) => None,
        };
        let tenant = match arguments.remove(TENANT) {
            Some(Value::String(tenant)) => Some(tenant),
            Some(_) | None => None,
        };
        Ok(ToolInput { arguments, tenant, window: None, idempotency_key: key })
    }

    fn success(&self, payload: Payload, context: &ReplyContext<'_>) -> Reply {
        success::success(payload, context)
    }

    fn failure(&self, fault: &Fault, context: &ReplyContext<'_>) -> Reply {
        failure::failure(self, fault, context)
    }

    fn tenant_argument(&self) -> &'static str {
        TENANT
    }

    fn key_argument(&self) -> &'static str {
        KEY
    }

    /// §2: `_meta.tomo` on every tool, and examples that work. What a version does not know is left out.
    fn describe_tool(&self, tool: &ToolSpec, version: Version, described: &mut Map<String, Value>) {
        if version < Version::V2025_06_18 {
            described.remove("outputSchema");
            described.remove("title");
        }
        if version < Version::V2025_03_26 {
            described.remove("annotations");
        }
        let Some((intent, tool)) = self.find(tool.name) else { return };
        if let Some(input) = described.get_mut("inputSchema").and_then(Value::as_object_mut) {
            input.insert("examples".to_owned(), json!(tool.examples));
        }
        let mut meta = Map::from_iter([
            ("intent".to_owned(), json!(intent.id)),
            ("intent_version".to_owned(), json!(intent.version)),
            ("tool_role".to_owned(), json!(tool.role.as_str())),
            ("result_widget".to_owned(), json!(tool.widget)),
        ]);
        meta.extend(self.partner.clone());
        described.insert("_meta".to_owned(), json!({"tomo": meta}));
    }

    fn deliveries(&self) -> Option<&dyn DeliveryRules> {
        self.completions.as_ref().map(|completions| completions as &dyn DeliveryRules)
    }

    fn compatibility(&self) -> Compatibility {
        Compatibility {
            // TOMO names the version; what else calls may leave it out.
            default_version: Some(Version::V2024_11_05),
            echoes_refused_id: true,
            lists_by_version: true,
            client_budget: Some(CLIENT_BUDGET),
            ..Compatibility::default()
        }
    }
}
