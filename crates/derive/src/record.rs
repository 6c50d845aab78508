//! `#[derive(Record)]`: the table of fields, and the four conversions that need to know every field by its type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Fields, Ident, LitStr, Path, Result};

use crate::field::FieldDeclaration;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) => named.named.iter().map(FieldDeclaration::parse).collect::<Result<Vec<_>>>()?,
            Fields::Unnamed(_) | Fields::Unit => {
                return Err(Error::new(name.span(), "a record is a struct with named fields"));
            }
        },
        Data::Enum(_) | Data::Union(_) => {
            return Err(Error::new(name.span(), "a record is a struct with named fields"));
        }
    };
    let table = table(input)?;
    if table.is_some() && fields.iter().any(|field| field.options.create) {
        fields.iter().try_for_each(check_new)?;
    }
    if table.is_none() {
        fields.iter().try_for_each(check_nested)?;
    }
    let record = record_impl(name, &fields);
    let field_type = field_type_impl(name, ordered_by(input)?.as_ref());
    let stored = table.map(|table| stored_impl(name, &table));
    Ok(quote! { #record #field_type #stored })
}

/// A row that a caller can create must have every field.
fn check_new(field: &FieldDeclaration) -> Result<()> {
    if field.options.create || field.default.is_some() || field.is_option() {
        return Ok(());
    }
    Err(Error::new(
        field.ident.span(),
        "a new record has no value for this: mark it `create`, give it #[default(..)], or make it an Option",
    ))
}

/// A part of a record is not new by itself.
fn check_nested(field: &FieldDeclaration) -> Result<()> {
    match &field.default {
        Some(Expr::Closure(closure)) => {
            Err(Error::new_spanned(closure, "only a record with #[table(..)] is new at a time"))
        }
        Some(_) | None => Ok(()),
    }
}

fn record_impl(name: &Ident, fields: &[FieldDeclaration]) -> TokenStream {
    let specs = fields.iter().map(spec);
    let idents: Vec<&Ident> = fields.iter().map(|field| &field.ident).collect();
    let types: Vec<_> = fields.iter().map(|field| &field.field_type).collect();
    let names: Vec<&String> = fields.iter().map(|field| &field.name).collect();
    let access = fields.iter().map(|field| if field.options.create { quote!(Argument) } else { quote!(Ours) });
    let defaults = fields.iter().map(default);
    let updated: Vec<&FieldDeclaration> = fields.iter().filter(|field| field.options.update).collect();
    let (updated_idents, updated_names): (Vec<_>, Vec<_>) =
        updated.iter().map(|field| (&field.ident, &field.name)).unzip();
    quote! {
        impl ::frontdesk_contracts::record::Record for #name {
            const FIELDS: &'static [::frontdesk_contracts::record::FieldSpec] = &[#(#specs),*];

            fn each(
                &self,
                visit: &mut dyn FnMut(
                    &'static ::frontdesk_contracts::record::FieldSpec,
                    &dyn ::frontdesk_contracts::record::FieldValue,
                ),
            ) {
                let values: [&dyn ::frontdesk_contracts::record::FieldValue; <#name as ::frontdesk_contracts::record::Record>::FIELDS.len()] =
                    [#(&self.#idents),*];
                for (spec, value) in <#name as ::frontdesk_contracts::record::Record>::FIELDS.iter().zip(values) {
                    visit(spec, value);
                }
            }

            fn build(
                source: &::frontdesk_contracts::record::FieldSource<'_>,
            ) -> Result<#name, ::frontdesk_contracts::record::Unreadable> {
                Ok(#name {
                    #(#idents: source.read::<#types>(
                        #names,
                        ::frontdesk_contracts::record::Origin::#access,
                        #defaults,
                    )?,)*
                })
            }

            fn apply(
                &mut self,
                changes: &::frontdesk_contracts::record::Changes<'_>,
            ) -> Result<(), ::frontdesk_contracts::record::Unreadable> {
                #(changes.apply(#updated_names, &mut self.#updated_idents)?;)*
                Ok(())
            }
        }
    }
}

