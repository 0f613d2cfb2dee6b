package step

import (
	"errors"
	"regexp"
	"strings"
)

// MaxGlob is bytes of a glob: as many as an address has.
const MaxGlob = MaxURL

// Glob is a pattern of addresses or names of files, as Playwright reads them: ** is
// anything, * anything without a slash, {a,b} one of both, and all else, ? too, is
// itself; a backslash before a character makes it itself. The whole address must match,
// with its query. A glob of addresses that begins with a slash is for any host.
type Glob struct {
	source  string
	pattern *regexp.Regexp
}

// ParseGlob reads a glob. The error's text is for the author of the step.
func ParseGlob(text string) (Glob, error) {
	source, err := globSource(text)
	if err != nil {
		return Glob{}, err
	}
	pattern, err := regexp.Compile("(?s)" + source)
	if err != nil {
		return Glob{}, errors.New("is no glob")
	}
	return Glob{source, pattern}, nil
}

// Match reports whether a text is what the glob means. Fragments of addresses never are
// part of a request.
func (g Glob) Match(text string) bool { return g.pattern != nil && g.pattern.MatchString(text) }

// MatchString is Match, as a regular expression has it.
func (g Glob) MatchString(text string) bool { return g.Match(text) }

// Pattern is the glob as a regular expression, which RE2 and JavaScript (with the flag s)
// read alike.
func (g Glob) Pattern() string { return g.source }

// checkGlob parses without compiling. What variables will stand there is known only when
// the test runs.
func checkGlob(text string) error {
	if len(text) > MaxGlob {
		return errors.New("is too long a glob")
	}
	text, err := Expand(text, func(Reference) (string, bool) { return "x", true })
	if err != nil {
		return err
	}
	_, err = globSource(text)
	return err
}

// globSource translates a glob, token by token as Playwright's globToRegexPattern.
func globSource(text string) (string, error) {
	var out strings.Builder
	out.WriteString("^")
	if strings.HasPrefix(text, "/") {
		out.WriteString(`https?://[^/]+`)
	}
	group := false
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '\\' && i+1 < len(runes):
			i++
			out.WriteString(regexp.QuoteMeta(string(runes[i])))
		case c == '*':
			before := rune(0)
			if i > 0 {
				before = runes[i-1]
			}
			stars := 1
			for i+1 < len(runes) && runes[i+1] == '*' {
				stars++
				i++
			}
			switch {
			case stars == 1:
				out.WriteString("[^/]*")
			case i+1 < len(runes) && runes[i+1] == '/' && before == '/':
				out.WriteString("(?:.+/|)")
				i++
			case i+1 < len(runes) && runes[i+1] == '/':
				out.WriteString("(?:.*/)")
				i++
			default:
				out.WriteString(".*")
			}
		case c == '{' && group:
			return "", errors.New("has a { inside of another, which a glob cannot")
		case c == '{':
			group = true
			out.WriteString("(?:")
		case c == '}' && !group:
			return "", errors.New("has a } without its {")
		case c == '}':
			group = false
			out.WriteString(")")
		case c == ',' && group:
			out.WriteString("|")
		default:
			out.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if group {
		return "", errors.New("has a { without its }")
	}
	out.WriteString("$")
	return out.String(), nil
}
