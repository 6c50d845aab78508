//! The models that may be read, each with its readable fields (E-30, E-31). A field that is not listed here has no name
//! by which it could be selected, filtered or ordered, so nothing sensitive can be reached (E-41).

use frontdesk_engine::model::schema::{Schema, required};
use frontdesk_engine::ports::site_db::{Expr, Name, SiteCell};
use frontdesk_wire::answer::quote;

use super::query::column;
use super::schemas;

/// The PHP namespace of the original's model classes, in lower case.
const NAMESPACE: &str = "evolutioncms\\models\\";

pub struct Model {
    pub name: &'static str,
    pub table: Name,
    pub fields: &'static [(Name, ModelFieldType)],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFieldType {
    Integer,
    Text,
    /// A number that the original writes as a JSON string.
    NumericText,
}

use ModelFieldType::{Integer, NumericText, Text};

const ELEMENT: &[(Name, ModelFieldType)] = &[
    ("id", Integer),
    ("name", Text),
    ("description", Text),
    ("category", Integer),
    ("locked", Integer),
    ("disabled", Integer),
    ("createdon", Integer),
    ("editedon", Integer),
];

pub const ALL: &[Model] = &[
    Model {
        name: "SiteTemplate",
        table: "site_templates",
        fields: &[
            ("id", Integer),
            ("templatename", Text),
            ("description", Text),
            ("editor_type", Integer),
            ("icon", Text),
            ("category", Integer),
            ("locked", Integer),
        ],
    },
    Model {
        name: "SiteTmplvar",
        table: "site_tmplvars",
        fields: &[
            ("id", Integer),
            ("name", Text),
            ("caption", Text),
            ("description", Text),
            ("type", Text),
            ("default_text", Text),
            ("display", Text),
            ("elements", Text),
            ("rank", Integer),
            ("category", Integer),
            ("locked", Integer),
        ],
    },
    Model {
        name: "SiteTmplvarContentvalue",
        table: "site_tmplvar_contentvalues",
        fields: &[("id", Integer), ("contentid", Integer), ("tmplvarid", Integer), ("value", Text)],
    },
    Model { name: "SiteSnippet", table: "site_snippets", fields: ELEMENT },
    Model { name: "SitePlugin", table: "site_plugins", fields: ELEMENT },
    Model {
        name: "SiteModule",
        table: "site_modules",
        fields: &[
            ("id", Integer),
            ("name", Text),
            ("description", Text),
            ("category", Integer),
            ("disabled", Integer),
            ("createdon", Integer),
            ("editedon", Integer),
        ],
    },
    Model { name: "Category", table: "categories", fields: &[("id", Integer), ("category", Text)] },
    Model {
        name: "User",
        table: "users",
        fields: &[
            ("id", Integer),
            ("username", Text),
            ("isfrontend", Integer),
            ("createdon", Integer),
            ("editedon", Integer),
            ("blocked", Integer),
            ("blockeduntil", Integer),
            ("blockedafter", Integer),
        ],
    },
    Model {
        name: "UserAttribute",
        table: "user_attributes",
        fields: &[
            ("id", Integer),
            ("internalKey", Integer),
            ("fullname", Text),
            ("email", Text),
            ("phone", Text),
            ("mobilephone", Text),
            ("blocked", Integer),
            ("blockeduntil", Integer),
            ("blockedafter", Integer),
            ("failedlogincount", Integer),
            ("logincount", Integer),
            ("lastlogin", Integer),
        ],
    },
    Model {
        name: "UserRole",
        table: "user_roles",
        fields: &[
            ("id", Integer),
            ("name", Text),
            ("description", Text),
            ("frames", Text),
            ("home", Text),
            ("rank", Integer),
            ("locked", Integer),
        ],
    },
    Model {
        name: "Permissions",
        table: "permissions",
        fields: &[("id", Integer), ("name", Text), ("description", Text)],
    },
    Model { name: "PermissionsGroups", table: "permissions_groups", fields: &[("id", Integer), ("name", Text)] },
    Model {
        name: "RolePermissions",
        table: "role_permissions",
        fields: &[("id", Integer), ("role_id", NumericText), ("permission", Text)],
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

/// The canonical name of a model that is written in any case, or with its PHP namespace.
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
    /// The constant name of the field, if this model has it.
    pub(super) fn field(&self, name: &str) -> Option<Name> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(field, _)| *field)
    }

    pub(super) fn field_names(&self) -> String {
        self.fields.iter().map(|(name, _)| *name).collect::<Vec<&str>>().join(", ")
    }

    pub(super) fn columns(&self) -> Vec<Expr> {
        self.fields.iter().map(|(name, _)| column(name)).collect()
    }

    /// Writes a row that holds `columns`. A column that the site's table lacks is null (E-34).
    pub(super) fn write(&self, row: &[SiteCell], out: &mut String) {
        out.push('{');
        for (number, ((name, kind), cell)) in self.fields.iter().zip(row).enumerate() {
            out.push_str(if number == 0 { "\"" } else { ",\"" });
            out.push_str(name);
            out.push_str("\":");
            let json = match kind {
                Integer => schemas::integer(cell).map(|number| number.to_string()),
                Text | NumericText => schemas::text(cell).map(|text| quote(&text)),
            };
            out.push_str(json.as_deref().unwrap_or("null"));
        }
        out.push('}');
    }

    fn schema(&self) -> Schema {
        let shape = |kind| match kind {
            Integer => schemas::any_integer(),
            Text | NumericText => schemas::any_text(),
        };
        // No descriptions: the field names are clear, and thirteen models make the published schema long already.
        Schema::object(self.fields.iter().map(|(name, kind)| required(name, Schema::nullable(shape(*kind)), "")))
    }
}

/// A row of any of the models.
pub(super) fn schema() -> Schema {
    Schema::AnyOf { shapes: ALL.iter().map(Model::schema).collect(), expected: "a record of a model" }
}
