//! The tenants that mounts name: those that are missing are created, and others must fit their contract.

use frontdesk_contracts::partner::PARTNER_CURRENCY;
use frontdesk_engine::model::tenant::{CurrencyCode, Tenant};

use super::DataBackend;
use super::partners::{TenantCurrency, check_currencies};
use crate::admin::tenant_record;
use crate::config::Config;

/// Creates the tenants of sites and partners, where they are missing; or says which cannot be served.
pub async fn register_tenants(config: &Config, backend: &DataBackend) -> Result<(), String> {
    let mut needed: Vec<Tenant> = Vec::new();
    for mount in &config.mounts {
        if let Some(site) = &mount.site {
            needed.push(Tenant::new(site.tenant.clone(), site.tenant.as_str()));
        }
        if let Some(partner) = &mount.partner {
            let mut tenant = Tenant::new(partner.tenant.clone(), partner.tenant.as_str());
            tenant.profile.currency = CurrencyCode::parse(PARTNER_CURRENCY).ok();
            needed.push(tenant);
        }
    }
    if needed.is_empty() {
        return Ok(());
    }
    let explain = |fault: frontdesk_engine::Fault| fault.cause.unwrap_or_else(|| fault.message.into_owned());
    let known = backend.store.tenants().await.map_err(explain)?;
    let problems = check_currencies(config, &currencies(&known));
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    for tenant in needed {
        // Several mounts can have one tenant; only the first adds it.
        if !known.iter().any(|known| known.id == tenant.id) {
            let record = tenant_record(backend.clock.now(), &tenant.id);
            backend.store.add_tenant(tenant, record).await.map_err(explain)?;
        }
    }
    Ok(())
}

/// What the profiles of tenants say.
fn currencies(tenants: &[Tenant]) -> Vec<TenantCurrency> {
    let currency = |tenant: &Tenant| TenantCurrency {
        tenant: tenant.id.as_str().to_owned(),
        currency: tenant.profile.currency.as_ref().map(|currency| currency.as_str().to_owned()),
    };
    tenants.iter().map(currency).collect()
}
