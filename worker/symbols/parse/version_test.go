package parse

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
)

// Each kind of symbol files has what the server does with its files.
func TestKindsAreRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../storage/symbol/symbol.go")
	require.NoError(t, err)
	var declared []symbol.Kind
	for _, match := range regexp.MustCompile(`(?m)^\t\w+\s+Kind = "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		declared = append(declared, symbol.Kind(match[1]))
	}
	require.ElementsMatch(t, declared, Kinds(), "Kinds has each kind of storage/symbol/symbol.go")
	for _, kind := range declared {
		require.NotNil(t, reader(kind), "index.go has a reader of %s", kind)
		require.NotZero(t, Version(kind), "the indexes of %s have a version", kind)
		require.True(t, filetype.Format(kind).Symbols(), "Symbols of storage/symbol/filetype knows %s", kind)
	}
}
