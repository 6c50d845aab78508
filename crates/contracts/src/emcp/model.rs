//! The models that may be read, each with the fields that may be seen (E-30, E-31). A field that is not listed here has
//! no name by which it could be asked for, so nothing sensitive can be reached (E-41).

use frontdesk_engine::model::schema::{Schema, required};
use frontdesk_engine::ports::site_db::{Expr, Name, SiteCell};
use frontdesk_wire::answer::quote;

use super::shapes;
use super::words::column;

/// What the original's models are called in full.
const NAMESPACE: &str = "evolutioncms\\models\\";

pub struct Model {
    pub name: &'static str,
    pub table: Name,
    pub fields: &'static [(Name, Type)],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Whole,
    Text,
    /// A number that the original writes as a text.
    Digits,
}

use Type::{Digits, Text, Whole};

const ELEMENT: &[(Name, Type)] = &[
    ("id", Whole),
    ("name", Text),
    ("description", Text),
    ("category", Whole),
    ("locked", Whole),
    ("disabled", Whole),
    ("createdon", Whole),
    ("editedon", Whole),
];

pub const ALL: &[Model] = &[
    Model {
        name: "SiteTemplate",
        table: "site_templates",
        fields: &[
            ("id", Whole),
            ("templatename", Text),
            ("description", Text),
            ("editor_type", Whole),
            ("icon", Text),
            ("category", Whole),
            ("locked", Whole),
        ],
    },
    Model {
        name: "SiteTmplvar",
        table: "site_tmplvars",
        fields: &[
            ("id", Whole),
            ("name", Text),
            ("caption", Text),
            ("description", Text),
            ("type", Text),
            ("default_text", Text),
            ("display", Text),
            ("elements", Text),
            ("rank", Whole),
            ("category", Whole),
            ("locked", Whole),
        ],
    },
    Model {
        name: "SiteTmplvarContentvalue",
        table: "site_tmplvar_contentvalues",
        fields: &[("id", Whole), ("contentid", Whole), ("tmplvarid", Whole), ("value", Text)],
    },
    Model { name: "SiteSnippet", table: "site_snippets", fields: ELEMENT },
    Model { name: "SitePlugin", table: "site_plugins", fields: ELEMENT },
    Model {
        name: "SiteModule",
        table: "site_modules",
        fields: &[
            ("id", Whole),
            ("name", Text),
            ("description", Text),
            ("category", Whole),
            ("disabled", Whole),
            ("createdon", Whole),
            ("editedon", Whole),
        ],
    },
    Model { name: "Category", table: "categories", fields: &[("id", Whole), ("category", Text)] },
    Model {
        name: "User",
        table: "users",
        fields: &[
            ("id", Whole),
            ("username", Text),
            ("isfrontend", Whole),
            ("createdon", Whole),
            ("editedon", Whole),
            ("blocked", Whole),
            ("blockeduntil", Whole),
            ("blockedafter", Whole),
        ],
    },
    Model {
        name: "UserAttribute",
        table: "user_attributes",
        fields: &[
            ("id", Whole),
            ("internalKey", Whole),
            ("fullname", Text),
            ("email", Text),
            ("phone", Text),
            ("mobilephone", Text),
            ("blocked", Whole),
            ("blockeduntil", Whole),
            ("blockedafter", Whole),
            ("failedlogincount", Whole),
            ("logincount", Whole),
            ("lastlogin", Whole),
        ],
    },
    Model {
        name: "UserRole",
        table: "user_roles",
        fields: &[
            ("id", Whole),
            ("name", Text),
            ("description", Text),
            ("frames", Text),
            ("home", Text),
            ("rank", Whole),
            ("locked", Whole),
        ],
    },
    Model {
        name: "Permissions",
        table: "permissions",
        fields: &[("id", Whole), ("name", Text), ("description", Text)],
    },
    Model { name: "PermissionsGroups", table: "permissions_groups", fields: &[("id", Whole), ("name", Text)] },
    Model {
        name: "RolePermissions",
        table: "role_permissions",
        fields: &[("id", Whole), ("role_id", Digits), ("permission", Text)],
    },
];

/// The names of `ALL`, for the published schema.
pub const NAMES: &[&str] = &[
    "SiteTemplate",
    "SiteTmplvar",
    "SiteTmplvarContentvalue",
    "SiteSnippet",
    "SitePlugin",
    "SiteModule",
    "Category",
    "User",
    "UserAttribute",
    "UserRole",
    "Permissions",
    "PermissionsGroups",
    "RolePermissions",
];

/// Every field of some model, for the published schema.
pub const FIELDS: &[&str] = &[
    "id",
    "templatename",
    "description",
    "editor_type",
    "icon",
    "category",
    "locked",
    "name",
    "caption",
    "type",
    "default_text",
    "display",
    "elements",
    "rank",
    "contentid",
    "tmplvarid",
    "value",
    "disabled",
    "createdon",
    "editedon",
    "username",
    "isfrontend",
    "blocked",
    "blockeduntil",
    "blockedafter",
    "internalKey",
    "fullname",
    "email",
    "phone",
    "mobilephone",
    "failedlogincount",
    "logincount",
    "lastlogin",
    "frames",
    "home",
    "role_id",
    "permission",
];

/// The model's own name for one that is written in any case, or in full.
pub(super) fn canonical(text: &str) -> Option<&'static str> {
    let text = text.trim().to_lowercase();
    let text = text.strip_prefix('\\').unwrap_or(&text);
    let short = text.strip_prefix(NAMESPACE).unwrap_or(text);
    NAMES.iter().find(|name| name.to_lowercase() == short).copied()
}

pub(super) fn by_name(name: &str) -> Option<&'static Model> {
    ALL.iter().find(|model| model.name == name)
}

impl Model {
    /// Our own name for the field, if this model has it.
    pub(super) fn field(&self, name: &str) -> Option<Name> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(field, _)| *field)
    }

    pub(super) fn field_names(&self) -> String {
        self.fields.iter().map(|(name, _)| *name).collect::<Vec<&str>>().join(", ")
    }

    pub(super) fn columns(&self) -> Vec<Expr> {
        self.fields.iter().map(|(name, _)| column(name)).collect()
    }

    /// One record of `columns`. What a site's table does not have is null (E-34).
    pub(super) fn write(&self, record: &[SiteCell], out: &mut String) {
        out.push('{');
        for (number, ((name, kind), cell)) in self.fields.iter().zip(record).enumerate() {
            out.push_str(if number == 0 { "\"" } else { ",\"" });
            out.push_str(name);
            out.push_str("\":");
            let written = match kind {
                Whole => shapes::whole(cell).map(|number| number.to_string()),
                Text | Digits => shapes::text(cell).map(|text| quote(&text)),
            };
            out.push_str(written.as_deref().unwrap_or("null"));
        }
        out.push('}');
    }

    fn schema(&self) -> Schema {
        let shape = |kind| match kind {
            Whole => shapes::any_whole(),
            Text | Digits => shapes::any_text(),
        };
        // The fields speak for themselves, and describing them would make a long list longer.
        Schema::object(self.fields.iter().map(|(name, kind)| required(name, Schema::nullable(shape(*kind)), "")))
    }
}

/// One record of any of the models.
pub(super) fn schema() -> Schema {
    Schema::AnyOf { shapes: ALL.iter().map(Model::schema).collect(), expected: "a record of a model" }
}
