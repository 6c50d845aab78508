//! The page "Connected agents": what acts for the user, and how it is ended.

use frontdesk_engine::model::caller::{Scope, Scopes};
use frontdesk_engine::model::observation::Observation;
use frontdesk_engine::model::timestamp::Millis;
use frontdesk_engine::ports::registry::{Changed, Tenant};

use super::EmbeddedServer;
use super::page_endpoint::{PageError, PageOutcome, caller};
use super::pages::{self, GrantRow};
use super::request::OAuthRequest;
use crate::people::records::Grant;
use crate::people::stored::{StoredRecord, find_owned};

impl EmbeddedServer {
    pub(crate) async fn account(
        &self,
        request: &OAuthRequest<'_>,
        observation: &mut Observation,
    ) -> Result<PageOutcome, PageError> {
        let browser = self.browser(request).await?;
        let Some(login) = &browser.login else {
            return Ok(self.login_for_account(&browser));
        };
        observation.caller = Some(caller("browser", login.user.id(), None, Scopes::default()));
        let now = self.clock.now();
        let tenants = self.registry.tenants().await?;
        let mut grants = find_owned::<Grant>(self.records(), login.user.id()).await?;
        grants.retain(|grant| !grant.is_expired(now));
        grants.sort_by_key(|grant| -grant.content.last_used_at);
        let rows: Vec<GrantRow> = grants.iter().map(|grant| self.grant_row(grant, &tenants)).collect();
        Ok(PageOutcome::shown(pages::account(&login.user.content.name, &browser.form_token(), &rows)))
    }

    fn grant_row(&self, grant: &StoredRecord<Grant>, tenants: &[Tenant]) -> GrantRow {
        let Grant { client, client_name, resource, scopes, tenant, created_at, last_used_at, .. } = &grant.content;
        let resource = self.resources.iter().find(|known| known.url == *resource);
        let words = |scope: &Scope| resource.map_or_else(|| scope.as_str().to_owned(), |known| known.words(scope));
        GrantRow {
            id: grant.id().to_owned(),
            client: client_name.clone(),
            client_id: client.clone(),
            tenant: tenants
                .iter()
                .find(|known| known.id.as_str() == tenant)
                .map_or_else(|| tenant.clone(), |known| known.name.clone()),
            scopes: Scopes::parse(scopes).unwrap_or_default().iter().map(words).collect(),
            since: day(Millis(*created_at)),
            last_used: day(Millis(*last_used_at)),
            until: grant.record.expires_at.map(day).unwrap_or_default(),
        }
    }

    /// Ends a grant of the user who is logged in; of nobody else.
    pub(crate) async fn end_own_grant(
        &self,
        request: &OAuthRequest<'_>,
        observation: &mut Observation,
    ) -> Result<PageOutcome, PageError> {
        let (browser, form) = self.own_form(request).await?;
        let Some(login) = &browser.login else {
            return Ok(self.login_for_account(&browser));
        };
        observation.caller = Some(caller("browser", login.user.id(), None, Scopes::default()));
        let id = form.get("grant").unwrap_or_default();
        let found = self.grant_record(id).await?.filter(|grant| grant.content.user == login.user.id());
        let reply = pages::see_other("/account".to_owned());
        let Some(grant) = found else {
            return Ok(PageOutcome::refused(reply, "not_found"));
        };
        observation.ids = vec![grant.id().to_owned()];
        match self.end_grant(&grant, observation.to_line()).await? {
            Changed::Done => Ok(PageOutcome::committed(reply)),
            // It was used or ended at the same moment.
            Changed::Nothing => {
                self.end_stolen(grant.id(), observation.to_line()).await?;
                Ok(PageOutcome::committed(reply))
            }
        }
    }

    pub(crate) async fn logout(
        &self,
        request: &OAuthRequest<'_>,
        observation: &mut Observation,
    ) -> Result<PageOutcome, PageError> {
        let (browser, _) = self.own_form(request).await?;
        if let Some(login) = &browser.login {
            observation.caller = Some(caller("browser", login.user.id(), None, Scopes::default()));
        }
        self.log_out(&browser, observation.to_line()).await?;
        Ok(PageOutcome::committed(pages::see_other("/account".to_owned())))
    }
}

fn day(at: Millis) -> String {
    at.to_rfc3339().split('T').next().unwrap_or_default().to_owned()
}
