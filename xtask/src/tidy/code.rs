//! Rust text with its comments and literals blanked, so that a rule about code ignores them. It is
//! no parser: it knows just enough of the language to tell the three apart, and keeps every line in its place.

/// The same lines, with every character of a comment, string or character literal replaced by a space.
pub fn without_words(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut blanked = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        let rest = characters.get(at..).unwrap_or_default();
        let after_word = at > 0 && characters.get(at - 1).is_some_and(|before| is_word(*before));
        let length = match character {
            '/' if starts(rest, "//") => rest.iter().take_while(|next| **next != '\n').count(),
            '/' if starts(rest, "/*") => block_comment(rest),
            '"' => string(rest),
            'r' if !after_word => raw_string(rest).unwrap_or(0),
            'b' | 'c' if !after_word && rest.get(1) == Some(&'r') => {
                raw_string(rest.get(1..).unwrap_or_default()).map_or(0, |length| length + 1)
            }
            '\'' => character_literal(rest),
            _ => 0,
        };
        if length == 0 {
            blanked.push(character);
            at += 1;
        } else {
            blanked.extend(rest.iter().take(length).map(|word| if *word == '\n' { '\n' } else { ' ' }));
            at += length;
        }
    }
    blanked
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn starts(rest: &[char], wanted: &str) -> bool {
    wanted.chars().enumerate().all(|(index, character)| rest.get(index) == Some(&character))
}

/// Block comments nest.
fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let here = rest.get(at..).unwrap_or_default();
        if starts(here, "/*") {
            depth += 1;
            at += 2;
        } else if starts(here, "*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn string(rest: &[char]) -> usize {
    let mut escaped = false;
    for (index, character) in rest.iter().enumerate().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw_string(rest: &[char]) -> Option<usize> {
    let hashes = rest.iter().skip(1).take_while(|character| **character == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return None;
    }
    let end: String = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let body = 2 + hashes;
    (body..rest.len())
        .find(|index| starts(rest.get(*index..).unwrap_or_default(), &end))
        .map(|index| index + end.len())
        .or(Some(rest.len()))
}

/// A lifetime such as `'static` has no closing quote two characters on, and gives zero.
fn character_literal(rest: &[char]) -> usize {
    match (rest.get(1), rest.get(2)) {
        (Some('\\'), _) => rest.iter().skip(3).position(|character| *character == '\'').map_or(0, |index| index + 4),
        (Some(_), Some('\'')) => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::without_words;

    #[test]
    fn comments_and_literals_are_blanked_and_code_stays() {
        for (source, blanked) in [
            ("a // b\nc", "a     \nc"),
            ("c/* d /* e */ f */g", "c                 g"),
            (r#"s("x\"y");z"#, r#"s(      );z"#),
            ("(r#\"a\"b\"#)", "(        )"),
            ("(br\"q\")+c", "(     )+c"),
            ("f<'a>('\\'','x',\"\")", "f<'a>(    ,   ,  )"),
        ] {
            assert_eq!(without_words(source), blanked, "{source}");
            assert_eq!(source.len(), blanked.len(), "{source}");
        }
    }

    #[test]
    fn a_string_over_several_lines_keeps_the_lines() {
        assert_eq!(without_words("\"a\nb\"\nc"), "  \n  \nc");
    }
}
