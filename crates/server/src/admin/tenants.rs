//! Requests about tenants: their profiles, their groups, and their erasure.

use std::collections::BTreeMap;

use frontdesk_engine::TenantId;
use frontdesk_engine::model::tenant::{
    CountryCode, CurrencyCode, FieldUpdate, GroupId, OpeningHours, ProfileText, Tenant, TenantUpdate, TimeZone,
};
use frontdesk_engine::ports::registry::{Changed, ErasureProgress, ErasureRecords, ErasureReport};
use serde::{Deserialize, Serialize};

use super::audit_record::{erasure_record, tenant_record, tenant_update_record};
use super::requests::{AdminService, checked_name, explain};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TenantRequest {
    Add {
        id: String,
        fields: TenantFields,
    },
    List,
    Show {
        id: String,
    },
    Update {
        id: String,
        fields: TenantFields,
        clear: Vec<TenantField>,
    },
    /// Erases for a moment; to be repeated until the answer is `Erased`.
    Erase {
        id: String,
    },
}

/// What is to be set, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TenantFields {
    pub name: Option<String>,
    pub time_zone: Option<String>,
    pub street: Option<String>,
    pub city: Option<String>,
    pub region: Option<String>,
    pub postal_code: Option<String>,
    pub country: Option<String>,
    pub opening_hours: Option<Vec<String>>,
    pub currency: Option<String>,
    pub group: Option<String>,
}

/// A field that can be cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TenantField {
    TimeZone,
    Street,
    City,
    Region,
    PostalCode,
    Country,
    OpeningHours,
    Currency,
    Group,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TenantResponse {
    Tenant(Box<TenantView>),
    Tenants(TenantList),
    Erasing(ErasureReport),
    Erased(ErasureReport),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantList {
    pub tenants: Vec<TenantView>,
    /// Rows that were changed without the master key; they are not among the tenants.
    #[serde(default)]
    pub refused: usize,
}

/// A tenant as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantView {
    pub id: String,
    pub name: String,
    pub group: Option<String>,
    pub time_zone: Option<String>,
    pub street: Option<String>,
    pub city: Option<String>,
    pub region: Option<String>,
    pub postal_code: Option<String>,
    pub country: Option<String>,
    pub opening_hours: Vec<String>,
    pub currency: Option<String>,
    pub erasing_since: Option<String>,
    /// Only of a tenant that is shown by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<StoredView>,
}

/// What a tenant has stored, of what its quota counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredView {
    pub records: i64,
    pub bytes: i64,
    /// What each client has added, by its id.
    pub clients: BTreeMap<String, (i64, i64)>,
}

impl AdminService {
    pub(super) async fn handle_tenant(&self, request: TenantRequest) -> Result<TenantResponse, String> {
        match request {
            TenantRequest::Add { id, fields } => self.add_tenant(&id, fields).await,
            TenantRequest::List => {
                let tenants = self.store.tenants().await.map_err(explain)?.iter().map(view).collect();
                Ok(TenantResponse::Tenants(TenantList { tenants, refused: self.refused_rows("fd_tenant").await? }))
            }
            TenantRequest::Show { id } => self.show_tenant(&self.known_tenant(&id).await?).await,
            TenantRequest::Update { id, fields, clear } => self.update_tenant(&id, fields, &clear).await,
            TenantRequest::Erase { id } => self.erase_tenant(&id).await,
        }
    }

    async fn add_tenant(&self, id: &str, fields: TenantFields) -> Result<TenantResponse, String> {
        let id = parse_id(id)?;
        let (update, _) = update(fields, &[])?;
        let mut tenant = Tenant::new(id.clone(), id.as_str());
        update.apply(&mut tenant);
        let record = tenant_record(self.clock.now(), &id);
        match self.store.add_tenant(tenant, record).await.map_err(explain)? {
            Changed::Done => {
                tracing::info!(tenant = id.as_str(), "tenant added");
                self.show_tenant(&id).await
            }
            Changed::Nothing => match self.store.tenant(&id).await.map_err(explain)? {
                Some(Tenant { erasing_since: Some(_), .. }) => Err(being_erased(&id)),
                Some(_) | None => Err(format!(
                    "there is a tenant `{id}` already; `frontdesk tenant update {id}` changes it, and another id adds another one"
                )),
            },
        }
    }

