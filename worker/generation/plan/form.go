package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// submit sends the form that an instruction names, or that the text was about last.
func submit(ctx context.Context, p *planner, in *intent.Instruction) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	if in.Target != nil && in.Target.Name != "" {
		if m, err := p.pick(v, in.Target, toUse); err == nil && m.node.Interactive && !m.node.Editable {
			return p.press(ctx, v, m.index, m.why) // "submit the order": a button is called so
		}
		if m, err := p.pick(v, in.Target, toHold); err == nil {
			if i := submitter(v, m.index, nil); i >= 0 {
				return p.press(ctx, v, i, "sends "+describeNode(m.node))
			}
		}
	}
	form := formOf(v, p.focus.target)
	return p.send(ctx, v, form, nil)
}

// send presses what sends a form: its button, or Enter in a field of it. Words are names
// that the button may have besides.
func (p *planner) send(ctx context.Context, v *view, form int, words []string) error {
	for at := form; ; at = v.Nodes[at].Parent {
		if i := submitter(v, at, words); i >= 0 {
			return p.press(ctx, v, i, "sends the form")
		}
		if at < 0 {
			break
		}
	}
	if n := v.node(p.focus.target); n != nil && n.Editable && n.Role != "" {
		if err := p.do(ctx, action{tool: step.PressKey, on: n.Ref, args: step.Args{Key: "Enter"}, why: "sends the form, which has no button for it"}); err != nil {
			return err
		}
		return p.changedSince(ctx, v, n)
	}
	return p.notUnderstood("nothing is clearly what sends the form", buttonsOf(v, form)...)
}

// press clicks on a node.
func (p *planner) press(ctx context.Context, _ *view, i int, why string) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	n := &v.Nodes[i]
	return p.do(ctx, action{tool: step.Click, on: n.Ref, why: describeNode(n) + " " + why})
}

// formOf returns the nearest form or dialog around an element; -1 for the page.
func formOf(v *view, ref string) int {
	at := v.find(ref)
	if at < 0 {
		return v.openDialog()
	}
	form := v.ancestor(at, func(n *snapshot.Node) bool {
		return n.Tag == "form" || n.Role == "form" || n.Role == "search" || n.Role == "dialog" || n.Role == "alertdialog"
	})
	if form < 0 {
		form = v.openDialog()
	}
	return form
}

// openDialog returns the last dialog that is open; -1 without one.
func (v *view) openDialog() int {
	found := -1
	for i := range v.Nodes {
		if n := &v.Nodes[i]; !n.Hidden && (n.Modal || n.Role == "dialog" || n.Role == "alertdialog") {
			found = i
		}
	}
	return found
}

// submitWords are the names of buttons that send a form, the surest first.
var submitWords = []string{"submit", "absenden", "send", "senden", "save", "speichern", "ok", "confirm", "bestätigen", "apply", "anwenden",
	"done", "fertig", "continue", "weiter", "next", "search", "suchen", "find", "go", "login", "log in", "sign in", "anmelden", "sign up",
	"register", "registrieren", "post", "create", "anlegen", "add", "update", "finish", "book", "order", "pay", "place order"}

// submitter returns the button that sends what is in a container; -1 where there is none
// or it is not clear. A name that says it comes before the type, which many have.
func submitter(v *view, root int, words []string) int {
	buttons := v.within(root, isButton)
	for _, list := range [][]string{words, submitWords[:2]} {
		if found := v.calledOneOf(buttons, list); len(found) == 1 {
			return found[0]
		}
	}
	typed := slices.DeleteFunc(slices.Clone(buttons), func(i int) bool { return v.Nodes[i].Type != "submit" && v.Nodes[i].Type != "image" })
	if len(typed) == 1 {
		return typed[0]
	}
	if found := v.calledOneOf(buttons, submitWords); len(found) == 1 {
		return found[0]
	}
	if root >= 0 && len(buttons) == 1 && (v.Nodes[root].Tag == "form" || v.Nodes[root].Role == "form") {
		return buttons[0]
	}
	return -1
}

func isButton(n *snapshot.Node) bool {
	return !n.Hidden && !n.Disabled && !n.Editable && (n.Role == "button" || n.Type == "submit" || n.Type == "image" || n.Interactive && n.Role == "" || n.Reacts != "" && n.Role == "")
}

// calledOneOf returns the nodes whose name is one of some words.
func (v *view) calledOneOf(nodes []int, words []string) []int {
	var found []int
	for _, i := range nodes {
		n := &v.Nodes[i]
		for _, name := range []string{n.Name, n.Text, n.Title, n.Value} {
			if name != "" && (slices.Contains(words, squeeze(name)) || squeeze(name) == "" && slices.Contains(words, strings.TrimSpace(name))) {
				if len(found) == 0 || !v.inside(i, found[len(found)-1]) {
					found = append(found, i)
				}
				break
			}
		}
	}
	return found
}

// buttonsOf returns the buttons of a container, for people.
func buttonsOf(v *view, root int) []Candidate {
	var list []Candidate
	for _, i := range v.within(root, isButton) {
		if list = append(list, v.candidate(i)); len(list) == 5 {
			break
		}
	}
	return list
}

