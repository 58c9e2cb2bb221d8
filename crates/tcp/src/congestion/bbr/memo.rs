//! Memo of the last result and its inputs.

/// One value and its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memo<K, V>(Option<(K, V)>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Memo(None)
    }
}

impl<K: PartialEq, V: Copy> Memo<K, V> {
    /// The value of `key`, which `find` gives unless it is known.
    #[inline(always)]
    pub(super) fn get(&mut self, key: K, find: impl FnOnce() -> V) -> V {
        match &self.0 {
            Some((known, value)) if *known == key => *value,
            _ => {
                let value = find();
                self.0 = Some((key, value));
                value
            }
        }
    }
}