    async fn update_tenant(
        &self,
        id: &str,
        fields: TenantFields,
        clear: &[TenantField],
    ) -> Result<TenantResponse, String> {
        let (update, names) = update(fields, clear)?;
        if names.is_empty() {
            return Err("there is nothing to change; name a field to set, or one to clear with --clear".to_owned());
        }
        let id = self.known_tenant(id).await?;
        let record = tenant_update_record(self.clock.now(), &id, &names);
        match self.store.update_tenant(&id, update, record).await.map_err(explain)? {
            Changed::Nothing => Err(being_erased(&id)),
            Changed::Done => {
                tracing::info!(tenant = id.as_str(), "tenant changed");
                self.show_tenant(&id).await
            }
        }
    }

    async fn erase_tenant(&self, id: &str) -> Result<TenantResponse, String> {
        let id = self.known_tenant(id).await?;
        let now = self.clock.now();
        let records = ErasureRecords { begin: erasure_record(now, &id, "begun"), end: erasure_record(now, &id, "ok") };
        match self.store.erase_tenant(&id, now, records).await.map_err(explain)? {
            ErasureProgress::More(report) => Ok(TenantResponse::Erasing(report)),
            ErasureProgress::Done(report) => {
                tracing::info!(tenant = id.as_str(), "tenant erased");
                Ok(TenantResponse::Erased(report))
            }
            // Another process has just finished.
            ErasureProgress::UnknownTenant => Ok(TenantResponse::Erased(ErasureReport::default())),
        }
    }

    async fn show_tenant(&self, id: &TenantId) -> Result<TenantResponse, String> {
        let Some(tenant) = self.store.tenant(id).await.map_err(explain)? else {
            return Err(format!("there is no tenant `{id}`"));
        };
        let stored = self.store.usage(id).await.map_err(explain)?.map(|usage| StoredView {
            records: usage.tenant.rows,
            bytes: usage.tenant.bytes,
            clients: usage.clients.into_iter().map(|(client, usage)| (client, (usage.rows, usage.bytes))).collect(),
        });
        Ok(TenantResponse::Tenant(Box::new(TenantView { stored, ..view(&tenant) })))
    }

    /// A typing error is answered with the tenants that exist.
    pub(super) async fn known_tenant(&self, id: &str) -> Result<TenantId, String> {
        let known = self.store.tenants().await.map_err(explain)?;
        match known.iter().find(|tenant| tenant.id.as_str() == id) {
            Some(tenant) => Ok(tenant.id.clone()),
            None if known.is_empty() => Err("there is no tenant yet; see `frontdesk tenant add --help`".to_owned()),
            None => {
                let ids: Vec<&str> = known.iter().map(|tenant| tenant.id.as_str()).collect();
                Err(format!("there is no tenant `{id}`; there are: {}", ids.join(", ")))
            }
        }
    }

    /// No client is added for a tenant that is about to be gone.
    pub(super) async fn refuse_erased(&self, tenants: &[TenantId]) -> Result<(), String> {
        let known = self.store.tenants().await.map_err(explain)?;
        let is_erased = |tenant: &&Tenant| tenant.erasing_since.is_some() && tenants.contains(&tenant.id);
        known.iter().find(is_erased).map_or(Ok(()), |tenant| Err(being_erased(&tenant.id)))
    }

    /// A group exists while a tenant is in it, so a typing error would let nobody in.
    pub(super) async fn checked_groups(&self, groups: &[String]) -> Result<Vec<GroupId>, String> {
        let mut checked: Vec<GroupId> = Vec::new();
        if groups.is_empty() {
            return Ok(checked);
        }
        let tenants = self.store.tenants().await.map_err(explain)?;
        let known: Vec<&GroupId> = tenants.iter().filter_map(|tenant| tenant.group.as_ref()).collect();
        for group in groups {
            match known.iter().find(|known| known.as_str() == group) {
                Some(group) if checked.contains(group) => {}
                Some(group) => checked.push((*group).clone()),
                None => {
                    return Err(format!(
                        "no tenant is in a group `{group}`; put one into it with: frontdesk tenant update TENANT_ID --group GROUP"
                    ));
                }
            }
        }
        Ok(checked)
    }
}

