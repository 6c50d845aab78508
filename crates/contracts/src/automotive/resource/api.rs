//! The tools and addresses of a resource, from its declaration.

use std::marker::PhantomData;
use std::sync::Arc;

use frontdesk_engine::import::ImportSpec;
use frontdesk_engine::model::contract::{ResourceSource, ResourceTemplate};
use frontdesk_engine::model::incoming::Verb;
use frontdesk_engine::model::route::{ID, Route};
use frontdesk_engine::model::schema::{Field, Presence, Schema, optional};
use frontdesk_engine::model::table::TableSpec;
use frontdesk_engine::model::tool::{Effect, RateKey, Run, ScopeRule, Sensitivity, Tool, ToolSpec};
use frontdesk_engine::{Code, Scope};

use super::identifiers::RecordKind;
use super::read::{GetTool, ListTool};
use super::write::{ChangeFn, ChangeTool, CreateTool, UpdateTool};
use super::{IMPORT_TOOL, Resource, ResourceParts, TENANT, schema};
use crate::automotive::codes::CodeSpec;
use crate::automotive::feeds;
use crate::record::filter::{Filters, Sorting};
use crate::record::import::{RecordImport, unique_column};
use crate::record::{Entity, FieldSpec, FilterArgument, SortOption, nested, vendor};

