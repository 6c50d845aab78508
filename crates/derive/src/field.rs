//! What one field declares: its description, its options and its default, read from the attributes.

use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, Ident, Lit, LitStr, Meta, Result, Type, parenthesized};

pub(crate) struct FieldDeclaration {
    pub(crate) ident: Ident,
    /// As it is published: without `r#`.
    pub(crate) name: String,
    pub(crate) field_type: Type,
    pub(crate) about: String,
    pub(crate) argument: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) options: FieldOptions,
}

#[derive(Default)]
pub(crate) struct FieldOptions {
    pub(crate) create: bool,
    pub(crate) update: bool,
    pub(crate) receipt: bool,
    pub(crate) sealed: bool,
    pub(crate) write_only: bool,
    pub(crate) searched: bool,
    pub(crate) known: bool,
    /// Whether the columns of the nested record are columns of the table.
    pub(crate) nested_columns: bool,
    pub(crate) columns: Vec<LitStr>,
    pub(crate) index: Option<&'static str>,
}

impl FieldDeclaration {
    pub(crate) fn parse(field: &syn::Field) -> Result<FieldDeclaration> {
        let Some(ident) = field.ident.clone() else {
            return Err(Error::new(field.span(), "a record has named fields"));
        };
        let text = ident.to_string();
        let name = text.strip_prefix("r#").unwrap_or(&text).to_owned();
        let about = description(&field.attrs);
        if about.is_empty() {
            return Err(Error::new(ident.span(), "describe the field in a doc comment: its description is published"));
        }
        let mut declaration = FieldDeclaration {
            ident,
            name,
            field_type: field.ty.clone(),
            about,
            argument: None,
            default: None,
            options: FieldOptions::default(),
        };
        for attribute in &field.attrs {
            if attribute.path().is_ident("field") {
                attribute.parse_nested_meta(|meta| declaration.option(&meta))?;
            } else if attribute.path().is_ident("default") {
                declaration.default = Some(attribute.parse_args()?);
            } else if attribute.path().is_ident("argument") {
                declaration.argument = Some(attribute.parse_args()?);
            }
        }
        declaration.check()?;
        Ok(declaration)
    }

    /// Only by its name: a macro sees no types.
    pub(crate) fn is_option(&self) -> bool {
        let Type::Path(path) = &self.field_type else { return false };
        path.path.segments.last().is_some_and(|segment| segment.ident == "Option")
    }

    fn option(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let Some(option) = meta.path.get_ident().map(Ident::to_string) else {
            return Err(meta.error("an option is one word"));
        };
        let own_name = || LitStr::new(&self.name, self.ident.span());
        let options = &mut self.options;
        match option.as_str() {
            "create" => options.create = true,
            "update" => options.update = true,
            "receipt" => options.receipt = true,
            "sealed" => options.sealed = true,
            "write_only" => options.write_only = true,
            "searched" => options.searched = true,
            "known" => options.known = true,
            "columns" => options.nested_columns = true,
            "column" if meta.input.peek(syn::Token![=]) => options.columns = vec![meta.value()?.parse()?],
            "column" if meta.input.peek(syn::token::Paren) => {
                let names;
                parenthesized!(names in meta.input);
                options.columns = names.parse_terminated(parse_name, syn::Token![,])?.into_iter().collect();
            }
            "column" => options.columns = vec![own_name()],
            "indexed" => options.index = Some("Filtered"),
            "sorted" => options.index = Some("Sorted"),
            "unique" => options.index = Some("Unique"),
            _ => {
                return Err(meta.error(
                    "unknown option; there are create, update, column, columns, indexed, sorted, unique, searched, \
                     receipt, sealed, write_only and known",
                ));
            }
        }
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        let options = &mut self.options;
        if options.index.is_some() && options.columns.is_empty() {
            options.columns = vec![LitStr::new(&self.name, self.ident.span())];
        }
        if options.sealed && (options.receipt || options.nested_columns || !options.columns.is_empty()) {
            return Err(Error::new(
                self.ident.span(),
                "a sealed field has no column and is in no receipt, where it would stand in clear; Email, Phone and \
                 PersonName are personal without `sealed` and have columns of keyed hashes",
            ));
        }
        if options.write_only && (options.receipt || options.sealed || options.searched || !options.columns.is_empty())
        {
            return Err(Error::new(
                self.ident.span(),
                "a write-only field is in no answer and in no index: it takes create and update only",
            ));
        }
        Ok(())
    }
}

fn parse_name(input: syn::parse::ParseStream<'_>) -> Result<LitStr> {
    input.parse()
}

/// The doc comment as one line.
pub(crate) fn description(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => {
            let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &doc.value else { return None };
            Some(text.value().trim().to_owned())
        }
        Meta::NameValue(_) | Meta::Path(_) | Meta::List(_) => None,
    });
    lines.collect::<Vec<String>>().join(" ").trim().to_owned()
}
