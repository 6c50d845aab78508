//! The same reads as the tools, by URI. Each template names the tool that answers it, so both give the same JSON.

use frontdesk_engine::model::contract::{ResourceSource, ResourceTemplate};
use frontdesk_engine::model::table::TableSpec;

use super::{customer, lead, manifest, vehicle};

pub(super) fn all() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate {
            template: manifest::URI,
            name: "manifest",
            title: "Manifest",
            about: "Which domains this server serves and at which level.",
            source: ResourceSource::Document(manifest::document()),
        },
        list(
            "amcp://{dealership_id}/inventory{?cursor,limit}",
            "inventory",
            "Stock",
            "Vehicles of the dealership, newest first.",
            "inventory.list",
        ),
        one(
            "amcp://{dealership_id}/inventory/{id}",
            "vehicle",
            "Vehicle",
            "One vehicle by its id.",
            ("inventory.get", &vehicle::TABLE),
        ),
        list(
            "amcp://{dealership_id}/leads{?cursor,limit}",
            "leads",
            "Leads",
            "Leads of the dealership, newest first, contact data masked.",
            "leads.list",
        ),
        one(
            "amcp://{dealership_id}/leads/{id}",
            "lead",
            "Lead",
            "One lead by its id, with contact data.",
            ("leads.get", &lead::TABLE),
        ),
        list(
            "amcp://{dealership_id}/customers{?cursor,limit}",
            "customers",
            "Customers",
            "Customers of the dealership, newest first, contact data masked.",
            "customers.list",
        ),
        one(
            "amcp://{dealership_id}/customers/{id}",
            "customer",
            "Customer",
            "One customer by their id, with contact data.",
            ("customers.get", &customer::TABLE),
        ),
    ]
}

fn list(
    template: &'static str,
    name: &'static str,
    title: &'static str,
    about: &'static str,
    tool: &'static str,
) -> ResourceTemplate {
    ResourceTemplate { template, name, title, about, source: ResourceSource::Tool { name: tool, lists: None } }
}

fn one(
    template: &'static str,
    name: &'static str,
    title: &'static str,
    about: &'static str,
    (tool, table): (&'static str, &'static TableSpec),
) -> ResourceTemplate {
    ResourceTemplate { template, name, title, about, source: ResourceSource::Tool { name: tool, lists: Some(table) } }
}
