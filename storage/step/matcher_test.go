package step

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each matcher can be named in the error of an unknown one, and is found in the documents and
// in the description of the API.
func TestMatchersAreDocumented(t *testing.T) {
	t.Parallel()
	require.Equal(t, slices.Sorted(maps.Keys(matcherRules)), slices.Sorted(slices.Values(Matchers())),
		"matcherNames has the names of matcherRules")
	pages, err := filepath.Glob("../../docs/steps*.md")
	require.NoError(t, err)
	var documents strings.Builder
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		documents.Write(text)
	}
	text, err := os.ReadFile("../../api/authoring/openapi.yaml")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(text), "Matchers of assert: ")
	require.True(t, found)
	list, _, _ = strings.Cut(list, ".")
	described := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	for _, name := range Matchers() {
		require.True(t, strings.Contains(documents.String(), "`"+name+"`"), "no page docs/steps*.md explains the matcher %s", name)
		require.Contains(t, described, name, "api/authoring/openapi.yaml lists it behind \"Matchers of assert\"")
	}
	for _, name := range Tools() {
		require.True(t, strings.Contains(documents.String(), "`"+name+"`"), "no page docs/steps*.md explains the tool %s", name)
	}
}
