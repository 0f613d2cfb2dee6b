package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// The members of a project of Selenium IDE, version 2.0.
type (
	ideProject struct {
		ID      string     `json:"id"`
		Version string     `json:"version"`
		Name    string     `json:"name"`
		URL     string     `json:"url"`
		Tests   []ideTest  `json:"tests"`
		Suites  []ideSuite `json:"suites"`
		URLs    []string   `json:"urls"`
		Plugins []string   `json:"plugins"`
	}
	ideTest struct {
		ID       string       `json:"id"`
		Name     string       `json:"name"`
		Commands []ideCommand `json:"commands"`
	}
	ideSuite struct {
		ID             string   `json:"id"`
		Name           string   `json:"name"`
		PersistSession bool     `json:"persistSession"`
		Parallel       bool     `json:"parallel"`
		Timeout        int      `json:"timeout"`
		Tests          []string `json:"tests"`
	}
	ideCommand struct {
		ID               string   `json:"id"`
		Comment          string   `json:"comment"`
		Command          string   `json:"command"`
		Target           string   `json:"target"`
		Targets          []string `json:"targets"`
		Value            string   `json:"value"`
		OpensWindow      bool     `json:"opensWindow,omitempty"`
		WindowHandleName string   `json:"windowHandleName,omitempty"`
		WindowTimeout    int      `json:"windowTimeout,omitempty"`
	}
)

// ide writes commands. Selenium IDE has fewer of them than there are tools: a
// move without a command becomes a comment, which is a command that begins with
// //, and so does an optional one, since there a command that fails ends the test.
// What is written is read by api/authoring/seleniumide with the same meaning.
type ide struct {
	*script.Script
	commands []ideCommand
	windows  []string // the variables with the handles of windows, in the order of opening
	click    int      // the last click since the window changed; -1: none
	leave    string   // the command that leaves the frames, still to be written
	missing  int      // moves that became comments
	stored   map[string]string
	holds    []*script.Move // the conditions of open groups
}

