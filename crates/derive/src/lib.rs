//! `#[derive(Record)]` and `#[derive(Vocabulary)]`: a resource, or a part of one, declared once as a plain Rust type.
//! They generate tables of facts and conversions only; everything that is done with those is ordinary code in
//! `frontdesk_contracts::record`. Nothing generated here has control flow that a reader would have to know about.

mod field;
mod record;
mod vocabulary;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Declares the fields of a resource or of a part of one.
///
/// The doc comment of a field is its published description, its type says what it is, and `#[field(..)]` says what may be
/// done with it:
///
/// | option | meaning |
/// |---|---|
/// | `create`, `update` | an argument of the create or the update tool |
/// | `column`, `column = "name"`, `column("a", "b")` | has a column (or one per part of its type), so that lists can filter by it |
/// | `columns` | the columns that its own record declares become columns of this table |
/// | `indexed`, `sorted`, `unique` | its column is filtered often, can be sorted by, or occurs once per tenant |
/// | `searched` | its words find the row |
/// | `receipt` | shown to who may write but not read |
/// | `sealed` | personal: encrypted at rest, left out where masked |
/// | `write_only` | sealed apart and never answered |
/// | `known` | callers may not send `unknown` |
///
/// `#[default(expression)]` is what a new record has without the argument; a closure is given the
/// `NewRecord`. `#[argument("..")]` is the description where the field is an argument. `#[table("name", prefix = "abc",
/// not_found = "domain.not_found")]` makes the struct a resource with a table of its own.
///
/// A mistake is reported where it is made:
///
/// ```compile_fail
/// #[derive(Debug, Clone, PartialEq, frontdesk_contracts::Record)]
/// pub struct Loaner {
///     /// The plate.
///     #[field(uniqe)]
///     pub plate: frontdesk_contracts::record::Text<20>,
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Debug, Clone, PartialEq, frontdesk_contracts::Record)]
/// pub struct Loaner {
///     #[field(create)]
///     pub plate_without_a_description: frontdesk_contracts::record::Text<20>,
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Debug, Clone, PartialEq, frontdesk_contracts::Record)]
/// pub struct Loaner {
///     /// Its text would stand in clear in the column.
///     #[field(create, sealed, indexed)]
///     pub notes: frontdesk_contracts::record::Text<20>,
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Debug, Clone, PartialEq, frontdesk_contracts::Record)]
/// #[table("loaner", prefix = "loa", not_found = "service.not_found")]
/// pub struct Loaner {
///     /// The plate.
///     #[field(create)]
///     pub plate: frontdesk_contracts::record::Text<20>,
///     /// Required, and a new one cannot have it.
///     pub colour: frontdesk_contracts::record::Text<20>,
/// }
/// ```
///
/// ```
/// #[derive(Debug, Clone, PartialEq, frontdesk_contracts::Record)]
/// #[table("loaner", prefix = "loa", not_found = "service.not_found")]
/// pub struct Loaner {
///     /// The plate.
///     #[field(create, unique)]
///     pub plate: frontdesk_contracts::record::Text<20>,
/// }
/// ```
#[proc_macro_derive(Record, attributes(field, default, argument, table, record))]
pub fn record(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    record::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares a controlled vocabulary: an enum without data whose members are published in `lower_snake_case`, or as
/// `#[word("..")]` says. A state that answers carry has a last member `Unknown`, which any other word is read as;
/// `#[vocabulary(closed)]` is for words that only a caller sends, or that cannot be anything else.
///
/// ```
/// use frontdesk_contracts::record::Vocabulary as _;
///
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, frontdesk_contracts::Vocabulary)]
/// pub enum LoanerStatus {
///     InUse,
///     Unknown,
/// }
/// assert_eq!(LoanerStatus::WORDS, ["in_use", "unknown"]);
/// assert_eq!(LoanerStatus::from_word("broken"), LoanerStatus::Unknown);
/// ```
///
/// ```compile_fail
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, frontdesk_contracts::Vocabulary)]
/// pub enum WithoutUnknown {
///     InUse,
/// }
/// ```
#[proc_macro_derive(Vocabulary, attributes(vocabulary, word))]
pub fn vocabulary(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    vocabulary::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
