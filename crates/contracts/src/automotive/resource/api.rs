//! The tools and addresses of a resource, from its declaration.

use std::marker::PhantomData;

use frontdesk_engine::model::contract::{ResourceSource, ResourceTemplate};
use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::route::{ID, Route};
use frontdesk_engine::model::schema::{Field, Schema, optional};
use frontdesk_engine::model::tool::{Effect, RateKey, Run, Sensitivity, Tool, ToolSpec};
use frontdesk_engine::{Code, Scope};

use super::read::{GetTool, ListTool};
use super::write::{CreateTool, UpdateTool};
use super::{Resource, ResourceParts, TENANT, schema};
use crate::automotive::codes::CodeSpec;
use crate::record::filter::{Filters, Sorting};
use crate::record::{ColumnIndex, FieldSpec, FilterArgument, SortOption, nested};

/// Collects the tools of one resource, in the order of `tools/list`. Each has a name, a title and a description.
pub struct ResourceApi<R> {
    collection: &'static str,
    /// The first segment of its routes.
    plural: &'static str,
    id_about: &'static str,
    tools: Vec<Tool>,
    templates: Vec<ResourceTemplate>,
    codes: Vec<CodeSpec>,
    resource: PhantomData<fn() -> R>,
}

impl<R: Resource> ResourceApi<R> {
    /// `collection` is the segment of its addresses and routes; `id_about` describes the argument `id`.
    pub fn new(collection: &'static str, id_about: &'static str) -> ResourceApi<R> {
        ResourceApi {
            collection,
            plural: collection,
            id_about,
            tools: Vec::new(),
            templates: Vec::new(),
            codes: Vec::new(),
            resource: PhantomData,
        }
    }

    /// Where the routes have another name than the addresses.
    pub fn routed_as(self, plural: &'static str) -> ResourceApi<R> {
        ResourceApi { plural, ..self }
    }

    /// Newest first, page by page, personal data masked. The list has an address, too: `address` is its title and its
    /// description.
    pub fn list(
        mut self,
        name: &'static str,
        title: &'static str,
        about: &'static str,
        filters: &[FilterArgument],
        address: (&'static str, &'static str),
    ) -> ResourceApi<R> {
        self.templates.push(ResourceTemplate {
            template: format!("amcp://{{{TENANT}}}/{}{{?cursor,limit}}", self.collection).leak(),
            name: self.collection,
            title: address.0,
            about: address.1,
            source: ResourceSource::Tool { name, lists: None },
        });
        let path = format!("/{}", self.plural);
        self.list_tool(name, title, about, filters, &[], path)
    }

    /// As `list`, in an order that the caller chooses, and without an address.
    pub fn search(
        self,
        name: &'static str,
        title: &'static str,
        about: &'static str,
        filters: &[FilterArgument],
        orders: &[SortOption],
    ) -> ResourceApi<R> {
        let path = format!("/{}/search", self.plural);
        self.list_tool(name, title, about, filters, orders, path)
    }

    fn list_tool(
        mut self,
        name: &'static str,
        title: &'static str,
        about: &'static str,
        filters: &[FilterArgument],
        orders: &[SortOption],
        path: String,
    ) -> ResourceApi<R> {
        let filters = declared(name, Filters::resolve(R::FIELDS, filters));
        let sorting = declared(name, Sorting::resolve(R::FIELDS, orders));
        let mut own = filters.schema();
        if !sorting.is_empty() {
            own.push(optional("sort", Schema::one_of(sorting.words().leak()), "Order; newest if absent."));
        }
        self.tools.push(Tool {
            spec: ToolSpec {
                input: schema::list_input(own),
                output: schema::list_schema(schema::output::<R>()),
                route: route(Verb::Get, path),
                ..spec::<R>(name, title, about, Effect::Reads)
            },
            run: Run::read(ListTool { table: R::table(), filters, sorting }),
        });
        self
    }

    /// One record by its id, with personal data. It has an address, too: `address` is its title and its description.
    pub fn get(
        mut self,
        name: &'static str,
        title: &'static str,
        about: &'static str,
        address: (&'static str, &'static str),
    ) -> ResourceApi<R> {
        self.templates.push(ResourceTemplate {
            template: format!("amcp://{{{TENANT}}}/{}/{{id}}", self.collection).leak(),
            name: R::TABLE_NAME,
            title: address.0,
            about: address.1,
            source: ResourceSource::Tool { name, lists: Some(R::table()) },
        });
        let not_found = self.missing(self.finder());
        self.tools.push(Tool {
            spec: ToolSpec {
                input: schema::get_input(self.id_about),
                output: schema::output::<R>(),
                route: route(Verb::Get, format!("/{}/{ID}", self.plural)),
                unmask_scope: nested::maskable(R::FIELDS).then(|| Scope::new(R::DOMAIN.read)),
                codes: vec![R::NOT_FOUND],
                ..spec::<R>(name, title, about, Effect::Reads)
            },
            run: Run::read(GetTool { table: R::table(), not_found }),
        });
        self
    }

    /// `extra` are arguments that are no fields; `codes` are those of the rules `on_create` and `cascade`.
    pub fn create(
        mut self,
        name: &'static str,
        title: &'static str,
        about: &'static str,
        extra: Vec<Field>,
        codes: &[CodeSpec],
    ) -> ResourceApi<R> {
        let duplicate = self.duplicate_code(|field| field.create);
        let codes = self.own_codes(codes).chain(duplicate).chain(referenced_codes::<R>(|field| field.create)).collect();
        self.tools.push(Tool {
            spec: ToolSpec {
                input: schema::create_input::<R>(extra),
                output: schema::written::<R>(),
                route: route(Verb::Post, format!("/{}", self.plural)),
                unmask_scope: Some(Scope::new(R::DOMAIN.read)),
                codes,
                ..spec::<R>(name, title, about, Effect::Adds)
            },
            run: Run::write(CreateTool::<R>(PhantomData)),
        });
        self
    }

