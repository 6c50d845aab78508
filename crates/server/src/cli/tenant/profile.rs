//! `frontdesk tenant add`, `list`, `show` and `update`.

use std::io::{self, Write as _};

use clap::{Args, ValueEnum};

use super::super::admin_client::{AdminClient, NeededData};
use super::super::table::table;
use super::super::{CliError, DataArgs, StoreGuard, warn_of_refused_rows};
use crate::admin::{
    AdminRequest, AdminResponse, TenantField, TenantFields, TenantList, TenantRequest, TenantResponse, TenantView,
};

/// Add a tenant, empty.
#[derive(Debug, Args)]
#[command(after_help = "\
Only the id and the name are needed; `frontdesk tenant update` adds the rest.

Examples:
  frontdesk tenant add TENANT_ID --name 'Acme Motors'
  frontdesk tenant add TENANT_ID --name 'Acme Motors' \\
      --time-zone Europe/Berlin --city Kiel --country DE --currency EUR \\
      --hours 'mon-fri 09:00-12:00,13:00-18:00' --hours 'sat 10:00-14:00'
  frontdesk tenant add TENANT_ID --name 'Acme North' --group acme --json")]
pub(super) struct AddTenantArgs {
    /// Its id: 1 to 64 letters, digits, `_` or `-`; it cannot be changed
    #[arg(value_name = "ID")]
    id: String,
    /// A name for people
    #[arg(long, value_name = "NAME")]
    name: String,
    #[command(flatten)]
    profile: ProfileArgs,
    #[command(flatten)]
    data: DataArgs,
    /// Print the tenant as one line of JSON
    #[arg(long)]
    json: bool,
}

/// List the tenants.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  frontdesk tenant list
  frontdesk tenant list --json --config frontdesk.toml")]
pub(super) struct ListTenantsArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Print one line of JSON for each tenant
    #[arg(long)]
    json: bool,
}

/// Show what is known about a tenant.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  frontdesk tenant show TENANT_ID")]
pub(super) struct ShowTenantArgs {
    /// The tenant's id
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    data: DataArgs,
    /// Print the tenant as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Change what is known about a tenant.
#[derive(Debug, Args)]
#[command(after_help = "\
Only what is named is changed. `--hours` replaces all opening hours.

A tenant that joins a group is in tokens that are issued from then on to the
clients of the group. When it leaves, tokens that had it because of the group
lose it within a second.

Examples:
  frontdesk tenant update TENANT_ID --name 'Acme Motors North'
  frontdesk tenant update TENANT_ID --hours 'mon-sat 08:00-20:00'
  frontdesk tenant update TENANT_ID --group acme --clear street")]
pub(super) struct UpdateTenantArgs {
    /// The tenant's id
    #[arg(value_name = "ID")]
    id: String,
    /// A name for people
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    profile: ProfileArgs,
    /// Clear a field; can be repeated
    #[arg(long, value_name = "FIELD", value_enum)]
    clear: Vec<ClearedField>,
    #[command(flatten)]
    data: DataArgs,
    /// Print the tenant as one line of JSON
    #[arg(long)]
    json: bool,
}

/// The fields that need not be there.
#[derive(Debug, Args)]
struct ProfileArgs {
    /// A time zone of the IANA database, such as Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
    /// Street and number
    #[arg(long, value_name = "TEXT")]
    street: Option<String>,
    #[arg(long, value_name = "TEXT", help = "City")]
    city: Option<String>,
    #[arg(long, value_name = "TEXT", help = "State or province")]
    region: Option<String>,
    #[arg(long, value_name = "TEXT", help = "Postal code")]
    postal_code: Option<String>,
    /// Two letters of ISO 3166-1, such as DE
    #[arg(long, value_name = "CODE")]
    country: Option<String>,
    /// Opening hours, such as 'mon-fri 09:00-18:00'; can be repeated
    #[arg(long, value_name = "HOURS")]
    hours: Vec<String>,
    /// A currency of ISO 4217, such as EUR
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,
    /// The group it belongs to; the first tenant of a group makes it
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClearedField {
    TimeZone,
    /// Street, city, region, postal code and country
    Address,
    Street,
    City,
    Region,
    PostalCode,
    Country,
    Hours,
    Currency,
    Group,
}

impl ProfileArgs {
    fn into_fields(self, name: Option<String>) -> TenantFields {
        TenantFields {
            name,
            time_zone: self.time_zone,
            street: self.street,
            city: self.city,
            region: self.region,
            postal_code: self.postal_code,
            country: self.country,
            opening_hours: (!self.hours.is_empty()).then_some(self.hours),
            currency: self.currency,
            group: self.group,
        }
    }
}

impl ClearedField {
    fn fields(self) -> &'static [TenantField] {
        use TenantField::{City, Country, Currency, Group, OpeningHours, PostalCode, Region, Street, TimeZone};
        match self {
            ClearedField::TimeZone => &[TimeZone],
            ClearedField::Address => &[Street, City, Region, PostalCode, Country],
            ClearedField::Street => &[Street],
            ClearedField::City => &[City],
            ClearedField::Region => &[Region],
            ClearedField::PostalCode => &[PostalCode],
            ClearedField::Country => &[Country],
            ClearedField::Hours => &[OpeningHours],
            ClearedField::Currency => &[Currency],
            ClearedField::Group => &[Group],
        }
    }
}

pub(super) async fn add(args: AddTenantArgs) -> Result<(), CliError> {
    let request = TenantRequest::Add { id: args.id, fields: args.profile.into_fields(Some(args.name)) };
    let tenant = one(send(args.data, NeededData::MayBeNew, request).await?)?;
    if args.json {
        return print_json(&[tenant]);
    }
    let hint = format!("Let a program in with: frontdesk client add --name NAME --tenant {} --scope SCOPE", tenant.id);
    Ok(writeln!(io::stdout().lock(), "{}\n{hint}", describe(&tenant))?)
}

pub(super) async fn list(args: ListTenantsArgs) -> Result<(), CliError> {
    let response = send(args.data, NeededData::Existing, TenantRequest::List).await?;
    let TenantResponse::Tenants(TenantList { tenants, refused }) = response else {
        return Err(unexpected());
    };
    warn_of_refused_rows(refused, "tenant")?;
    if args.json {
        return print_json(&tenants);
    }
    let text = if tenants.is_empty() {
        "There are no tenants yet; see `frontdesk tenant add --help`.".to_owned()
    } else {
        overview(&tenants)
    };
    Ok(writeln!(io::stdout().lock(), "{text}")?)
}

pub(super) async fn show(args: ShowTenantArgs) -> Result<(), CliError> {
    print(one(send(args.data, NeededData::Existing, TenantRequest::Show { id: args.id }).await?)?, args.json)
}

pub(super) async fn update(args: UpdateTenantArgs) -> Result<(), CliError> {
    let clear = args.clear.iter().flat_map(|field| field.fields()).copied().collect();
    let fields = args.profile.into_fields(args.name);
    let request = TenantRequest::Update { id: args.id, fields, clear };
    print(one(send(args.data, NeededData::Existing, request).await?)?, args.json)
}

async fn send(data: DataArgs, needed: NeededData, request: TenantRequest) -> Result<TenantResponse, CliError> {
    let guard = StoreGuard::default();
    match AdminClient::open(data, needed, &guard).await?.send(AdminRequest::Tenant { request }).await? {
        AdminResponse::Tenant(response) => Ok(response),
        AdminResponse::Secret { .. }
        | AdminResponse::Clients(_)
        | AdminResponse::Revoked { .. }
        | AdminResponse::LoginClient { .. }
        | AdminResponse::Token(_)
        | AdminResponse::User(_)
        | AdminResponse::Import(_)
        | AdminResponse::Export(_)
        | AdminResponse::Maintenance(_)
        | AdminResponse::Advanced(_)
        | AdminResponse::Deliveries(_)
        | AdminResponse::ServiceLevels(_)
        | AdminResponse::Description(_)
        | AdminResponse::ErasePerson(_)
        | AdminResponse::Key(_)
        | AdminResponse::Recorded => Err(unexpected()),
    }
}

fn one(response: TenantResponse) -> Result<TenantView, CliError> {
    match response {
        TenantResponse::Tenant(tenant) => Ok(*tenant),
        TenantResponse::Tenants(_) | TenantResponse::Erasing(_) | TenantResponse::Erased(_) => Err(unexpected()),
    }
}

pub(super) fn unexpected() -> CliError {
    "the running server is another version of Frontdesk; restart it".into()
}

fn print(tenant: TenantView, json: bool) -> Result<(), CliError> {
    if json { print_json(&[tenant]) } else { Ok(writeln!(io::stdout().lock(), "{}", describe(&tenant))?) }
}

fn print_json(tenants: &[TenantView]) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    for tenant in tenants {
        writeln!(out, "{}", serde_json::to_string(tenant)?)?;
    }
    Ok(())
}

