//! Contents of scenarios according to the published JSON Schema. New keys take part automatically.

use std::collections::BTreeSet;

use serde_json::Value;

pub(crate) struct Schema(Value);

/// Type of the value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// One of these words.
    Words(Vec<String>),
    /// `true` or `false`.
    Bool,
    /// Type that the schema names.
    Called(String),
    /// Lists, tables and names, which have a meaning beyond their form.
    Else,
}

impl Schema {
    pub(crate) fn new() -> Self {
        let mut schema: Value =
            serde_json::from_str(&optcp_scenario::json_schema()).expect("the schema is JSON");
        // No Python runs here: tests/python/test_congestion.py tests its congestion controls.
        let kinds = &mut schema["$defs"]["CongestionKind"];
        let words = kinds["oneOf"].as_array_mut().expect("a family");
        words.retain(|one| !one["const"].as_str().is_some_and(|name| name.starts_with("python")));
        let kinds = serde_json::json!({ "$ref": "#/$defs/CongestionKind" });
        schema["$defs"]["TcpTable"]["properties"]["congestion"] = kinds;
        Schema(schema)
    }

    /// The families of words, and their words.
    pub(crate) fn families(&self) -> Vec<(String, Vec<String>)> {
        let all = self.0["$defs"].as_object().expect("a schema with definitions");
        let families = all.iter().filter(|(_, family)| family["oneOf"].is_array());
        families.map(|(name, _)| (name.clone(), self.words_of(name))).collect()
    }

    /// The same schema without one word of a family.
    pub(crate) fn without(&self, family: &str, word: &str) -> Self {
        let mut schema = self.0.clone();
        let words = schema["$defs"][family]["oneOf"].as_array_mut().expect("a family");
        words.retain(|one| one["const"] != word);
        Schema(schema)
    }

    /// The same schema with the words of each family in the opposite order.
    pub(crate) fn backwards(&self) -> Self {
        let mut schema = self.0.clone();
        let all = schema["$defs"].as_object_mut().expect("a schema with definitions");
        let families = all.values_mut().filter_map(|family| family["oneOf"].as_array_mut());
        families.for_each(|words| words.reverse());
        Schema(schema)
    }

    fn properties(&self, table: &str) -> &serde_json::Map<String, Value> {
        self.0["$defs"][table]["properties"].as_object().expect("a table of the schema")
    }

    /// The words of a family, sorted: the order of registries means nothing here.
    pub(crate) fn words_of(&self, family: &str) -> Vec<String> {
        let words = self.0["$defs"][family]["oneOf"].as_array();
        let words = words.into_iter().flatten().filter_map(|word| word["const"].as_str());
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.sort_unstable();
        words
    }

    /// The keys of a table.
    pub(crate) fn keys(&self, table: &str) -> Vec<String> {
        self.properties(table).keys().cloned().collect()
    }

    /// Returns the type of a key of a table.
    pub(crate) fn takes(&self, table: &str, key: &str) -> Takes {
        self.resolve(&self.properties(table)[key])
    }

    fn resolve(&self, property: &Value) -> Takes {
        let options = property["anyOf"].as_array();
        let first = options.and_then(|options| {
            options.iter().map(|option| self.resolve(option)).find(|takes| *takes != Takes::Else)
        });
        if let Some(takes) = first {
            return takes;
        }
        if property["type"] == "boolean" {
            return Takes::Bool;
        }
        let Some(name) = property["$ref"].as_str().and_then(|path| path.rsplit('/').next()) else {
            return Takes::Else;
        };
        let words = self.words_of(name);
        match words.is_empty() {
            true if name == "Expression" => Takes::Else,
            true => Takes::Called(name.to_owned()),
            false => Takes::Words(words),
        }
    }

    /// The words that a key takes.
    pub(crate) fn words(&self, table: &str, key: &str) -> Vec<String> {
        match self.takes(table, key) {
            Takes::Words(words) => words,
            other => panic!("`{key}` of {table} takes {other:?}"),
        }
    }

    /// Every key as `list.key`, and every word as `list.key = word`.
    pub(crate) fn everything(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let root = self.0["properties"].as_object().expect("the schema of a table");
        for (name, property) in root {
            all.insert(name.clone());
            let mut texts = Vec::new();
            collect_refs(property, &mut texts);
            for table in texts {
                self.collect(name, &table, &mut all);
            }
        }
        all
    }

    fn collect(&self, place: &str, table: &str, all: &mut BTreeSet<String>) {
        let Some(properties) = self.0["$defs"][table]["properties"].as_object() else { return };
        for (key, property) in properties {
            let place = format!("{place}.{key}");
            all.insert(place.clone());
            if let Takes::Words(words) = self.resolve(property) {
                all.extend(words.iter().map(|word| format!("{place} = {word}")));
            }
            let mut tables = Vec::new();
            collect_refs(property, &mut tables);
            for inner in tables {
                let options = self.0["$defs"][&inner]["anyOf"].as_array();
                let tables = options.into_iter().flatten().filter_map(|one| one["$ref"].as_str());
                let tables = tables.filter_map(|path| path.rsplit('/').next());
                for table in tables.chain([inner.as_str()]) {
                    self.collect(&place, table, all);
                }
            }
        }
    }
}

/// The definitions that a property refers to.
fn collect_refs(property: &Value, found: &mut Vec<String>) {
    match property {
        Value::Object(map) => {
            if let Some(name) = map.get("$ref").and_then(Value::as_str) {
                found.extend(name.rsplit('/').next().map(str::to_owned));
            }
            map.values().for_each(|value| collect_refs(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| collect_refs(value, found)),
        _ => {}
    }
}
