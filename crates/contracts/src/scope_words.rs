//! What the scopes of the contracts mean, in words for the person who is asked to allow them.

use crate::emcp;

/// A scope in words, as the end of a sentence such as "it may".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeWords {
    pub words: &'static str,
    /// Whether it allows no change.
    pub is_reading: bool,
}

/// None for a scope that no contract has.
pub fn scope_words(scope: &str) -> Option<ScopeWords> {
    let (words, is_reading) = match scope {
        "amcp:inventory:read" => ("see the vehicles in stock, their prices and photos", true),
        "amcp:inventory:write" => ("add, change and take off vehicles in stock", false),
        "amcp:leads:read" => ("see leads, with the names and contact details of the people behind them", true),
        "amcp:leads:write" => ("add and change leads, and what was said to them", false),
        "amcp:deals:read" => ("see deals, with their customers, trade-ins and sums", true),
        "amcp:deals:write" => ("make and change deals", false),
        "amcp:service:read" => ("see service appointments and repair orders, with their customers", true),
        "amcp:service:write" => ("book, move and cancel service appointments, and change repair orders", false),
        "amcp:parts:read" => ("see parts, their stock and their orders", true),
        "amcp:parts:write" => ("order parts and change what is in stock", false),
        "amcp:fni:read" => ("see credit applications and what lenders have decided", true),
        "amcp:fni:write" => ("make and change credit applications", false),
        "amcp:signals:read" => ("see figures about demand and stock, which name nobody", true),
        "amcp:signals:write" => ("change figures about demand and stock", false),
        "amcp:consent:read" => ("see what customers have agreed to", true),
        "amcp:consent:write" => ("record what customers have agreed to or no longer want", false),
        emcp::scopes::READ => ("see which tools and pages there are", true),
        emcp::scopes::CALL => ("use the tools: read the website's content", true),
        emcp::scopes::ADMIN => ("use what is for administrators", false),
        _ => return None,
    };
    Some(ScopeWords { words, is_reading })
}

#[cfg(test)]
mod tests {
    use frontdesk_engine::Scope;

    use super::{emcp, scope_words};
    use crate::automotive;

    #[test]
    fn every_scope_of_a_token_is_in_words() {
        let scopes = automotive::contract().scopes.into_iter().chain(emcp::scopes::all());
        let missing: Vec<Scope> = scopes.filter(|scope| scope_words(scope.as_str()).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let of_domains = automotive::domains::ALL.iter().flat_map(|domain| [domain.read, domain.write]);
        assert!(of_domains.clone().all(|scope| scope_words(scope).is_some()));
        assert!(of_domains.clone().all(|scope| scope_words(scope).unwrap().is_reading == scope.ends_with(":read")));
        assert_eq!(scope_words("other:read"), None);
    }
}
