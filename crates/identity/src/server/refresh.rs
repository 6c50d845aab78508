//! Refreshing tokens (RFC 6749 §6). Each refresh token works once: of several refreshes at the same time one wins, and any
//! later use of an old token ends the whole grant (RFC 9700 §4.14.2).

use frontdesk_engine::model::caller::TenantId;
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::ports::login_records::LoginAudit;
use frontdesk_engine::ports::registry::Changed;
use subtle::ConstantTimeEq;

use super::code_grant::narrowed;
use super::error::{OAuthError, OAuthErrorKind};
use super::form::FormParameters;
use super::grants::{RefreshParts, invalid_grant};
use super::interactive_client::InteractiveClient;
use super::page_endpoint::caller;
use super::{EmbeddedServer, EndpointOutcome};
use crate::people::records::{Grant, RefreshToken};
use crate::people::stored::find_valid;

impl EmbeddedServer {
    pub(crate) async fn refresh(
        &self,
        client: &InteractiveClient,
        form: &FormParameters,
        observation: &Observation,
    ) -> Result<EndpointOutcome, OAuthError> {
        let now = self.clock.now();
        let Some(sent) = form.get("refresh_token") else {
            return Err(OAuthError::new(OAuthErrorKind::InvalidRequest, "Send the parameter refresh_token."));
        };
        let parts = RefreshParts::parse(sent).ok_or_else(invalid_grant)?;
        let found = find_valid::<RefreshToken>(self.records(), &parts.family, now).await?;
        let token = found.filter(|token| token.content.client == client.id.as_str()).ok_or_else(invalid_grant)?;
        let grant = self.grant_record(&token.content.grant).await?.ok_or_else(invalid_grant)?;
        if !bool::from(token.content.current.as_bytes().ct_eq(parts.hash.as_bytes())) {
            let reused = Observation { outcome: "refresh_reused", ..observation.clone() };
            self.end_stolen(grant.id(), reused.to_line()).await?;
            return Err(invalid_grant());
        }
        if self.users.active(&grant.content.user).await?.is_none() {
            return Err(invalid_grant());
        }
        if form.get("resource").is_some_and(|resource| resource != grant.content.resource) {
            return Err(OAuthError::new(OAuthErrorKind::InvalidTarget, "Send the resource that was granted."));
        }
        let scopes = narrowed(form.get("scope"), &grant.content.scopes)?;
        let until = grant.record.expires_at.unwrap_or(now);
        let pair =
            self.new_pair(grant.id(), &grant.content, &parts.family, &scopes, until).ok_or_else(invalid_grant)?;
        let next = RefreshToken {
            current: pair.refresh_hash.clone(),
            generation: token.content.generation + 1,
            ..token.content.clone()
        };
        let used = Grant { last_used_at: now.0, ..grant.content.clone() };
        let steps = vec![
            token.replace_until(&next, Some(pair.refresh_until)),
            // Also makes sure that it has not been ended meanwhile.
            grant.replace(&used),
            pair.stored_access.clone(),
        ];
        let tenant = TenantId::parse(&used.tenant);
        let who = caller(&used.client, &used.user, tenant.as_ref(), scopes);
        let ids = vec![grant.id().to_owned()];
        let line = Observation { caller: Some(who), tenant, ids, ..observation.clone() }.to_line();
        match self.records().change_login_records(steps, now, LoginAudit::Access(line)).await? {
            Changed::Done => Ok(pair.answer()),
            // Another one was first, so this token is an old one now.
            Changed::Nothing => Box::pin(self.refresh(client, form, observation)).await,
        }
    }
}
