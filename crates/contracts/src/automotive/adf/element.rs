//! An element of a message, from which what was understood is taken out, so that the rest can be kept as text.

/// Names are in lower case and without a prefix.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    pub(super) fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    pub(super) fn children_mut<'a>(&'a mut self, name: &'a str) -> impl Iterator<Item = &'a mut Element> {
        self.children.iter_mut().filter(move |child| child.name == name)
    }

    pub(super) fn child_mut(&mut self, name: &str) -> Option<&mut Element> {
        self.children.iter_mut().find(|child| child.name == name)
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    pub(super) fn take_attribute(&mut self, name: &str) -> Option<String> {
        let at = self.attributes.iter().position(|(own, _)| own == name)?;
        Some(self.attributes.remove(at).1.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// Its text in one line.
    pub(super) fn line(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Takes the text of the first child of this name that has one, if it is good.
    pub(super) fn take_line(&mut self, name: &str, is_good: impl Fn(&str) -> bool) -> Option<String> {
        let child = self.children_mut(name).find(|child| !child.line().is_empty())?;
        let line = child.line();
        is_good(&line).then(|| {
            child.text.clear();
            line
        })
    }

    /// How many elements and characters it has, itself included.
    pub(super) fn count(&self) -> usize {
        let attributes: usize = self.attributes.iter().map(|(name, value)| name.len() + value.len()).sum();
        1 + self.text.len() + attributes + self.children.iter().map(Element::count).sum::<usize>()
    }

    /// All of it in one text that does not depend on how it was written.
    pub(super) fn canonical(&self, text: &mut String) {
        let mut attributes: Vec<&(String, String)> = self.attributes.iter().collect();
        attributes.sort();
        text.push('<');
        text.push_str(&self.name);
        for (name, value) in attributes {
            text.push_str(&format!(" {name}={:?}", value.trim()));
        }
        text.push('>');
        text.push_str(&format!("{:?}", self.line()));
        for child in &self.children {
            child.canonical(text);
        }
        text.push_str("</>");
    }
}