/// One line for each field that is there.
fn describe(tenant: &TenantView) -> String {
    let mut lines = vec![("tenant", Some(tenant.id.clone())), ("name", Some(tenant.name.clone()))];
    lines.extend([
        ("group", tenant.group.clone()),
        ("time zone", tenant.time_zone.clone()),
        ("street", tenant.street.clone()),
        ("city", tenant.city.clone()),
        ("region", tenant.region.clone()),
        ("postal code", tenant.postal_code.clone()),
        ("country", tenant.country.clone()),
        ("currency", tenant.currency.clone()),
    ]);
    lines.extend(tenant.opening_hours.iter().map(|line| ("open", Some(line.clone()))));
    if let Some(stored) = &tenant.stored {
        lines.push(("stored", Some(format!("{} records, {} bytes", stored.records, stored.bytes))));
        lines.extend(stored.clients.iter().map(|(client, (records, bytes))| {
            ("added", Some(format!("{records} records, {bytes} bytes by {client}")))
        }));
    }
    let erasing = tenant.erasing_since.as_ref();
    lines.push((
        "erasing",
        erasing.map(|at| format!("since {at}; `frontdesk tenant erase {}` completes it", tenant.id)),
    ));
    let shown = lines.into_iter().filter_map(|(name, value)| value.map(|value| format!("{name:<12} {value}")));
    shown.collect::<Vec<_>>().join("\n")
}

fn overview(tenants: &[TenantView]) -> String {
    let head = ["TENANT", "NAME", "GROUP", "TIME ZONE", "CITY", "COUNTRY", "CURRENCY", "STATE"].map(str::to_owned);
    let rows = tenants.iter().map(|tenant| {
        let text = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".to_owned());
        let state = tenant.erasing_since.as_ref().map_or("active".to_owned(), |at| format!("erasing since {at}"));
        [
            tenant.id.clone(),
            tenant.name.clone(),
            text(&tenant.group),
            text(&tenant.time_zone),
            text(&tenant.city),
            text(&tenant.country),
            text(&tenant.currency),
            state,
        ]
    });
    table(head, rows)
}
