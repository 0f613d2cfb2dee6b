// Package maestro writes a script as a flow of Maestro: a file of YAML with its commands.
//
// A flow has those commands alone that the reference of Maestro has, and what these cannot say is
// refused with the path of its member: nothing that passes takes its place. Selectors become
// the text, the id or the CSS selector of an element, with the elements around and inside of it.
// Texts reach Maestro as they are; none of them is a script or a part of a pattern.
package maestro

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// writer writes commands of a Maestro flow, and none but those that its reference has. What
// Maestro has no command for is refused: a flow has no comment that a reader would notice
// among commands that pass.
type writer struct {
	*script.Script
	target string  // its name
	app    bool    // no page of a browser but an app
	lists  []*list // of commands; the last is written to
	err    error
}

// list are the commands of a flow, or of one in it.
type list struct{ node *yaml.Node }

// Write is the flow of a script; target is the name of the format, for errors.
func Write(s *script.Script, target string) (string, error) {
	w := &writer{Script: s, target: target, lists: []*list{{&yaml.Node{Kind: yaml.SequenceNode}}}}
	head, moves := w.head()
	for _, v := range s.Env.Variables() {
		w.add("assertTrue", scalar("${typeof "+v.Env+" !== 'undefined'}"))
	}
	w.bare("launchApp")
	for i := range moves {
		if w.move(&moves[i]); w.err != nil {
			return "", w.err
		}
	}
	return w.text(head)
}

// head is what stands above the commands, and the moves that are left for these.
func (w *writer) head() (head *yaml.Node, moves []script.Move) {
	moves = w.Moves
	head = mapping()
	var url script.Text
	switch {
	case len(moves) > 0 && moves[0].Tool.Type == step.GoToURL && moves[0].When == nil && !moves[0].Optional:
		var relative bool
		if url, relative = w.Address(moves[0].URL); relative {
			w.lacks(&moves[0], ".args.url", "an address below a variable one")
		}
		moves = moves[1:]
	case len(w.Base) > 0:
		url = w.Base
	default:
		w.app = true
	}
	if w.app {
		put(head, "appId", scalar("${APP_ID}"))
	} else {
		put(head, "url", scalar(w.string(url)))
	}
	put(head, "name", scalar(escaped(w.Label)))
	return head, moves
}

