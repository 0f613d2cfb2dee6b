package processtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// example is a shell block of README or of docs/.
//
//   - A comment before it, which no reader sees, may say why no test runs it
//     (<!-- not run: REASON -->), or what happens before it (<!-- before: SHELL -->): what
//     the reader has, or what a person does meanwhile.
//   - A block of no language, JSON or XML directly after it is what it prints. So is a
//     comment of the block that begins with "# {". In a block of the language console the
//     lines after "$ " are commands, and the others what they print.
//   - In what is shown, white space does not count, and "..." stands for anything.
type example struct {
	line   int
	before string
	script string
	shown  string
	reason string // why it is not run; "" for one that is
}

var (
	fence       = regexp.MustCompile("^( *)```(\\w*) *$")
	comment     = regexp.MustCompile(`(?s)^<!-- (not run|before):(.*)-->$`)
	isShell     = map[string]bool{"sh": true, "bash": true, "console": true}
	isOutput    = map[string]bool{"": true, "json": true, "xml": true}
	commandLine = regexp.MustCompile(`^(?:\$ )?(?:[A-Z_]+=\S* )*(?:curl|(?:bin/)?slipway|make|docker|go|git|npm|sudo|apt-get|systemctl|\.ci/\w+) `)
)

// leastReason is how many words say why a block is not run.
const leastReason = 2

// examples reads the shell blocks of a page. What looks like one and is none, as it has no
// language, is an error: nothing would run it.
func examples(page string) ([]example, error) {
	var (
		list   []example
		marks  example // of the comments before a block
		marked bool
		after  bool // whether the last thing was a shell block
		lines  = strings.Split(page, "\n")
	)
	for at := 0; at < len(lines); at++ {
		text := lines[at]
		switch open := fence.FindStringSubmatch(text); {
		case open != nil:
			begin, body := at+1, []string(nil)
			for at++; at < len(lines) && strings.TrimSpace(lines[at]) != "```"; at++ {
				body = append(body, strings.TrimPrefix(lines[at], open[1]))
			}
			if at == len(lines) {
				return nil, fmt.Errorf("line %d: the block has no end", begin)
			}
			whole := strings.Join(body, "\n")
			switch {
			case isShell[open[2]]:
				marks.line, marks.script = begin, whole
				marks.split(open[2])
				list, marks, marked = append(list, marks), example{}, false
				after = true
				continue
			case marked:
				return nil, fmt.Errorf("line %d: the comment before it is for a shell block", begin)
			case open[2] == "" && commandLine.MatchString(whole):
				return nil, fmt.Errorf("line %d: commands without a language: write ```sh", begin)
			case after && isOutput[open[2]]:
				list[len(list)-1].shown += whole
			}
			after = false
		case strings.HasPrefix(text, "<!-- not run") || strings.HasPrefix(text, "<!-- before"):
			begin := at + 1
			for !strings.HasSuffix(text, "-->") && at+1 < len(lines) {
				at++
				text += "\n" + lines[at]
			}
			mark := comment.FindStringSubmatch(text)
			if mark == nil || len(strings.Fields(mark[2])) == 0 || mark[1] == "not run" && len(strings.Fields(mark[2])) < leastReason {
				return nil, fmt.Errorf("line %d: a comment names a reason, <!-- not run: REASON -->, or commands, <!-- before: SHELL -->", begin)
			}
			if mark[1] == "before" {
				marks.before = strings.TrimSpace(mark[2])
			} else {
				marks.reason = strings.TrimSpace(mark[2])
			}
			marked, after = true, false
		case strings.TrimSpace(text) == "":
		case marked:
			return nil, fmt.Errorf("line %d: the comment before it is for a shell block", at+1)
		default:
			if strings.HasPrefix(text, "    ") && commandLine.MatchString(text[4:]) {
				return nil, fmt.Errorf("line %d: commands that are set in: write ```sh", at+1)
			}
			after = false
		}
	}
	if marked {
		return nil, fmt.Errorf("the last comment is for a shell block")
	}
	return list, nil
}

// split takes what a block prints out of its script.
func (e *example) split(language string) {
	var commands, shown []string
	for line := range strings.SplitSeq(e.script, "\n") {
		typed, isTyped := strings.CutPrefix(line, "$ ")
		switch {
		case language == "console" && isTyped:
			commands = append(commands, typed)
		case language == "console":
			shown = append(shown, line)
		case strings.HasPrefix(line, "# {"):
			shown = append(shown, strings.TrimPrefix(line, "# "))
		default:
			commands = append(commands, line)
		}
	}
	e.script, e.shown = strings.Join(commands, "\n"), strings.Join(shown, "\n")
}

