package testfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sentences = "---\nurl: https://shop.example.com/\ntargets: [chrome]\nsuite: Shop\ntags: [smoke]\n---\n" +
	"# Shop\n\nWhat is tested of the shop.\n\n" +
	"## Buy a lamp\n<!-- slipway: 6924f0c2a7b1d0e5f3a1b2c4 0123456789ab -->\n\nSearch for \"red\".\nBuy it.\n<!-- a remark\n" +
	"## not a test -->\n\n" +
	"```\n## code\n```\n\n### Detail\n\nMore.\n\n" +
	"## Log in ##\r\n\r\nLog in as ann.\r\n"

func TestSentencesAreRead(t *testing.T) {
	t.Parallel()
	s, err := ReadSentences([]byte(sentences))
	require.NoError(t, err)
	require.Equal(t, "https://shop.example.com/", s.URL)
	require.Equal(t, "Shop", s.Suite)
	require.Equal(t, []string{"smoke"}, s.Tags)
	require.Len(t, s.Targets, 1)
	require.Len(t, s.Tests, 2)
	require.Equal(t, "Buy a lamp", s.Tests[0].Name)
	require.Equal(t, "Search for \"red\".\nBuy it.\n\n\n```\n## code\n```\n\n### Detail\n\nMore.", s.Tests[0].Text)
	require.Equal(t, "6924f0c2a7b1d0e5f3a1b2c4", s.Tests[0].ID)
	require.Equal(t, "0123456789ab", s.Tests[0].Digest)
	require.Equal(t, "Log in", s.Tests[1].Name)
	require.Equal(t, "Log in as ann.", s.Tests[1].Text)
	require.Empty(t, s.Tests[1].ID)

	// An id changes one line, and what it was made from does not depend on it.
	before := s.Digest(&s.Tests[0])
	out := Mark([]byte(sentences), &s.Tests[0], "6924f0c2a7b1d0e5f3a1b2c4", before)
	require.Equal(t, strings.Replace(sentences, "0123456789ab", before, 1), string(out))
	s, err = ReadSentences(out)
	require.NoError(t, err)
	require.Equal(t, before, s.Digest(&s.Tests[0]))
	out = Mark(out, &s.Tests[1], "6924f0c2a7b1d0e5f3a1b2c5", "ba9876543210")
	require.Contains(t, string(out), "## Log in ##\r\n<!-- slipway: 6924f0c2a7b1d0e5f3a1b2c5 ba9876543210 -->\r\n\r\nLog in")
	s, err = ReadSentences(out)
	require.NoError(t, err)
	require.Equal(t, "6924f0c2a7b1d0e5f3a1b2c5", s.Tests[1].ID)
	require.Equal(t, "Log in as ann.", s.Tests[1].Text)
}

func TestHeadingsOfTheFirstLevel(t *testing.T) {
	t.Parallel()
	s, err := ReadSentences([]byte("# One\nDo it.\n# Two\nDo that."))
	require.NoError(t, err)
	require.Len(t, s.Tests, 2)
	out := Mark([]byte("# One\nDo it.\n# Two\nDo that."), &s.Tests[1], "6924f0c2a7b1d0e5f3a1b2c5", "ba9876543210")
	require.Equal(t, "# One\nDo it.\n# Two\n<!-- slipway: 6924f0c2a7b1d0e5f3a1b2c5 ba9876543210 -->\nDo that.", string(out))
}

func TestSentencesAreRefusedWithTheirLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"nothing":           {"", 1, "no test"},
		"no heading":        {"Buy a lamp.", 1, "no test"},
		"no sentence":       {"## One\n\n## Two\ntext", 1, "no sentence"},
		"a remark alone":    {"## One\n<!-- later -->\n", 1, "no sentence"},
		"no name":           {"# T\n##\ntext", 2, "needs a name"},
		"twice":             {"## One\na\n## One\nb", 3, "stands in line 1 too"},
		"no end":            {"---\nurl: a\n", 1, "no end"},
		"unknown member":    {"---\n\nsite: a\n---\n## One\na", 3, "site is unknown here"},
		"front matter":      {"---\n- a\n---\n## One\na", 2, "members"},
		"front matter YAML": {"---\nurl: [\n---\n## One\na", 2, "no YAML"},
		"large":             {"## a\n" + strings.Repeat("x", maxMarkdown), 1, "MiB"},
		"many":              {strings.Repeat("# a\nx\n", 1) + many(), 401, "at most 200"},
	} {
		_, err := ReadSentences([]byte(c.text))
		var refused *Error
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, c.line, refused.Line, "%s: %v", name, err)
		require.Contains(t, refused.Text, c.says, name)
	}
}

func many() string {
	var b strings.Builder
	for i := range maxSentences + 1 {
		b.WriteString("# " + strings.Repeat("n", i+2) + "\ntext\n")
	}
	return b.String()
}
