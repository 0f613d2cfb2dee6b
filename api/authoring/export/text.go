package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// part is a piece of a text: what stands there, the environment variable that takes the
// place of a variable, the name of what a step has saved, a column of the data row, or a
// parameter of a step group that is written as a function.
type part struct{ literal, env, saved, row, param string }

// text is a text argument in parts; no part is empty, and no two literals follow
// each other.
type text []part

// plain reports whether a piece is what stands there.
func (p part) plain() bool { return p.env == "" && p.saved == "" && p.row == "" && p.param == "" }

// fixed returns the text if it holds no variable.
func (t text) fixed() (string, bool) {
	switch {
	case len(t) == 0:
		return "", true
	case len(t) == 1 && t[0].plain():
		return t[0].literal, true
	}
	return "", false
}

// prefixed puts a literal before the text.
func (t text) prefixed(literal string) text {
	if literal == "" {
		return t
	}
	if len(t) > 0 && t[0].plain() {
		return append(text{{literal: literal + t[0].literal}}, t[1:]...)
	}
	return append(text{{literal: literal}}, t...)
}

// squeezed makes one space of white space and drops it at the ends, as the code
// does with the text of an element before it compares.
func (t text) squeezed() text {
	var out text
	for i, p := range t {
		if p.plain() {
			s := strings.Join(strings.Fields(p.literal), " ")
			if s == "" && i == 0 {
				continue
			}
			if i > 0 && strings.TrimLeft(p.literal, " \t\r\n\f\v") != p.literal {
				s = " " + s
			}
			if i < len(t)-1 && s != " " && strings.TrimRight(p.literal, " \t\r\n\f\v") != p.literal {
				s += " "
			}
			if i == len(t)-1 {
				s = strings.TrimRight(s, " ")
			}
			if s == "" {
				continue
			}
			p.literal = s
		}
		out = append(out, p)
	}
	return out
}

// environment is what stands for the variables of a case.
type environment struct {
	names map[step.Reference]string
	order []step.Reference
	count map[string]int // of the references that want a name, by the name
	rows  bool           // the values of a data row are part of the export
}

// taken are environment variables that machines set themselves: a test that
// names its variable {{user}} must not read who is logged in. The code's own
// settings are among them.
var taken = []string{
	"COMPUTERNAME", "DISPLAY", "EDITOR", "HOME", "HOST", "HOSTNAME", "IFS", "LANG", "LANGUAGE", "LOGNAME", "MAIL", "NAME",
	"OLDPWD", "OS", "PATH", "PORT", "PS1", "PWD", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "UID", "USER", "USERDOMAIN",
	"USERNAME", "USERPROFILE", "CI", "DEBUG", "NODE_ENV", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONHOME",
	"JAVA_HOME", "CLASSPATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
	"SELENIUM_REMOTE_URL", "CHROME_ARGS", "CHROME_BINARY", "CHROMEDRIVER", "FIREFOX_ARGS", "FIREFOX_BINARY", "GECKODRIVER",
	"EDGE_ARGS", "EDGE_BINARY", "EDGEDRIVER", "HEADED",
	"PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH", "PLAYWRIGHT_FIREFOX_EXECUTABLE_PATH", "PLAYWRIGHT_WEBKIT_EXECUTABLE_PATH",
}

// name returns the environment variable of a reference: PASSWORD for {{password}},
// TEAM_PASSWORD for {{team:password}}, TEST_USER for {{user}}. Two references
// never share one.
func (e *environment) name(r step.Reference) string {
	if name, ok := e.names[r]; ok {
		return name
	}
	name := strings.ToUpper(r.Name)
	switch r.Scope {
	case step.ScopeSuite:
		name = "TEST_SUITE_" + name
	case step.ScopeCase:
		name = "TEST_CASE_" + name
	case "":
	default:
		name = strings.ToUpper(r.Scope) + "_" + name
	}
	if slices.Contains(taken, name) || '0' <= name[0] && name[0] <= '9' || strings.Trim(name, "_") == "" {
		name = "TEST_" + name
	}
	if e.names == nil {
		e.names, e.count = map[step.Reference]string{}, map[string]int{}
	}
	for base := name; e.count[name] > 0; {
		e.count[base]++
		name = base + "_" + strconv.Itoa(e.count[base])
	}
	e.count[name]++
	e.names[r] = name
	e.order = append(e.order, r)
	return name
}

// variable is a line of the list at the top of an export.
type variable struct{ Env, Reference string }

func (e *environment) variables() []variable {
	list := make([]variable, 0, len(e.order))
	for _, r := range e.order {
		list = append(list, variable{e.names[r], r.String()})
	}
	return list
}

// read takes a text apart. Where the variables are is decided by step.Expand
// alone; NUL, which no stored text holds, marks them meanwhile.
func (e *environment) read(s string) text {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
	var found []step.Reference
	marked, err := step.Expand(s, func(r step.Reference) (string, bool) {
		found = append(found, r)
		return fmt.Sprintf("\x00%d\x00", len(found)-1), true
	})
	if err != nil || len(found) == 0 {
		if s == "" {
			return nil
		}
		return text{{literal: s}}
	}
	var t text
	for i, piece := range strings.Split(marked, "\x00") {
		switch {
		case i%2 == 1:
			n, _ := strconv.Atoi(piece) // written above
			if found[n].Scope == step.ScopeParam {
				t = append(t, part{param: found[n].Name})
				continue
			}
			if e.rows && found[n].Scope == step.ScopeRow {
				t = append(t, part{row: found[n].Name})
				continue
			}
			if found[n].Scope == step.ScopeSaved {
				t = append(t, part{saved: found[n].Name})
				continue
			}
			t = append(t, part{env: e.name(found[n])})
		case piece != "":
			t = append(t, part{literal: piece})
		}
	}
	return t
}
