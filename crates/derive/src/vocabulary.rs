//! `#[derive(Vocabulary)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Result};

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "a vocabulary is an enum"));
    };
    let mut closed = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("vocabulary")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("closed") {
                return Err(meta.error("unknown option; there is closed"));
            }
            closed = true;
            Ok(())
        })?;
    }
    let mut members = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new(variant.ident.span(), "a member of a vocabulary has no data"));
        }
        let named = variant.attrs.iter().find(|attribute| attribute.path().is_ident("word"));
        let word = match named {
            Some(attribute) => attribute.parse_args::<LitStr>()?.value(),
            None => snake_case(&variant.ident.to_string()),
        };
        members.push((&variant.ident, word));
    }
    let ends_unknown = members.last().is_some_and(|(_, word)| word == "unknown");
    if ends_unknown == closed {
        return Err(Error::new(
            input.ident.span(),
            "the last member is Unknown, unless the vocabulary is marked #[vocabulary(closed)]",
        ));
    }
    let name = &input.ident;
    let label = name.to_string();
    let (idents, words): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    let fallback = if closed { quote!(None) } else { quote!(Some(#name::Unknown)) };
    let from_word = (!closed).then(|| {
        quote! {
            impl #name {
                /// The member of this word, or `Unknown`.
                pub fn from_word(word: &str) -> #name {
                    match word {
                        #(#words => #name::#idents,)*
                        _ => #name::Unknown,
                    }
                }
            }
        }
    });
    Ok(quote! {
        impl ::frontdesk_contracts::record::Vocabulary for #name {
            const NAME: &'static str = #label;
            const WORDS: &'static [&'static str] = &[#(#words),*];

            fn as_str(self) -> &'static str {
                match self {
                    #(#name::#idents => #words,)*
                }
            }

            fn parse(word: &str) -> Option<#name> {
                match word {
                    #(#words => Some(#name::#idents),)*
                    _ => #fallback,
                }
            }
        }

        #from_word
    })
}

fn snake_case(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}
