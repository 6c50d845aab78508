//! Arguments by chance, always the same chance: made from a tool's own schema, then broken here and there.

use serde_json::{Map, Value, json};

use crate::support::chance::Chance;

impl Chance {
    /// Something that fits the schema, as far as a schema can say it.
    pub(crate) fn fitting(&mut self, schema: &Value) -> Value {
        if let Some(words) = schema["enum"].as_array() {
            return self.pick(words).clone();
        }
        match schema["type"].as_str().unwrap_or_default() {
            "object" => {
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                let mut object = Map::new();
                for (name, shape) in schema["properties"].as_object().into_iter().flatten() {
                    if required.contains(&json!(name)) || self.percent(40) {
                        object.insert(name.clone(), self.fitting(shape));
                    }
                }
                Value::Object(object)
            }
            "array" => (0..self.below(4)).map(|_| self.fitting(&schema["items"])).collect(),
            "integer" => {
                let least = schema["minimum"].as_i64().unwrap_or(0);
                let most = schema["maximum"].as_i64().unwrap_or(100);
                json!(*self.pick(&[least, most, least.saturating_add(1), (least / 2).saturating_add(most / 2)]))
            }
            "boolean" => json!(self.percent(80)),
            _ => json!(self.text(schema)),
        }
    }

    fn text(&mut self, schema: &Value) -> String {
        match (schema["format"].as_str(), schema["pattern"].as_str()) {
            (Some("date-time"), _) => "2026-01-31T09:30:00Z".to_owned(),
            (Some("email"), _) => "a@example.com".to_owned(),
            (_, Some(pattern)) if pattern.contains("A-Z") => "USD".to_owned(),
            (_, Some(_)) => "+15125550123".to_owned(),
            (_, None) => {
                let most = usize::try_from(schema["maxLength"].as_u64().unwrap_or(10)).unwrap();
                "toyota".chars().cycle().take(1 + self.below(most.min(40))).collect()
            }
        }
    }

    /// Breaks a value in one place: somewhere in it something hostile stands instead, or is added, or missing.
    pub(crate) fn break_one(&mut self, value: &mut Value) {
        let deeper = self.percent(70);
        if let Some(object) = value.as_object_mut().filter(|object| deeper && !object.is_empty()) {
            let names: Vec<String> = object.keys().cloned().collect();
            let name = self.pick(&names).clone();
            match self.below(10) {
                0 => drop(object.remove(&name)),
                1 => drop(object.insert(hostile_text(self), json!(1))),
                _ => self.break_one(&mut object[&name]),
            }
        } else if let Some(items) = value.as_array_mut().filter(|items| deeper && !items.is_empty()) {
            let at = self.below(items.len());
            self.break_one(&mut items[at]);
        } else {
            *value = self.hostile();
        }
    }

    fn hostile(&mut self) -> Value {
        match self.below(12) {
            0 => json!(null),
            1 => json!(self.percent(50)),
            2 => json!(*self.pick(&[0, -1, 1, i64::MIN, i64::MAX, 9_007_199_254_740_993, 2_147_483_648])),
            3 => json!(u64::MAX),
            4 => json!(*self.pick(&[0.5, -0.0, 1e300, 5e-324, 1.0])),
            5 => json!([]),
            6 => json!({}),
            7 => json!([[[[[[[["x"]]]]]]]]),
            8 => json!({"$ref": "https://evil.example/schema", "__proto__": {"a": 1}}),
            9 => Value::Array((0..self.below(300)).map(|at| json!(at)).collect()),
            _ => json!(hostile_text(self)),
        }
    }
}

fn hostile_text(chance: &mut Chance) -> String {
    const TEXTS: [&str; 28] = [
        "",
        " ",
        "\0",
        "\u{feff}",
        "\u{202e}txet",
        "a\u{301}\u{300}\u{30a}",
        "\u{1f468}\u{200d}\u{1f469}",
        "\u{fffd}\u{ffff}",
        "\u{10ffff}",
        "\r\n\r\nHTTP/1.1 200 OK",
        "\u{1b}[31m",
        "' OR 1=1 --",
        "\"; DROP TABLE lead; --",
        "%s%n%x",
        "../../../../etc/passwd",
        "${jndi:ldap://x}",
        "{{7*7}}",
        "<script>alert(1)</script>",
        "+0",
        "+1",
        "@",
        "a@b",
        "a@b.c@d.e",
        "9999-12-31T23:59:59-23:59",
        "0000-01-01T00:00:00+23:59",
        "2016-12-31T23:59:60Z",
        "\\",
        "\"}",
    ];
    match chance.below(8) {
        0 => "x".repeat(1 + chance.below(9000)),
        1 => (0..chance.below(40)).filter_map(|_| char::from_u32(chance.number() as u32 % 0x11_0000)).collect(),
        2 => "word ".repeat(chance.below(60)),
        _ => (*chance.pick(&TEXTS)).to_owned(),
    }
}
