package search

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, part, want string }{
		{"Checkout", "check", "[Check]out"},
		{"a check, a CHECK", "CHECK", "a [check], a [CHECK]"},
		{"aaa", "aa", "[aa]a"},
		{"<b>bold</b>", "<b>", "[<b>]bold</b>"},
		{"İstanbul über", "ÜB", "İstanbul [üb]er"},
		{"nothing", "x", "nothing"},
		{"", "x", ""},
		{"text", "", "text"},
		{"short", "longer than it", "short"},
	} {
		var got strings.Builder
		for _, p := range mark(c.text, c.part) {
			if p.Mark {
				got.WriteString("[" + p.Text + "]")
			} else {
				got.WriteString(p.Text)
			}
		}
		require.Equal(t, c.want, got.String())
	}
}

func TestSectionLeadsToPages(t *testing.T) {
	t.Parallel()
	s := sectionOf(group{Kind: "version",
		Results: []result{{ID: "1.0", Title: "1.0", URL: "/console/crashes?version=1.0&project=7"}}, More: true}, "1.0")
	require.Equal(t, "/crashes?version=1.0&project=7", s.Rows[0].Path)
	require.Empty(t, s.All)
	s = sectionOf(group{Kind: "crash_group", Results: []result{{ID: "5"}}, More: true}, "a b")
	require.Equal(t, []piece{{Text: "5"}}, s.Rows[0].Title, "what has no title is named by its id")
	require.Equal(t, "/crashes?search=a+b", s.All)
	s = sectionOf(group{Kind: "planet", Results: []result{{ID: "9"}}}, "x")
	require.Equal(t, "planet", s.Name)
	require.Empty(t, s.Rows[0].Path)
}