// logIn fills user and password and sends them: on one page, or on two.
func logIn(ctx context.Context, p *planner, in *intent.Instruction) error {
	if len(in.Values) == 0 {
		m, err := p.resolve(ctx, &intent.Phrase{Text: "log in", Name: "log in"}, toUse)
		if err != nil {
			return err
		}
		return p.do(ctx, action{tool: step.Click, on: m.ref, why: m.why})
	}
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	if userField(v) < 0 && v.passwordField() < 0 { // the way to the form
		m, err := p.resolve(ctx, &intent.Phrase{Text: "log in", Name: "log in"}, toUse)
		if err != nil {
			return err
		}
		if err := p.do(ctx, action{tool: step.Click, on: m.ref, why: m.why + ", which leads to the form"}); err != nil {
			return err
		}
		if v, _, err = p.until(ctx, 2*settle, func(v *view) bool { return userField(v) >= 0 || v.passwordField() >= 0 }); err != nil {
			return err
		}
	}
	user := userField(v)
	if user < 0 {
		return p.notUnderstood("no field is clearly that of the user's name")
	}
	if err := p.enter(ctx, v.Nodes[user].Ref, in.Values[0].Text, "the user's name"); err != nil {
		return err
	}
	if len(in.Values) < 2 {
		return sendLogIn(ctx, p)
	}
	if v, err = p.look(ctx); err != nil {
		return err
	}
	if v.passwordField() < 0 { // it is asked for next
		if err := sendLogIn(ctx, p); err != nil {
			return err
		}
		if v, _, err = p.until(ctx, 2*settle, func(v *view) bool { return v.passwordField() >= 0 }); err != nil {
			return err
		}
	}
	password := v.passwordField()
	if password < 0 {
		return p.notUnderstood("no field is clearly that of the password")
	}
	if err := p.enter(ctx, v.Nodes[password].Ref, in.Values[1].Text, "the password"); err != nil {
		return err
	}
	return sendLogIn(ctx, p)
}

// enter puts a text into a field.
func (p *planner) enter(ctx context.Context, ref, text, why string) error {
	p.focus.target = ref
	return p.do(ctx, action{tool: step.InputText, on: ref, args: step.Args{Text: &text}, why: why})
}

var logInWords = []string{"log in", "login", "log on", "sign in", "signin", "submit", "next", "continue", "weiter", "anmelden", "einloggen"}

func sendLogIn(ctx context.Context, p *planner) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	if err := p.send(ctx, v, formOf(v, p.focus.target), logInWords); err != nil {
		return err
	}
	_, _, err = p.until(ctx, settle, func(now *view) bool { return differs(v, now) })
	return err
}

// passwordField returns the only field for a password; -1 without.
func (v *view) passwordField() int {
	found := v.within(-1, func(n *snapshot.Node) bool { return n.Password && !n.Hidden && !n.Disabled })
	if len(found) != 1 {
		return -1
	}
	return found[0]
}

var userWords = []string{"user", "username", "email", "e", "mail", "login", "account", "benutzer", "benutzername", "id", "name", "phone"}

// userField returns the field for a user's name: the one before the password, else the
// only one that is called so; -1 without.
func userField(v *view) int {
	fields := v.within(-1, func(n *snapshot.Node) bool {
		return n.Editable && !n.Hidden && !n.Disabled && !n.Password && n.Role != "searchbox" && n.Type != "search"
	})
	if password := v.passwordField(); password >= 0 {
		form := formOf(v, v.Nodes[password].Ref)
		before := -1
		for _, i := range fields {
			if i < password && (form < 0 || v.inside(i, form)) {
				before = i
			}
		}
		return before
	}
	var called []int
	for _, i := range fields {
		n := &v.Nodes[i]
		words := strings.Fields(squeeze(strings.Join([]string{n.Name, n.Label, n.Placeholder, n.NameAttr, n.ID, n.Type}, " ")))
		if hasAny(words, userWords) {
			called = append(called, i)
		}
	}
	if len(called) != 1 {
		return -1
	}
	return called[0]
}

// upload puts a file into a field for files.
func upload(ctx context.Context, p *planner, in *intent.Instruction) error {
	if len(in.Values) == 0 {
		return p.notUnderstood("it does not say which file")
	}
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	inputs := v.within(-1, func(n *snapshot.Node) bool { return n.Type == "file" })
	ref, why := "", "the only field for files"
	switch {
	case len(inputs) == 1:
		ref = v.Nodes[inputs[0]].Ref
	case in.Target != nil:
		m, err := p.resolve(ctx, in.Target, toUpload)
		if err != nil {
			return err
		}
		ref, why = m.ref, m.why
	default:
		return p.notUnderstood("it does not say into which field")
	}
	file := fileOf(in.Values[0].Text)
	if len(in.Values) > 1 {
		file.Content = []byte(in.Values[1].Text)
	}
	p.focus.target = ref
	return p.do(ctx, action{tool: step.UploadFile, on: ref, args: step.Args{File: &file}, why: why})
}

// maxFileName bounds the name of a file that is made up.
const maxFileName = 100

// fileOf returns a file of a name, with a small content of its kind.
func fileOf(name string) step.File {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r < ' ' {
			return '_'
		}
		return r
	}, strings.TrimSpace(name))
	if name == "" || len(name) > maxFileName {
		name = "file.txt"
	}
	content := "A file of the test.\n"
	switch {
	case strings.HasSuffix(name, ".png"):
		content = onePixel
	case strings.HasSuffix(name, ".json"):
		content = "{}\n"
	case strings.HasSuffix(name, ".csv"):
		content = "name,value\na,1\n"
	case strings.HasSuffix(name, ".pdf"):
		content = "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
	}
	return step.File{Name: name, Content: []byte(content)}
}

// onePixel is the smallest image that browsers show.
const onePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xf8\xff\xff?\x00\x05\xfe\x02\xfe\xa75\x81\x84\x00\x00\x00\x00IEND\xaeB`\x82"