fn spec(field: &FieldDeclaration) -> TokenStream {
    let FieldDeclaration { name, field_type, about, argument, default, options, .. } = field;
    let argument = match argument {
        Some(text) => quote!(#text),
        None => quote!(#about),
    };
    let has_default = default.is_some();
    let (columns, searched) = (&options.columns, options.searched);
    let index = match options.index {
        Some(index) => {
            let index = Ident::new(index, field.ident.span());
            quote!(Some(::frontdesk_contracts::record::ColumnIndex::#index))
        }
        None => quote!(None),
    };
    let flags = [
        ("create", options.create),
        ("update", options.update),
        ("receipt", options.receipt),
        ("write_only", options.write_only),
        ("nested_columns", options.nested_columns),
        ("sealed", options.sealed),
        ("known", options.known),
        ("has_default", has_default),
    ];
    let flags = flags.into_iter().map(|(flag, set)| {
        let flag = Ident::new(flag, field.ident.span());
        quote!(#flag: #set)
    });
    let of_type = quote!(<#field_type as ::frontdesk_contracts::record::FieldType>);
    quote! {
        ::frontdesk_contracts::record::FieldSpec {
            name: #name,
            about: #about,
            argument_about: #argument,
            required: #of_type::REQUIRED,
            maskable: #of_type::MASKABLE,
            searched: #searched || #of_type::SEARCHED,
            columns: &[#(#columns),*],
            index: #index,
            #(#flags,)*
            input: #of_type::input,
            output: #of_type::output,
            column_types: #of_type::column_types,
            cells_of: ::frontdesk_contracts::record::cells_of::<#field_type>,
            nested: #of_type::nested,
            vocabulary: #of_type::vocabulary,
            reference: #of_type::reference,
        }
    }
}

/// What a new record has without the argument, as a function of the new record.
fn default(field: &FieldDeclaration) -> TokenStream {
    match &field.default {
        None => quote!(None),
        Some(closure @ Expr::Closure(_)) => quote!(Some(#closure)),
        Some(value) => quote!(Some(|_| #value)),
    }
}

/// So that a record can be a field of another one.
fn field_type_impl(name: &Ident, ordered_by: Option<&Path>) -> TokenStream {
    let (column_types, cells) = match ordered_by {
        Some(method) => (
            quote!(vec![::frontdesk_contracts::record::INTEGER]),
            quote!(cells.push(::frontdesk_contracts::record::integer_cell(#name::#method(self)))),
        ),
        None => (
            quote!(::frontdesk_contracts::record::nested::column_types::<#name>()),
            quote!(::frontdesk_contracts::record::nested::cells(self, cells)),
        ),
    };
    quote! {
        impl ::frontdesk_contracts::record::FieldType for #name {
            const MASKABLE: bool = ::frontdesk_contracts::record::nested::maskable(
                <#name as ::frontdesk_contracts::record::Record>::FIELDS,
            );

            const SEARCHED: bool = ::frontdesk_contracts::record::nested::searched(
                <#name as ::frontdesk_contracts::record::Record>::FIELDS,
            );

            fn input() -> ::frontdesk_contracts::record::Schema {
                ::frontdesk_contracts::record::nested::input::<#name>()
            }

            fn output() -> ::frontdesk_contracts::record::Schema {
                ::frontdesk_contracts::record::nested::output::<#name>()
            }

            fn column_types() -> Vec<::frontdesk_contracts::record::ColumnType> {
                #column_types
            }

            fn nested() -> &'static [::frontdesk_contracts::record::FieldSpec] {
                <#name as ::frontdesk_contracts::record::Record>::FIELDS
            }

            fn read(value: &::frontdesk_contracts::record::Value) -> Option<#name> {
                ::frontdesk_contracts::record::nested::read(value)
            }
        }

        impl ::frontdesk_contracts::record::FieldValue for #name {
            fn write(&self, out: &mut String) {
                ::frontdesk_contracts::record::nested::write(self, out);
            }

            fn write_masked(
                &self,
                path: &str,
                out: &mut String,
                redacted: &mut ::frontdesk_contracts::record::Redacted,
            ) {
                ::frontdesk_contracts::record::nested::write_masked(self, path, out, redacted);
            }

            fn cells(&self, cells: &mut Vec<::frontdesk_contracts::record::Cell>) {
                #cells;
            }

            fn named_cells(&self, cells: &mut Vec<(&'static str, ::frontdesk_contracts::record::Cell)>) {
                ::frontdesk_contracts::record::nested::named_cells(self, cells);
            }

            fn add_words(&self, words: &mut String) {
                ::frontdesk_contracts::record::nested::add_words(self, words);
            }
        }
    }
}

struct TableDeclaration {
    name: LitStr,
    prefix: LitStr,
    noun: LitStr,
    not_found: LitStr,
    partial_key: Option<Path>,
}

/// `#[table("lead", prefix = "led", not_found = "leads.not_found")]`, and `noun = ".."` where the name is no word of English.
fn table(input: &DeriveInput) -> Result<Option<TableDeclaration>> {
    let Some(attribute) = input.attrs.iter().find(|attribute| attribute.path().is_ident("table")) else {
        return Ok(None);
    };
    attribute.parse_args_with(parse_table).map(Some).map_err(|error| complete(attribute, &error))
}

fn parse_table(input: syn::parse::ParseStream<'_>) -> Result<TableDeclaration> {
    let name: LitStr = input.parse()?;
    let (mut prefix, mut noun, mut not_found, mut partial_key) = (None, None, None, None);
    while !input.is_empty() {
        input.parse::<syn::Token![,]>()?;
        if input.is_empty() {
            break;
        }
        let option: Ident = input.parse()?;
        input.parse::<syn::Token![=]>()?;
        match option.to_string().as_str() {
            "prefix" => prefix = Some(input.parse()?),
            "noun" => noun = Some(input.parse()?),
            "not_found" => not_found = Some(input.parse()?),
            "partial_key" => partial_key = Some(input.parse()?),
            _ => {
                return Err(Error::new(
                    option.span(),
                    "unknown option; there are prefix, noun, not_found and partial_key",
                ));
            }
        }
    }
    let missing = |option: &str| Error::new(name.span(), format!("{option} is missing"));
    Ok(TableDeclaration {
        prefix: prefix.ok_or_else(|| missing("prefix"))?,
        not_found: not_found.ok_or_else(|| missing("not_found"))?,
        noun: noun.unwrap_or_else(|| LitStr::new(&name.value().replace('_', " "), name.span())),
        name,
        partial_key,
    })
}

fn complete(attribute: &Attribute, error: &Error) -> Error {
    let mut whole = Error::new_spanned(
        attribute,
        "expected #[table(\"name\", prefix = \"abc\", not_found = \"domain.not_found\")]",
    );
    whole.combine(error.clone());
    whole
}

/// `#[record(ordered_by = method)]`: the method's whole number stands for the record in a column.
fn ordered_by(input: &DeriveInput) -> Result<Option<Path>> {
    let mut method = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("record")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("ordered_by") {
                return Err(meta.error("unknown option; there is ordered_by"));
            }
            method = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    Ok(method)
}

fn stored_impl(name: &Ident, table: &TableDeclaration) -> TokenStream {
    let TableDeclaration { name: table_name, prefix, noun, not_found, partial_key } = table;
    let partial_key = partial_key.as_ref().map(|key| {
        quote! {
            fn partial_key() -> Option<::frontdesk_contracts::record::PartialKey<#name>> {
                Some(#key)
            }
        }
    });
    quote! {
        impl ::frontdesk_contracts::record::Stored for #name {
            const TABLE_NAME: &'static str = #table_name;
            const ID_PREFIX: &'static str = #prefix;
            const NOUN: &'static str = #noun;
            const NOT_FOUND: ::frontdesk_contracts::record::Code = ::frontdesk_contracts::record::Code(#not_found);

            fn table() -> &'static ::frontdesk_contracts::record::TableSpec {
                static TABLE: ::std::sync::LazyLock<::frontdesk_contracts::record::TableSpec> =
                    ::std::sync::LazyLock::new(::frontdesk_contracts::record::table_spec::<#name>);
                &TABLE
            }

            #partial_key
        }
    }
}
