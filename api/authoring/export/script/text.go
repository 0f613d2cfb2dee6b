package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// Part is a piece of a text: what stands there, the environment variable that takes the
// place of a variable, the name of what a step has saved, a column of the data row, or a
// parameter of a step group that is written as a function.
type Part struct{ Literal, Env, Saved, Row, Param string }

// Text is a text argument in parts; no part is empty, and no two literals follow
// each other.
type Text []Part

// Plain reports whether a piece is what stands there.
func (p Part) Plain() bool { return p.Env == "" && p.Saved == "" && p.Row == "" && p.Param == "" }

// Fixed returns the text if it holds no variable.
func (t Text) Fixed() (string, bool) {
	switch {
	case len(t) == 0:
		return "", true
	case len(t) == 1 && t[0].Plain():
		return t[0].Literal, true
	}
	return "", false
}

// Prefixed puts a literal before the text.
func (t Text) Prefixed(literal string) Text {
	if literal == "" {
		return t
	}
	if len(t) > 0 && t[0].Plain() {
		return append(Text{{Literal: literal + t[0].Literal}}, t[1:]...)
	}
	return append(Text{{Literal: literal}}, t...)
}

// squeezed makes one space of white space and drops it at the ends, as the code
// does with the text of an element before it compares.
func (t Text) squeezed() Text {
	var out Text
	for i, p := range t {
		if p.Plain() {
			s := strings.Join(strings.Fields(p.Literal), " ")
			if s == "" && i == 0 {
				continue
			}
			if i > 0 && strings.TrimLeft(p.Literal, " \t\r\n\f\v") != p.Literal {
				s = " " + s
			}
			if i < len(t)-1 && s != " " && strings.TrimRight(p.Literal, " \t\r\n\f\v") != p.Literal {
				s += " "
			}
			if i == len(t)-1 {
				s = strings.TrimRight(s, " ")
			}
			if s == "" {
				continue
			}
			p.Literal = s
		}
		out = append(out, p)
	}
	return out
}

// Environment is what stands for the variables of a case.
type Environment struct {
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
func (e *Environment) name(r step.Reference) string {
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

// Variable is a line of the list at the top of an export.
type Variable struct{ Env, Reference string }

// Variables are those that were read, in their order.
func (e *Environment) Variables() []Variable {
	list := make([]Variable, 0, len(e.order))
	for _, r := range e.order {
		list = append(list, Variable{e.names[r], r.String()})
	}
	return list
}

// Read takes a text apart. Where the variables are is decided by step.Expand
// alone; NUL, which no stored text holds, marks them meanwhile.
func (e *Environment) Read(s string) Text {
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
		return Text{{Literal: s}}
	}
	var t Text
	for i, piece := range strings.Split(marked, "\x00") {
		switch {
		case i%2 == 1:
			n, _ := strconv.Atoi(piece) // written above
			if found[n].Scope == step.ScopeParam {
				t = append(t, Part{Param: found[n].Name})
				continue
			}
			if e.rows && found[n].Scope == step.ScopeRow {
				t = append(t, Part{Row: found[n].Name})
				continue
			}
			if found[n].Scope == step.ScopeSaved {
				t = append(t, Part{Saved: found[n].Name})
				continue
			}
			t = append(t, Part{Env: e.name(found[n])})
		case piece != "":
			t = append(t, Part{Literal: piece})
		}
	}
	return t
}
