//! The engine serves any contract and therefore knows the word of none, not even in a comment: a name that slips in is
//! the first step of a special case.

use super::Finding;
use super::tree::Tree;

/// As whole words: `leading` and `tomorrow` are English, `Lead` and `tomo_error` are not the engine's business.
const WORDS: &[&str] =
    &["automotive", "amcp", "dealership", "dealerships", "emcp", "evo", "lead", "leads", "tomo", "vehicle", "vehicles"];

pub fn engine_names_no_contract(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.inside("crates/engine/src/", ".rs") {
        for (number, line) in file.lines() {
            for word in words(line).into_iter().filter(|word| WORDS.contains(&word.as_str())) {
                let message = format!("`{word}` belongs to a contract; say it in the engine's own words or move it");
                findings.push(Finding::at(&file.path, number, message));
            }
        }
    }
    findings
}

/// The words of a line in lower case. `TomoDialect` is two words, `tomo_error` too, and an unbroken run of letters
/// counts once more as a whole, so that `eMCP` is found although its capitals fall oddly.
fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for run in line.split(|character: char| !character.is_alphabetic()).filter(|run| !run.is_empty()) {
        let parts = split_at_capitals(run);
        if parts.len() > 1 {
            found.push(run.to_lowercase());
        }
        found.extend(parts);
    }
    found
}

/// A new word begins at a capital after a small letter, and at the last capital of a row of them (`MCPTool`).
fn split_at_capitals(run: &str) -> Vec<String> {
    let letters: Vec<char> = run.chars().collect();
    let mut parts: Vec<String> = Vec::new();
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| letters.get(index));
        let next = letters.get(index + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || next.is_some_and(|next| next.is_lowercase()));
        match parts.last_mut() {
            Some(part) if !begins => part.extend(letter.to_lowercase()),
            Some(_) | None => parts.push(letter.to_lowercase().collect()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/engine/src/serve.rs", line)]);
        engine_names_no_contract(&tree).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_contract_word_in_the_engine_is_found_in_code_and_comment() {
        for line in [
            "struct TomoDialect;",
            "let tomo_error_code = 1;",
            "// the eMCP way",
            "\"evo.content.get\"",
            "const SCOPE: &str = \"amcp:x:read\";",
            "fn lead() {}",
            "enum Kind { Vehicle }",
            "type DEALERSHIP = u8;",
            "mod automotive;",
        ] {
            assert_eq!(found(line).len(), 1, "{line}");
        }
        assert_eq!(
            found("struct Lead;"),
            ["`lead` belongs to a contract; say it in the engine's own words or move it"]
        );
    }

    #[test]
    fn plain_english_is_left_alone() {
        for line in [
            "// the leading byte",
            "// not tomorrow",
            "// evolves",
            "fn serve_mcp() {}",
            "struct ServeMcp;",
            "// misleads",
        ] {
            assert_eq!(found(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn other_crates_may_name_contracts() {
        let tree = Tree::of(&[("crates/contracts/src/lib.rs", "mod automotive;")]);
        assert_eq!(engine_names_no_contract(&tree), []);
    }
}