func writeIDE(s *script.Script) (string, error) {
	w := &ide{Script: s, click: -1, windows: []string{"root"}, stored: map[string]string{}}
	for i, v := range s.Env.Variables() {
		name := v.Env
		// A name as long as that is no name for the importer.
		if len(name) > 64 {
			name = "VARIABLE_" + strconv.Itoa(i+1)
		}
		w.stored[v.Env] = name
		w.add(ideCommand{Command: "store", Target: v.Reference, Value: name, Comment: "Put the value of the variable into the target."})
	}
	for i := range s.Moves {
		if m := &s.Moves[i]; m.Tool.Type == step.SwitchWindow && m.Tool.Args.Matcher.Name == step.WindowIndex {
			w.add(ideCommand{Command: "storeWindowHandle", Target: "root"})
			break
		}
	}
	for i := range s.Moves {
		w.move(&s.Moves[i])
	}
	w.leaveFrames()
	if w.missing > 0 {
		w.remark(fmt.Sprintf("Selenium IDE cannot do or check everything: %d steps of the case are comments above.", w.missing))
	}
	base, _ := s.Base.Fixed()
	test := w.uuid(0)
	p := ideProject{
		ID: w.uuid(1), Version: "2.0", Name: s.Label, URL: base,
		Tests:  []ideTest{{test, s.Label, w.commands}},
		Suites: []ideSuite{{w.uuid(2), s.Label, false, false, 300, []string{test}}},
		URLs:   []string{}, Plugins: []string{},
	}
	if base != "" {
		p.URLs = []string{base}
	}
	if p.Tests[0].Commands == nil {
		p.Tests[0].Commands = []ideCommand{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return "", fmt.Errorf("write a Selenium IDE project: %w", err)
	}
	return b.String(), nil
}

// uuid numbers the parts of a project; the same case has the same ones, so that
// two exports can be compared.
func (w *ide) uuid(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", w.ID, w.Label, n))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func (w *ide) add(c ideCommand) {
	c.ID = w.uuid(len(w.commands) + 3)
	c.Targets = []string{}
	w.commands = append(w.commands, c)
}

// remark is a command that does nothing.
func (w *ide) remark(text string) { w.add(ideCommand{Command: "// " + text}) }

// leaveFrames ends what a move in a frame began: behind the dialog that it may
// open, as nothing else works while that is open.
func (w *ide) leaveFrames() {
	if w.leave != "" {
		w.add(ideCommand{Command: w.leave, Target: "relative=top"})
		w.leave = ""
	}
}

func (w *ide) lacks(m *script.Move) {
	w.missing++
	w.remark("No command of Selenium IDE does this: " + w.describe(m))
}

// group begins a step group, or ends one with a condition, which each of its moves has then.
func (w *ide) group(m *script.Move) {
	switch {
	case m.Closes:
		w.holds = w.holds[:len(w.holds)-1]
		return
	case m.When != nil:
		w.holds = append(w.holds, m.When)
	}
	w.remark(m.Note)
}

func (w *ide) move(m *script.Move) {
	if m.Tool.Type == step.RunGroup {
		w.group(m)
		return
	}
	if m.When == nil && len(w.holds) > 0 {
		conditional := *m
		conditional.When = w.holds[len(w.holds)-1]
		m = &conditional
	}
	if m.Tool.Type != step.HandleDialog && m.Tool.Type != step.Pause {
		w.leaveFrames()
	}
	if m.Tool.Type == step.SwitchWindow {
		w.window(m)
		return
	}
	c, ok := w.command(m)
	frames, reached := w.frames(m)
	if !ok || !reached {
		w.lacks(m)
		return
	}
	c.Comment = m.Note
	if m.Optional || m.When != nil {
		why := "Optional, it may fail: enable it where the test needs it."
		if m.When != nil {
			why = "Only done if this holds, " + w.describe(m.When) + ": enable it where the test needs it."
		}
		w.remark(why)
		for i := range frames {
			frames[i].Command = "//" + frames[i].Command
		}
		c.Command = "//" + c.Command
	}
	for _, f := range frames {
		w.add(f)
	}
	w.add(c)
	if c.Command == "click" {
		w.click = len(w.commands) - 1
	}
	if len(frames) > 0 {
		w.leave = "selectFrame"
		if m.Optional || m.When != nil {
			w.leave = "//selectFrame"
		}
	}
}

// describe says on one line what a move does.
func (w *ide) describe(m *script.Move) string {
	text := m.Tool.Type
	if a := m.Tool.Args.Matcher; a != nil {
		text += " " + a.Name
		if m.Tool.Args.Not {
			text = m.Tool.Type + " not " + a.Name
		}
		text = script.Join(script.Join(script.Join(text, a.Args.Name), a.Args.Mode), a.Args.Value)
	}
	for _, at := range []script.Place{m.Element, m.Target} {
		if at.Given() {
			text += " " + w.spell(at)
		}
	}
	for _, s := range m.Within {
		around := " in the shadow root of "
		if s.Frame {
			around = " in the frame "
		}
		text += around + w.spell(s.Place)
	}
	text = script.Join(text, m.Tool.Args.Direction)
	if m.Tool.Args.File != nil {
		text = script.Join(text, fileName(m.Tool.Args.File.Name))
	}
	return script.Comment(text)
}

func (w *ide) frames(m *script.Move) (list []ideCommand, ok bool) {
	for _, s := range m.Within {
		target, ok := w.locator(s.Place)
		if !ok || !s.Frame {
			return nil, false
		}
		list = append(list, ideCommand{Command: "selectFrame", Target: target})
	}
	return list, true
}

var ideEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)

// value writes a text with the variables of Selenium IDE.
func (w *ide) value(t script.Text, escaped bool) string {
	var b strings.Builder
	for _, p := range t {
		switch {
		case p.Env != "":
			b.WriteString("${" + w.stored[p.Env] + "}")
		case escaped:
			b.WriteString(ideEscapes.Replace(p.Literal))
		default:
			b.WriteString(p.Literal)
		}
	}
	return b.String()
}

func (w *ide) window(m *script.Move) {
	matcher := m.Tool.Args.Matcher.Name
	literal, _ := m.Value.Fixed()
	index, err := strconv.Atoi(literal)
	switch opened := w.click >= 0; {
	case m.Optional, m.When != nil:
	case matcher == step.WindowIndex && err == nil && 0 <= index && index < len(w.windows):
		w.add(ideCommand{Command: "selectWindow", Target: "handle=${" + w.windows[index] + "}", Comment: m.Note})
		w.click = -1
		return
	case opened && (matcher == step.WindowNew || matcher == step.WindowIndex && err == nil && index == len(w.windows)):
		name := "window" + strconv.Itoa(len(w.windows))
		w.windows = append(w.windows, name)
		click := &w.commands[w.click]
		click.OpensWindow, click.WindowHandleName, click.WindowTimeout = true, name, m.Limit()
		w.add(ideCommand{Command: "selectWindow", Target: "handle=${" + name + "}", Comment: m.Note})
		w.click = -1
		return
	}
	w.lacks(m)
}