// text is the flow: what is above it, and its commands.
func (w *writer) text(head *yaml.Node) (string, error) {
	if w.err != nil {
		return "", w.err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n#\n", w.Label)
	if w.ID != "" {
		fmt.Fprintf(&out, "# Written from the test case %s. ", w.ID)
	} else {
		out.WriteString("# Written from a test case. ")
	}
	fmt.Fprintf(&out, "Needs Maestro 1.39 or newer:\n#\n#   maestro test%s %s.yaml\n", w.parameters(), w.Name.Kebab())
	for _, v := range w.Env.Variables() {
		fmt.Fprintf(&out, "#\n# %s: the variable %s\n", v.Env, script.Comment(v.Reference))
	}
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	for _, n := range []*yaml.Node{head, w.lists[0].node} {
		if err := e.Encode(n); err != nil {
			return "", fmt.Errorf("write a Maestro flow: %w", err)
		}
	}
	if err := e.Close(); err != nil {
		return "", fmt.Errorf("write a Maestro flow: %w", err)
	}
	return out.String(), nil
}

// parameters are those of the command line.
func (w *writer) parameters() string {
	var b strings.Builder
	if w.app {
		b.WriteString(" -e APP_ID=...")
	}
	for _, v := range w.Env.Variables() {
		b.WriteString(" -e " + v.Env + "=...")
	}
	return b.String()
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

func scalar(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if strings.ContainsAny(s, "\u0085\u2028\u2029") { // which readers of YAML 1.1 take for breaks
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func plainNode(tag, s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s}
}
func truth(is bool) *yaml.Node { return plainNode("!!bool", fmt.Sprint(is)) }
func numeral(n int) *yaml.Node { return plainNode("!!int", fmt.Sprint(n)) }

func put(to *yaml.Node, name string, value *yaml.Node) {
	to.Content = append(to.Content, plainNode("!!str", name), value)
}

func (w *writer) write(n *yaml.Node) {
	to := w.lists[len(w.lists)-1].node
	to.Content = append(to.Content, n)
}

// bare is a command without arguments.
func (w *writer) bare(command string) { w.write(plainNode("!!str", command)) }

// add writes a command.
func (w *writer) add(command string, argument *yaml.Node) {
	n := mapping()
	put(n, command, argument)
	w.write(n)
}

// lacks notes the first member for which Maestro has no words.
func (w *writer) lacks(m *script.Move, member, what string) {
	if w.err == nil {
		w.err = &step.InvalidError{Path: m.Path + member, Msg: what + " has no words in " + w.target}
	}
}

// begin begins commands that are done when a condition holds.
func (w *writer) begin(when *script.Move) {
	n := mapping()
	condition := mapping()
	a := &when.Tool.Args
	name := "visible"
	if (a.Matcher.Name == step.Hidden) != a.Not {
		name = "notVisible"
	}
	if a.Matcher.Name != step.Visible && a.Matcher.Name != step.Hidden {
		w.lacks(when, ".matcher.name", "a condition on "+a.Matcher.Name)
	}
	put(condition, name, w.selector(when, when.Element, ".selector"))
	put(n, "when", condition)
	inner := &yaml.Node{Kind: yaml.SequenceNode}
	put(n, "commands", inner)
	w.add("runFlow", n)
	w.lists = append(w.lists, &list{inner})
}

func (w *writer) end() { w.lists = w.lists[:len(w.lists)-1] }

// remark puts a comment above what a move has written.
func (w *writer) remark(m *script.Move, from int) {
	to := w.lists[len(w.lists)-1].node
	if m.Note != "" && from < len(to.Content) {
		to.Content[from].HeadComment = "# " + m.Note
	}
}

func (w *writer) move(m *script.Move) {
	if m.Tool.Type == step.RunGroup {
		switch {
		case m.Closes:
			w.end()
		case m.When != nil:
			w.begin(m.When)
		}
		return
	}
	if len(m.Within) > 0 {
		w.lacks(m, "", "an element in a frame or a shadow root")
		return
	}
	if m.When != nil {
		w.begin(m.When)
		defer w.end()
	}
	from := len(w.lists[len(w.lists)-1].node.Content)
	if m.Tool.Type == step.Assert {
		w.assertion(m)
	} else {
		w.action(m)
	}
	w.remark(m, from)
}

// on is the selector of a move, with whether the command is optional.
func (w *writer) on(m *script.Move) *yaml.Node {
	return w.optional(m, w.selector(m, m.Element, ".args.selector"))
}

func (w *writer) optional(m *script.Move, n *yaml.Node) *yaml.Node {
	if m.Optional {
		put(n, "optional", truth(true))
	}
	return n
}

// eraseMost is how many characters of a field are taken out before it is filled in: Maestro
// has a key for each.
const eraseMost = 100

func (w *writer) action(m *script.Move) {
	a := &m.Tool.Args
	of := func(name, value string) *yaml.Node {
		n := mapping()
		put(n, name, scalar(value))
		return w.optional(m, n)
	}
	switch m.Tool.Type {
	case step.GoToURL:
		address, relative := w.Address(m.URL)
		if relative {
			w.lacks(m, ".args.url", "an address below a variable one")
		}
		w.add("openLink", of("link", w.string(address)))
	case step.Back:
		w.bare("back")
	case step.Click:
		w.pointing(m)
		w.add("tapOn", w.on(m))
	case step.DoubleClick:
		w.pointing(m)
		w.add("doubleTapOn", w.on(m))
	case step.InputText:
		w.add("tapOn", w.on(m))
		n := mapping()
		put(n, "charactersToErase", numeral(eraseMost))
		w.add("eraseText", w.optional(m, n))
		w.add("inputText", of("text", w.string(m.Text)))
	case step.TypeKeys:
		if m.Element.Given() {
			w.add("tapOn", w.on(m))
		}
		w.add("inputText", of("text", w.string(m.Text)))
	case step.EnterKeySubmit:
		w.add("pressKey", of("key", "Enter"))
	case step.PressKey:
		w.press(m, of)
	case step.ScrollDocument, step.ScrollElement:
		w.scroll(m)
	case step.Save:
		if a.From != step.SavedText || a.Match != "" {
			w.lacks(m, ".args", "a text other than the whole of an element")
		}
		w.add("copyTextFrom", w.on(m))
		w.add("evalScript", scalar("${output."+a.Name+" = maestro.copiedText}"))
	default:
		w.lacks(m, ".type", m.Tool.Type)
	}
}

func (w *writer) pointing(m *script.Move) {
	p := &m.Tool.Args.Pointing
	if p.Position != nil || p.Button != "" || len(p.Modifiers) > 0 || p.ClickCount != nil {
		w.lacks(m, ".args", "a position, button, held key or number of clicks")
	}
}

func (w *writer) press(m *script.Move, of func(name, value string) *yaml.Node) {
	key := m.Tool.Args.Key
	switch {
	case m.Element.Given():
		w.lacks(m, ".args.selector", "a key that is pressed on an element")
	case key != "Enter" && key != "Backspace":
		w.lacks(m, ".args.key", "the key "+script.Comment(key))
	}
	w.add("pressKey", of("key", key))
}

// scroll swipes the other way: a finger moves what is on the screen.
func (w *writer) scroll(m *script.Move) {
	way := map[string]string{"down": "UP", "up": "DOWN", "left": "RIGHT", "right": "LEFT"}[m.Tool.Args.Direction]
	if way == "" {
		w.lacks(m, ".args.direction", "scrolling to an end")
	}
	n := mapping()
	if m.Element.Given() {
		put(n, "from", w.selector(m, m.Element, ".args.selector"))
	}
	put(n, "direction", plainNode("!!str", way))
	w.add("swipe", w.optional(m, n))
}

// assertion claims what is to be seen. Maestro has no other claims.
func (w *writer) assertion(m *script.Move) {
	a := &m.Tool.Args
	claim := func(visible bool, s *yaml.Node) {
		if m.Timeout > 0 {
			n := mapping()
			put(n, map[bool]string{true: "visible", false: "notVisible"}[visible], s)
			put(n, "timeout", numeral(m.Timeout))
			w.add("extendedWaitUntil", n)
			return
		}
		w.add(map[bool]string{true: "assertVisible", false: "assertNotVisible"}[visible], s)
	}
	element := func() *yaml.Node { return w.selector(m, m.Element, ".args.selector") }
	switch name := a.Matcher.Name; name {
	case step.Visible, step.Hidden:
		claim((name == step.Visible) != a.Not, element())
	case step.Enabled, step.Checked, step.Focused:
		n := element()
		if hasMember(n, name) {
			w.lacks(m, ".args.selector", "a state that is asserted, too,")
		}
		put(n, name, truth(!a.Not))
		claim(true, n)
	case step.TextIs:
		n := element()
		if hasMember(n, "text") {
			w.lacks(m, ".args.selector", "the text of an element that is found by its text")
		}
		if a.Not { // it must be there all the same
			claim(true, element())
		}
		put(n, "text", scalar(w.textPattern(m, m.Value, a.Matcher.Args.Mode)))
		claim(!a.Not, n)
	default:
		w.lacks(m, ".args.matcher.name", name)
	}
}

// hasMember reports whether a mapping has a member.
func hasMember(n *yaml.Node, name string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

// textPattern is what a text must match as a whole. Those of Maestro are regular expressions
// that do not tell upper from lower case unless they say so.
func (w *writer) textPattern(m *script.Move, t script.Text, mode string) string {
	switch mode {
	case step.Contains:
		return w.quoted("(?-i).*", t, ".*")
	case step.Matches:
		literal, fixed := t.Fixed()
		if !fixed {
			w.lacks(m, ".args.matcher.args.value", "a pattern with a variable")
		}
		return escaped("(?-i)(?s:.*)(?:" + language.InlinePattern(literal, language.JavaRune) + ")(?s:.*)")
	}
	return w.quoted("(?-i)", t, "")
}