    /// Replaces named fields, objects and lists whole; `codes` are those of the rules `on_update` and `cascade`.
    pub fn update(
        mut self,
        name: &'static str,
        title: &'static str,
        about: &'static str,
        codes: &[CodeSpec],
    ) -> ResourceApi<R> {
        let referenced = referenced_codes::<R>(|field| field.update);
        let duplicate = self.duplicate_code(|field| field.update);
        let own = self.own_codes(codes);
        let codes = [R::NOT_FOUND].into_iter().chain(own).chain(duplicate).chain(referenced).collect();
        // Who may write need not be able to search.
        let not_found = self.missing(None);
        self.tools.push(Tool {
            spec: ToolSpec {
                input: schema::update_input::<R>(self.id_about),
                output: schema::written::<R>(),
                route: route(Verb::Put, format!("/{}/{ID}", self.plural)),
                unmask_scope: Some(Scope::new(R::DOMAIN.read)),
                codes,
                ..spec::<R>(name, title, about, Effect::Changes)
            },
            run: Run::write(UpdateTool::<R> { not_found, resource: PhantomData }),
        });
        self
    }

    /// A tool that none of the others is like. Its scope is one of the resource's domain.
    pub fn tool(mut self, tool: Tool, codes: &[CodeSpec]) -> ResourceApi<R> {
        let _ = self.own_codes(codes).count();
        self.tools.push(tool);
        self
    }

    pub fn parts(self) -> ResourceParts {
        ResourceParts {
            domain: R::DOMAIN,
            table: R::table(),
            fields: R::FIELDS,
            id_prefix: R::ID_PREFIX,
            noun: R::NOUN,
            finder: self.finder(),
            collection: self.collection,
            tools: self.tools,
            templates: self.templates,
            not_found: R::NOT_FOUND,
            codes: self.codes,
        }
    }

    /// What a caller is told whose id does not exist, whatever it sent: models send a VIN or a stock number. Made once per
    /// contract, so the text is leaked instead of counted.
    fn missing(&self, finder: Option<&str>) -> &'static str {
        let (noun, prefix) = (R::NOUN, R::ID_PREFIX);
        let find = finder.map(|tool| format!(" Find it with {tool}.")).unwrap_or_default();
        format!(
            "No {noun} with this id exists here. An id looks like {prefix}_01jc3v8q6g2m4n7p9r5s0t1w8x; no other number of a \
             {noun} is one.{find}"
        )
        .leak()
    }

    /// The tool that finds an id.
    fn finder(&self) -> Option<&'static str> {
        let finds = |verb: &str| self.tools.iter().map(|tool| tool.spec.name).find(|name| name.contains(verb));
        finds(".search").or_else(|| finds(".list"))
    }

    /// The code of a value that another record has, if an argument is unique.
    fn duplicate_code(&mut self, is_argument: fn(&FieldSpec) -> bool) -> Option<Code> {
        let is_unique = |field: &FieldSpec| field.index == Some(ColumnIndex::Unique) && is_argument(field);
        R::FIELDS.iter().any(is_unique).then(|| self.own_codes(&[R::DUPLICATE]).next()).flatten()
    }

    /// Notes the codes of a rule, so that the documents explain them.
    fn own_codes(&mut self, codes: &[CodeSpec]) -> impl Iterator<Item = Code> + use<R> {
        for code in codes {
            if !self.codes.contains(code) {
                self.codes.push(*code);
            }
        }
        codes.iter().map(|spec| spec.code).collect::<Vec<Code>>().into_iter()
    }
}

/// A tool without arguments that masks personal data and has no codes of its own.
fn spec<R: Resource>(name: &'static str, title: &'static str, about: &'static str, effect: Effect) -> ToolSpec {
    let scope = match effect {
        Effect::Reads => R::DOMAIN.read,
        Effect::Adds | Effect::Changes => R::DOMAIN.write,
    };
    ToolSpec {
        name,
        title,
        about,
        input: Schema::object([]),
        output: Schema::object([]),
        effect,
        scope: Scope::new(scope),
        unmask_scope: None,
        sensitivity: if nested::maskable(R::FIELDS) { Sensitivity::Personal } else { Sensitivity::Business },
        rate: RateKey::Client,
        route: None,
        codes: Vec::new(),
    }
}

/// Made once per contract, so the path is leaked instead of counted.
fn route(verb: Verb, path: String) -> Option<Route> {
    Some(Route { verb, path: path.leak() })
}

/// The codes that say that a row which an argument refers to does not exist.
fn referenced_codes<R: Resource>(is_argument: fn(&FieldSpec) -> bool) -> Vec<Code> {
    let mut codes = Vec::new();
    for field in R::FIELDS.iter().filter(|field| is_argument(field)) {
        if let Some(reference) = (field.reference)()
            && !codes.contains(&reference.not_found)
        {
            codes.push(reference.not_found);
        }
    }
    codes
}

#[expect(clippy::panic, reason = "a declaration that names no column is a mistake in the source, found by every test")]
fn declared<T>(tool: &str, resolved: Result<T, String>) -> T {
    resolved.unwrap_or_else(|mistake| panic!("{tool}: {mistake}"))
}
