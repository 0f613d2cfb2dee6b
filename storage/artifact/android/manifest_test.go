package android

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A manifest asks for a permission once, however often and in whatever form it says so; one
// that is hostile is bounded.
func TestPermissions(t *testing.T) {
	t.Parallel()
	asks := func(kind, name string) *element {
		return &element{Name: kind, Attrs: []attr{{"name", stringValue(name)}}}
	}
	root := &element{Name: "manifest", Children: []*element{asks("uses-permission", "b"), asks("uses-permission-sdk-23", "a"),
		asks("uses-permission", "b"), asks("permission", "own"), asks("uses-permission", ""), asks("uses-permission", "c\x00\u202ed"),
		{Name: "uses-permission", Attrs: []attr{{"name", referenceValue(0x7f010001)}}}}}
	require.Equal(t, []string{"a", "b", "cd"}, manifest{}.permissions(root))
	require.Equal(t, []string{}, manifest{}.permissions(&element{}), "none is known, too")
	for i := range 2 * maxPermissions {
		root.Children = append(root.Children, asks("uses-permission", fmt.Sprint("many", i)))
	}
	require.LessOrEqual(t, len(manifest{}.permissions(root)), maxPermissions)
}
