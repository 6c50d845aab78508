//! The text files of the repository, read once. Build products and what `.gitignore` names at the root are left out.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use super::code::without_words;

pub struct Tree {
    /// Sorted by path.
    pub files: Vec<File>,
}

pub struct File {
    /// From the root, with forward slashes.
    pub path: String,
    pub text: String,
    code: OnceLock<String>,
}

impl Tree {
    pub fn read(root: &Path) -> Result<Self, String> {
        let mut skipped: Vec<String> = vec![".git".to_owned(), "Cargo.lock".to_owned()];
        if let Ok(ignored) = fs::read_to_string(root.join(".gitignore")) {
            skipped.extend(
                ignored
                    .lines()
                    .filter_map(|line| line.strip_prefix('/'))
                    .map(|name| name.trim_end_matches('/').to_owned()),
            );
        }
        let mut files = Vec::new();
        collect(root, "", &skipped, &mut files)?;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self { files })
    }

    /// Files whose path is inside `folder` and ends with `ending`.
    pub fn inside<'tree>(&'tree self, folder: &str, ending: &str) -> impl Iterator<Item = &'tree File> {
        self.files.iter().filter(move |file| file.path.starts_with(folder) && file.path.ends_with(ending))
    }

    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| File::new((*path).to_owned(), (*text).to_owned()));
        Self { files: files.collect() }
    }
}

impl File {
    fn new(path: String, text: String) -> Self {
        Self { path, text, code: OnceLock::new() }
    }

    /// The same lines without comments and literals, for files of Rust.
    pub fn code(&self) -> &str {
        self.code.get_or_init(|| without_words(&self.text))
    }

    /// The lines with their numbers, counted from one.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The crate folder a path such as `crates/wire/src/lib.rs` belongs to, with what follows it.
    pub fn in_crate(&self) -> Option<(&str, &str)> {
        self.path.strip_prefix("crates/")?.split_once('/')
    }

    /// Whether this is the source of a crate, as opposed to its tests, examples or manifest.
    pub fn is_crate_source(&self) -> bool {
        self.path.ends_with(".rs") && self.in_crate().is_some_and(|(_, rest)| rest.starts_with("src/"))
    }
}

fn collect(folder: &Path, prefix: &str, skipped: &[String], files: &mut Vec<File>) -> Result<(), String> {
    let problem = |cause: std::io::Error| format!("cannot read {}: {cause}", folder.display());
    for entry in fs::read_dir(folder).map_err(problem)? {
        let entry = entry.map_err(problem)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if (prefix.is_empty() && skipped.contains(&name)) || name == "__pycache__" {
            continue;
        }
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let kind = entry.file_type().map_err(problem)?;
        if kind.is_dir() {
            collect(&entry.path(), &path, skipped, files)?;
        } else if kind.is_file() {
            // Pictures and other bytes are no text, so no rule has an opinion on them.
            if let Ok(text) = String::from_utf8(fs::read(entry.path()).map_err(problem)?) {
                files.push(File::new(path, text));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_knows_its_crate() {
        let tree =
            Tree::of(&[("crates/wire/src/lib.rs", ""), ("crates/wire/tests/a.rs", ""), ("xtask/src/main.rs", "")]);
        let sources: Vec<bool> = tree.files.iter().map(File::is_crate_source).collect();
        assert_eq!(sources, [true, false, false]);
        assert_eq!(tree.file("crates/wire/tests/a.rs").unwrap().in_crate(), Some(("wire", "tests/a.rs")));
    }

    #[test]
    fn the_real_tree_has_sources_but_no_build_products() {
        let tree = Tree::read(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).unwrap();
        assert!(tree.file("xtask/src/tidy/tree.rs").is_some());
        assert_eq!(tree.inside("target/", "").count(), 0);
        assert_eq!(tree.inside(".git/", "").count(), 0);
    }
}