// shows reports whether a page's text is what was printed.
func shows(shown, printed string) bool {
	dense := func(s string) string { return strings.Join(strings.Fields(s), "") }
	// A member that stands for others stands for none too.
	pattern := strings.ReplaceAll(strings.ReplaceAll(dense(shown), "…", "..."), `"...":"..."`, "...")
	parts := strings.Split(pattern, "...")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`).MatchString(dense(printed))
}

// documents are the pages of the root folder, as README, and of docs/, by their paths from the
// root.
func documents(t *testing.T) map[string][]example {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	pages := map[string][]example{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name, err := filepath.Rel(root, path)
			require.NoError(t, err)
			list, err := examples(string(text))
			require.NoError(t, err, name)
			if len(list) > 0 {
				pages[filepath.ToSlash(name)] = list
			}
		}
	}
	return pages
}

func TestExamplesAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, page string
		want       []example
		refused    string
	}{
		{"none", "# A\n\ntext\n", nil, ""},
		{"a block and its output", "# A\n\n```sh\nls\n```\n\n```json\n{}\n```\n", []example{{line: 3, script: "ls", shown: "{}"}}, ""},
		{"a block and, after text, another", "```sh\nls\n```\nlike this:\n```json\n{}\n```\n", []example{{line: 1, script: "ls"}}, ""},
		{"output beside the command", "```bash\nls\n# {\"a\":1}\n# why\n```\n", []example{{line: 1, script: "ls\n# why", shown: `{"a":1}`}}, ""},
		{"a console", "```console\n$ ls\na\n$ pwd\n/\n```\n", []example{{line: 1, script: "ls\npwd", shown: "a\n/"}}, ""},
		{"within a list", "- a\n\n  ```sh\n  ls\n    -l\n  ```\n", []example{{line: 3, script: "ls\n  -l"}}, ""},
		{"not run", "<!-- not run: needs an iPhone -->\n\n```sh\nls\n```\n", []example{{line: 3, script: "ls", reason: "needs an iPhone"}}, ""},
		{"what happens before", "<!-- before: a=1\nb=2 -->\n```sh\nls\n```\n", []example{{line: 3, script: "ls", before: "a=1\nb=2"}}, ""},
		{"another language", "```yaml\nrun: curl x\n```\n", nil, ""},
		{"no reason", "<!-- not run -->\n```sh\nls\n```\n", nil, "line 1: a comment names a reason"},
		{"an empty reason", "<!-- not run: -->\n```sh\nls\n```\n", nil, "line 1: a comment names a reason"},
		{"a word for a reason", "<!-- not run: later -->\n```sh\nls\n```\n", nil, "line 1: a comment names a reason"},
		{"a mark of a text", "<!-- not run: needs an iPhone -->\ntext\n", nil, "line 2: the comment before it"},
		{"a mark of other code", "<!-- not run: needs an iPhone -->\n```yaml\na: b\n```\n", nil, "line 2: the comment before it"},
		{"a mark at the end", "<!-- not run: needs an iPhone -->\n", nil, "the last comment"},
		{"no end", "```sh\nls\n", nil, "line 1: the block has no end"},
		{"commands without a language", "```\ncurl x\n```\n", nil, "line 1: commands without a language"},
		{"commands that are set in", "text\n\n    slipway up\n", nil, "line 3: commands that are set in"},
		{"a setting before a command", "    A=1 go test ./...\n", nil, "line 1: commands that are set in"},
	} {
		got, err := examples(c.page)
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
}

func TestShownOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown, printed string
		same           bool
	}{
		{"", "", true},
		{"{\"a\": 1}", "{\"a\":1}\n", true},
		{"{\"a\": 1}", "{\"a\":2}\n", false},
		{"{\"a\": 1}", "{\"a\":1,\"b\":2}", false},
		{`{"a":"...","b":2}`, `{"a":"7f","b":2}`, true},
		{`{"a":"...","b":2}`, `{"a":"7f","b":3}`, false},
		{`{"a":1,"...":"..."}`, `{"a":1,"b":[2]}`, true},
		{`{"a":1…}`, `{"a":1,"b":[2]}`, true},
		{"a.c", "abc", false},
		{"x ... z", "x\ny\nz", true},
	} {
		require.Equal(t, c.same, shows(c.shown, c.printed), "%q of %q", c.shown, c.printed)
	}
}
