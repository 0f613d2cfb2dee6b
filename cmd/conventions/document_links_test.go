package conventions

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// maxPageWords is how long a page of docs/ may be: one that is longer answers two questions.
	maxPageWords = 2500
	// maxReadmeWords is how long README may be, which is read before anything else.
	maxReadmeWords = 900
	// maxContributingWords is how long CONTRIBUTING may be: it leads to what is longer.
	maxContributingWords = 1800
	// A decision has what was asked, what was decided, what it costs, and what would change it.
	minDecisionWords = 150
	maxDecisionWords = 400
)

// markdownPages are those of the root folder, as README, and of docs/, by their paths from the
// root.
func markdownPages(t *testing.T) map[string]string {
	t.Helper()
	var paths []string
	for _, folder := range []string{"", "docs", "docs/reference", "docs/decisions"} {
		found, err := filepath.Glob(filepath.Join(moduleRoot, folder, "*.md"))
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	pages := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		name, err := filepath.Rel(moduleRoot, path)
		require.NoError(t, err)
		pages[filepath.ToSlash(name)] = string(text)
	}
	return pages
}

// anchors are those that a page has, made of its headings as GitHub makes them.
func anchors(page string) map[string]bool {
	found, fenced := map[string]bool{}, false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if text := strings.TrimLeft(line, "#"); !fenced && text != line && strings.HasPrefix(text, " ") {
			text = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(text)), "")
			found[strings.ReplaceAll(text, " ", "-")] = true
		}
	}
	return found
}

// Each link and picture of README and docs/ leads to a file, and to a heading where it names one.
func TestDocumentsLead(t *testing.T) {
	t.Parallel()
	pages := markdownPages(t)
	link := regexp.MustCompile(`(?:\]\(|src="|srcset=")([^()"\s]+)[)"]`)
	labelled := regexp.MustCompile(`\[([\w-]+\.md)\]\(([\w-]+\.md)`)
	links := 0
	for name, text := range pages {
		for _, match := range labelled.FindAllStringSubmatch(text, -1) {
			assert.Equal(t, match[1], match[2], "%s: the label names another page", name)
		}
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(match[1], "://") || strings.HasPrefix(match[1], "mailto:") || strings.Contains(match[1], "{{") {
				continue
			}
			links++
			path, anchor, _ := strings.Cut(match[1], "#")
			target := name
			if path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
				_, err := os.Stat(filepath.Join(moduleRoot, target))
				assert.NoError(t, err, "%s: %s", name, match[1])
			}
			if page, ok := pages[target]; ok && anchor != "" {
				assert.True(t, anchors(page)[anchor], "%s: %s has no heading #%s", name, target, anchor)
			}
		}
	}
	require.Greater(t, links, 50)
}

// length counts the words that are read: comments and the lines of tables are not.
func length(page string) (words int) {
	for word := range strings.FieldsSeq(regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllString(page, "")) {
		if strings.Trim(word, "|-:") != "" {
			words++
		}
	}
	return words
}

// A page answers one question and is read in one go; the index leads to each.
func TestDocumentsAreShort(t *testing.T) {
	t.Parallel()
	pages := markdownPages(t)
	index := pages["docs/README.md"]
	assert.LessOrEqual(t, length(pages["README.md"]), maxReadmeWords, "README.md")
	assert.LessOrEqual(t, length(pages["CONTRIBUTING.md"]), maxContributingWords, "CONTRIBUTING.md")
	require.NotEmpty(t, index)
	for name, text := range pages {
		assert.LessOrEqual(t, length(text), maxPageWords, name)
		base := filepath.Base(name)
		switch {
		case base == "README.md":
		case filepath.Dir(name) == ".":
			assert.Contains(t, pages["README.md"], "("+base+")", "README.md leads to each page beside it")
		case filepath.Dir(name) == "docs/decisions":
			assert.Contains(t, index, "(decisions/"+base+")", "docs/README.md leads to each decision")
			assert.GreaterOrEqual(t, length(text), minDecisionWords, name)
			assert.LessOrEqual(t, length(text), maxDecisionWords, name)
		case filepath.Dir(name) == "docs":
			assert.Contains(t, index, "("+base+")", "docs/README.md leads to each page")
		default:
			assert.Contains(t, pages[filepath.Dir(name)+".md"], "/"+base+")", "the page of the folder's name leads to %s", name)
		}
	}
}
