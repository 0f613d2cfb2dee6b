package storage_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

// Only a NUL itself is one, not a text that looks like its escape.
func FuzzHoldsNUL(f *testing.F) {
	for _, seed := range []string{"", "\x00", `\u0000`, `\\u0000`, "\\\x00", `"\`, "\u2028\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := json.Marshal(map[string]string{"a": text})
		require.NoError(t, err)
		require.Equal(t, strings.ContainsRune(text, 0), storage.HoldsNUL(string(doc)), "%s", doc)
	})
}