fn parse_id(id: &str) -> Result<TenantId, String> {
    TenantId::parse(id).ok_or_else(|| "a tenant id has 1 to 64 letters, digits, `_` or `-`".to_owned())
}

fn being_erased(id: &TenantId) -> String {
    format!("tenant `{id}` is being erased; `frontdesk tenant erase {id}` completes it")
}

/// The change, and the names of the fields that it changes.
fn update(fields: TenantFields, clear: &[TenantField]) -> Result<(TenantUpdate, Vec<&'static str>), String> {
    let mut parser = FieldParser { clear, names: Vec::new() };
    let group =
        |text: &str| GroupId::parse(text).ok_or_else(|| "a group has 1 to 64 letters, digits, `_` or `-`".to_owned());
    let name = fields.name.map(|name| checked_name("tenant", name)).transpose()?;
    if name.is_some() {
        parser.names.push("name");
    }
    let hours = fields.opening_hours;
    let update = TenantUpdate {
        name,
        time_zone: parser.field(TenantField::TimeZone, fields.time_zone, |text| TimeZone::parse(text))?,
        street: parser.field(TenantField::Street, fields.street, |text| ProfileText::parse(text))?,
        city: parser.field(TenantField::City, fields.city, |text| ProfileText::parse(text))?,
        region: parser.field(TenantField::Region, fields.region, |text| ProfileText::parse(text))?,
        postal_code: parser.field(TenantField::PostalCode, fields.postal_code, |text| ProfileText::parse(text))?,
        country: parser.field(TenantField::Country, fields.country, |text| CountryCode::parse(text))?,
        opening_hours: parser.field(TenantField::OpeningHours, hours, |texts| OpeningHours::parse(texts))?,
        currency: parser.field(TenantField::Currency, fields.currency, |text| CurrencyCode::parse(text))?,
        group: parser.field(TenantField::Group, fields.group, |text| group(text))?,
    };
    Ok((update, parser.names))
}

struct FieldParser<'a> {
    clear: &'a [TenantField],
    names: Vec<&'static str>,
}

impl FieldParser<'_> {
    fn field<T, V>(
        &mut self,
        field: TenantField,
        given: Option<T>,
        parse: impl FnOnce(&T) -> Result<V, String>,
    ) -> Result<FieldUpdate<V>, String> {
        let update = match (given, self.clear.contains(&field)) {
            (None, false) => return Ok(FieldUpdate::Keep),
            (None, true) => FieldUpdate::Clear,
            (Some(given), false) => FieldUpdate::Set(parse(&given)?),
            (Some(_), true) => return Err(format!("`{}` is to be set and cleared; do one of them", field.as_str())),
        };
        self.names.push(field.as_str());
        Ok(update)
    }
}

impl TenantField {
    fn as_str(self) -> &'static str {
        match self {
            TenantField::TimeZone => "time_zone",
            TenantField::Street => "street",
            TenantField::City => "city",
            TenantField::Region => "region",
            TenantField::PostalCode => "postal_code",
            TenantField::Country => "country",
            TenantField::OpeningHours => "opening_hours",
            TenantField::Currency => "currency",
            TenantField::Group => "group",
        }
    }
}

fn view(tenant: &Tenant) -> TenantView {
    let profile = &tenant.profile;
    let text = |text: &Option<ProfileText>| text.as_ref().map(|text| text.as_str().to_owned());
    TenantView {
        id: tenant.id.as_str().to_owned(),
        name: tenant.name.clone(),
        group: tenant.group.as_ref().map(|group| group.as_str().to_owned()),
        time_zone: profile.time_zone.as_ref().map(|zone| zone.as_str().to_owned()),
        street: text(&profile.street),
        city: text(&profile.city),
        region: text(&profile.region),
        postal_code: text(&profile.postal_code),
        country: profile.country.as_ref().map(|country| country.as_str().to_owned()),
        opening_hours: profile.opening_hours.as_ref().map(OpeningHours::lines).unwrap_or_default(),
        currency: profile.currency.as_ref().map(|currency| currency.as_str().to_owned()),
        erasing_since: tenant.erasing_since.map(|at| at.to_rfc3339()),
        stored: None,
    }
}
