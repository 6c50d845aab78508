//! Redeeming a code (RFC 6749 §4.1.3). A code works once: of several that redeem it at the same time one wins, and any
//! later attempt ends what the first one got.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use frontdesk_engine::model::caller::{Scopes, TenantId};
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::ports::login_records::{LoginAudit, LoginRecord, RecordChange};
use frontdesk_engine::ports::registry::Changed;
use frontdesk_engine::seal::sha256;
use subtle::ConstantTimeEq;

use super::error::{OAuthError, OAuthErrorKind};
use super::form::FormParameters;
use super::grants::{invalid_grant, wider_scope};
use super::interactive_client::InteractiveClient;
use super::page_endpoint::caller;
use super::{EmbeddedServer, EndpointOutcome};
use crate::people::records::{AuthorizationCode, Grant, RefreshToken};
use crate::people::stored::{StoredRecord, find_valid, new_record};
use crate::people::users::hex;
use crate::secret::{CODE_PREFIX, is_encoded_secret};

/// How long a used code is recognized.
const USED_CODE_SECONDS: i64 = 24 * 60 * 60;

impl EmbeddedServer {
    pub(crate) async fn redeem_code(
        &self,
        client: &InteractiveClient,
        form: &FormParameters,
        observation: &Observation,
    ) -> Result<EndpointOutcome, OAuthError> {
        let sent = form.get("code").ok_or_else(|| missing("code"))?;
        let verifier = form.get("code_verifier").ok_or_else(|| missing("code_verifier"))?;
        let redirect_uri = form.get("redirect_uri").ok_or_else(|| missing("redirect_uri"))?;
        let is_code = sent.strip_prefix(CODE_PREFIX).is_some_and(is_encoded_secret);
        if !is_code {
            return Err(invalid_grant());
        }
        let found =
            find_valid::<AuthorizationCode>(self.records(), &hex(&sha256(sent.as_bytes())), self.clock.now()).await?;
        let code = found.filter(|code| code.content.client == client.id.as_str()).ok_or_else(invalid_grant)?;
        if let Some(grant) = &code.content.grant {
            let reused = Observation { outcome: "code_reused", ..observation.clone() };
            self.end_stolen(grant, reused.to_line()).await?;
            return Err(invalid_grant());
        }
        if code.content.redirect_uri != redirect_uri || !fits(verifier, &code.content.challenge) {
            return Err(invalid_grant());
        }
        if form.get("resource").is_some_and(|resource| resource != code.content.resource) {
            return Err(OAuthError::new(OAuthErrorKind::InvalidTarget, "Send the resource that the code is for."));
        }
        let scopes = narrowed(form.get("scope"), &code.content.scopes)?;
        self.start_grant(client, form, &code, &scopes, observation).await
    }

    async fn start_grant(
        &self,
        client: &InteractiveClient,
        form: &FormParameters,
        code: &StoredRecord<AuthorizationCode>,
        scopes: &Scopes,
        observation: &Observation,
    ) -> Result<EndpointOutcome, OAuthError> {
        let now = self.clock.now();
        let AuthorizationCode { user, tenant, resource, authenticated_at, client_name, .. } = code.content.clone();
        if self.users.active(&user).await?.is_none() {
            return Err(invalid_grant());
        }
        let (id, family) = (self.users.new_id("grt_"), self.users.new_id(""));
        let grant = Grant {
            user,
            client: client.id.as_str().to_owned(),
            client_name,
            resource,
            scopes: scopes.to_string(),
            tenant,
            authenticated_at,
            created_at: now.0,
            last_used_at: now.0,
        };
        let until = now.plus_seconds(i64::from(self.settings.login.grant_days) * 24 * 60 * 60);
        let pair = self.new_pair(&id, &grant, &family, scopes, until).ok_or_else(invalid_grant)?;
        let used = AuthorizationCode { grant: Some(id.clone()), ..code.content.clone() };
        let refresh = RefreshToken {
            grant: id.clone(),
            client: grant.client.clone(),
            current: pair.refresh_hash.clone(),
            generation: 1,
        };
        let stored_grant = LoginRecord {
            tenant: TenantId::parse(&grant.tenant),
            expires_at: Some(until),
            ..new_record(id.as_str(), grant.user.as_str(), &grant)
        };
        let stored_refresh =
            LoginRecord { expires_at: Some(pair.refresh_until), ..new_record(family, id.as_str(), &refresh) };
        let steps = vec![
            code.replace_until(&used, Some(now.plus_seconds(USED_CODE_SECONDS))),
            RecordChange::Add(stored_grant),
            RecordChange::Add(stored_refresh),
            pair.stored_access.clone(),
        ];
        let tenant = TenantId::parse(&grant.tenant);
        let who = caller(&grant.client, &grant.user, tenant.as_ref(), scopes.clone());
        let line = Observation { caller: Some(who), tenant, ids: vec![id], ..observation.clone() }.to_line();
        match self.records().change_login_records(steps, now, LoginAudit::Administration(line)).await? {
            Changed::Done => Ok(pair.answer()),
            // Another one was first. What it got ends, as with any second use.
            Changed::Nothing => Box::pin(self.redeem_code(client, form, observation)).await,
        }
    }
}

/// What was asked for, if it is not more than was granted (S7).
pub(crate) fn narrowed(asked: Option<&str>, granted: &str) -> Result<Scopes, OAuthError> {
    let granted = Scopes::parse(granted).unwrap_or_default();
    match asked {
        None => Ok(granted),
        Some(text) => match Scopes::parse(text) {
            Some(asked) if !asked.is_empty() && granted.covers(&asked) => Ok(asked),
            Some(_) | None => Err(wider_scope()),
        },
    }
}

/// Whether the challenge was made from this verifier (RFC 7636 §4.6).
fn fits(verifier: &str, challenge: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let computed = URL_SAFE_NO_PAD.encode(sha256(verifier.as_bytes()));
    (43..=128).contains(&verifier.len())
        && verifier.bytes().all(plain)
        && bool::from(computed.as_bytes().ct_eq(challenge.as_bytes()))
}

fn missing(name: &'static str) -> OAuthError {
    OAuthError::new(OAuthErrorKind::InvalidRequest, format!("Send the parameter {name}."))
}
