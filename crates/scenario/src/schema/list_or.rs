//! List of names, or one keyword.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// List of names, or one value of type `T` in place of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListOr<T> {
    List(Vec<String>),
    Found(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ListOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = ListOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list such as `[\"A\", \"B\"]`, or one name")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ListOr<T>, E> {
                T::deserialize(StrDeserializer::new(text)).map(ListOr::Found)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ListOr<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(ListOr::List)
            }
        }

        deserializer.deserialize_any(Either(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for ListOr<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("ListOr{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let found = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "array", "items": { "type": "string" } }, found] })
    }
}