/// Collects the tools of one resource, in the order of `tools/list`. Each has a name, a title and a description.
pub struct ResourceApi<R> {
    collection: &'static str,
    /// The first segment of its routes.
    plural: &'static str,
    id_about: &'static str,
    tools: Vec<Tool>,
    templates: Vec<ResourceTemplate>,
    codes: Vec<CodeSpec>,
    hidden_tables: Vec<&'static TableSpec>,
    /// Fields by which a tool finds records, with that tool.
    finders: Vec<(&'static str, &'static str)>,
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
            hidden_tables: Vec::new(),
            finders: Vec::new(),
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
        self,
        name: &'static str,
        title: &'static str,
        about: &'static str,
        filters: &[FilterArgument],
        address: (&'static str, &'static str),
    ) -> ResourceApi<R> {
        self.sorted_list((name, title, about), filters, &[], address)
    }

    /// As `list`, in an order that the caller may choose.
    pub fn sorted_list(
        mut self,
        (name, title, about): (&'static str, &'static str, &'static str),
        filters: &[FilterArgument],
        orders: &[SortOption],
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
        self.list_tool(name, title, about, filters, orders, path)
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
        let compared = filters.compared_fields().into_iter().map(|field| (field, name));
        self.finders.extend(compared);
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
            run: Run::read(ListTool { table: R::table(), filters, sorting, timed: R::TIMED }),
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
        self.tools.push(Tool {
            spec: ToolSpec {
                input: schema::get_input(self.id_about),
                output: schema::output::<R>(),
                route: route(Verb::Get, format!("/{}/{ID}", self.plural)),
                unmask_scope: nested::maskable(R::FIELDS).then(|| Scope::new(R::DOMAIN.read)),
                codes: vec![R::NOT_FOUND],
                ..spec::<R>(name, title, about, Effect::Reads)
            },
            run: Run::read(GetTool::<R>(PhantomData)),
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
        self.tools.push(create_tool::<R>(ToolSpec {
            input: schema::create_input::<R>(extra),
            route: route(Verb::Post, format!("/{}", self.plural)),
            codes,
            ..spec::<R>(name, title, about, Effect::Adds)
        }));
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
        let referenced = referenced_codes::<R>(|field| field.update).into_iter().filter(|code| *code != R::NOT_FOUND);
        let duplicate = self.duplicate_code(|field| field.update);
        let own = self.own_codes(codes);
        let codes = [R::NOT_FOUND].into_iter().chain(own).chain(duplicate).chain(referenced).collect();
        // Made once per contract, so the text is leaked instead of counted.
        let about = format!("{about}{}", schema::clearing::<R>()).leak();
        self.tools.push(self.update_tool(ToolSpec {
            route: route(Verb::Put, format!("/{}/{ID}", self.plural)),
            codes,
            ..spec::<R>(name, title, about, Effect::Changes)
        }));
        self
    }

    fn update_tool(&self, spec: ToolSpec) -> Tool {
        Tool {
            spec: ToolSpec {
                input: schema::update_input::<R>(self.id_about),
                output: schema::written::<R>(),
                unmask_scope: Some(Scope::new(R::DOMAIN.read)),
                ..spec
            },
            run: Run::write(UpdateTool::<R>(PhantomData)),
        }
    }

    /// A tool that changes one record in a way of its own, under the rules of an update: `own` are its arguments beside
    /// the id, `segment` ends its route.
    pub fn change(
        mut self,
        (name, title, about): (&'static str, &'static str, &'static str),
        segment: &str,
        own: Vec<Field>,
        codes: &[CodeSpec],
        change: ChangeFn<R>,
    ) -> ResourceApi<R> {
        let codes = [R::NOT_FOUND].into_iter().chain(self.own_codes(codes)).collect();
        let route = route(Verb::Post, format!("/{}/{ID}/{segment}", self.plural));
        self.tools.push(Tool {
            spec: ToolSpec {
                input: schema::change_input(self.id_about, own),
                output: schema::written::<R>(),
                unmask_scope: Some(Scope::new(R::DOMAIN.read)),
                // Nothing is created.
                route: route.map(|route| Route { success: Some(200), ..route }),
                codes,
                ..spec::<R>(name, title, about, Effect::Changes)
            },
            run: Run::write(ChangeTool::<R>(change)),
        });
        self
    }

    /// A table that its rules write and no tool shows.
    pub fn hidden_table(mut self, table: &'static TableSpec) -> ResourceApi<R> {
        self.hidden_tables.push(table);
        self
    }

    /// What rows of a file become: calls of the tools above. A resource without them has them for imports only.
    fn import(&self) -> ImportSpec {
        // The first of an effect is that of the resource itself; tools with names of their own come behind it.
        let with_effect = |effect: Effect| self.tools.iter().find(|tool| tool.spec.effect == effect).cloned();
        let hidden = |effect: Effect| spec::<R>(IMPORT_TOOL, "", "", effect);
        let create = with_effect(Effect::Adds).unwrap_or_else(|| {
            create_tool::<R>(ToolSpec { input: schema::create_input::<R>(Vec::new()), ..hidden(Effect::Adds) })
        });
        let update = with_effect(Effect::Changes).unwrap_or_else(|| self.update_tool(hidden(Effect::Changes)));
        import_spec::<R>(self.plural, create, update)
    }

    /// A tool that none of the others is like. Its scope is one of the resource's domain.
    pub fn tool(mut self, tool: Tool, codes: &[CodeSpec]) -> ResourceApi<R> {
        let _ = self.own_codes(codes).count();
        self.tools.push(tool);
        self
    }

    pub fn parts(self) -> ResourceParts {
        let import = self.import();
        let finder = self.finder();
        let kind = self.kind();
        ResourceParts {
            domain: R::DOMAIN,
            table: R::table(),
            hidden_tables: self.hidden_tables,
            fields: R::FIELDS,
            id_prefix: R::ID_PREFIX,
            noun: R::NOUN,
            finder,
            collection: self.collection,
            tools: self.tools,
            templates: self.templates,
            not_found: R::NOT_FOUND,
            kind,
            import,
            codes: self.codes,
            render_row: |tenant, row| Ok(Entity::<R>::restore(tenant, row)?.row_and_answer(TENANT)),
        }
    }

    fn kind(&self) -> RecordKind {
        let reads_one =
            |tool: &&Tool| tool.spec.effect == Effect::Reads && tool.spec.codes.first() == Some(&R::NOT_FOUND);
        let reader = self.tools.iter().find(reads_one).map(|tool| tool.spec.name);
        // A search is tried before the plain list.
        let mut finders = self.finders.clone();
        finders.sort_by_key(|(_, tool)| !tool.contains(".search"));
        RecordKind::of::<R>((reader, self.finder()), &finders)
    }

    /// The tool that finds an id.
    fn finder(&self) -> Option<&'static str> {
        let finds = |verb: &str| self.tools.iter().map(|tool| tool.spec.name).find(|name| name.contains(verb));
        finds(".search").or_else(|| finds(".list"))
    }

    /// The code of a value that another record has, if an argument is unique.
    fn duplicate_code(&mut self, is_argument: fn(&FieldSpec) -> bool) -> Option<Code> {
        let is_unique = |field: &FieldSpec| unique_column::<R>(field).is_some() && is_argument(field);
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

/// The import of a resource with these tools. `name` is the plural that commands and routes use.
fn import_spec<R: Resource>(name: &'static str, create: Tool, update: Tool) -> ImportSpec {
    let optional = |field: &Field| Field { presence: Presence::Optional, ..field.clone() };
    let row = Schema::extended(create.spec.input.fields().iter().map(optional), vendor::arguments());
    ImportSpec {
        name,
        noun: R::NOUN,
        table: R::table(),
        scope: Scope::new(R::DOMAIN.write),
        row,
        exported: schema::exported::<R>(),
        rules: Arc::new(RecordImport::<R>::new(feeds::target(name, &create.spec.input))),
        create,
        update,
    }
}

fn create_tool<R: Resource>(spec: ToolSpec) -> Tool {
    let unmask_scope = Some(Scope::new(R::DOMAIN.read));
    let spec = ToolSpec { output: schema::written::<R>(), unmask_scope, ..spec };
    Tool { spec, run: Run::write(CreateTool::<R>(PhantomData)) }
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
        scope: ScopeRule::One(Scope::new(scope)),
        unmask_scope: None,
        sensitivity: if nested::maskable(R::FIELDS) { Sensitivity::Personal } else { Sensitivity::Business },
        max_login_age: R::MAX_LOGIN_AGE,
        rate: RateKey::Client,
        route: None,
        codes: Vec::new(),
    }
}

/// Made once per contract, so the path is leaked instead of counted.
fn route(verb: Verb, path: String) -> Option<Route> {
    Some(Route::new(verb, path.leak()))
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
