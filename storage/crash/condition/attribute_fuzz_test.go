package condition

import (
	"encoding/json"
	"strings"
	"testing"
)

// Every filter that passes Validate gives JSON objects of its one key.
func FuzzAttributeFilter(f *testing.F) {
	for _, seed := range [][2]string{{"user", "ann"}, {"n", "1e5"}, {"n", "-0"}, {"b", "true"}, {`"`, `\`}, {"n", "0x1p-2"},
		{"n", "1e-20000"}, {"n", " 1"}, {"k", "9007199254740993"}, {"\u2028", "null"}, {"a}", "1_000"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		filter := Attribute{Key: key, Value: value}
		if filter.Validate() != nil {
			return
		}
		docs := filter.documents()
		if len(docs) < 1 || len(docs) > 2 {
			t.Fatalf("%d candidates", len(docs))
		}
		for _, doc := range docs {
			var object map[string]any
			if err := json.Unmarshal([]byte(doc), &object); err != nil || len(object) != 1 {
				t.Fatalf("%q: %v", doc, err)
			}
			if _, ok := object[IndexedKey(key)]; !ok || strings.IndexByte(doc, 0) >= 0 {
				t.Fatalf("%q lacks the key %q", doc, key)
			}
		}
		SameNumber(value, key)
	})
}
