package plan

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

func trimFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// fieldsTime is how long the fields of a verb may take to come.
const fieldsTime = 3 * time.Second

// complete fills the fields that a verb brought, a recipient and a text, and sends them.
func (a activator) complete(ctx context.Context, before *view) error {
	if len(a.in.Values) == 0 && (a.in.To == nil || !slices.Contains(sendVerbs, a.in.Verb)) {
		return nil
	}
	former := before.visibleRefs()
	fresh := func(n *snapshot.Node) bool { return isTextField(n) && !former[n.Ref] }
	v, ok, err := a.until(ctx, fieldsTime, func(v *view) bool { return len(v.within(-1, fresh)) > 0 })
	if err != nil {
		return err
	}
	fields := v.within(-1, fresh)
	if !ok { // the page may have had them before
		if fields = v.within(-1, isTextField); len(fields) == 0 || len(fields) > 2 {
			return a.notUnderstood("it is not clear where the text belongs")
		}
	}
	if a.in.To != nil {
		to := recipient(v, fields)
		if to < 0 {
			return a.notUnderstood("no field is clearly that of the recipient")
		}
		ref := v.Nodes[to].Ref
		if err := a.enter(ctx, ref, recipientText(a.in.To.Name, a.in.To.Text), "the recipient"); err != nil {
			return err
		}
		if err := a.suggestion(ctx, v, a.in.To.Name); err != nil {
			return err
		}
		fields = slices.DeleteFunc(fields, func(i int) bool { return i == to })
	}
	if len(a.in.Values) > 0 {
		body := bodyOf(v, fields)
		if body < 0 {
			return a.notUnderstood("it is not clear where the text belongs")
		}
		if err := a.enter(ctx, v.Nodes[body].Ref, a.in.Values[0].Text, "the text"); err != nil {
			return err
		}
	}
	if v, err = a.look(ctx); err != nil {
		return err
	}
	return a.sendVerb(ctx, v)
}

// sendVerbs are verbs that end with sending what was filled in.
var sendVerbs = []string{"reply", "forward", "send", "share", "invite", "comment", "post", "antworten", "weiterleiten", "senden", "teilen", "transfer", "pay", "assign"}

func recipientText(name, text string) string {
	if name != "" {
		return name
	}
	return text
}

// recipient returns the field for whom something goes to; -1 without.
func recipient(v *view, fields []int) int {
	for _, i := range fields {
		n := &v.Nodes[i]
		for _, text := range []string{n.Label, n.Name, n.Placeholder, n.NameAttr, n.ID, n.TestID, nearText(v, i), strings.Join(n.Hints, " ")} {
			if hasAny(strings.Fields(squeeze(text)), []string{"to", "recipient", "recipients", "an", "empfänger", "receiver", "forward"}) {
				return i
			}
		}
		if n.Type == "email" {
			return i
		}
	}
	single := slices.DeleteFunc(slices.Clone(fields), func(i int) bool { return v.Nodes[i].Tag == "textarea" })
	if len(single) == 1 {
		return single[0]
	}
	return -1
}

// bodyOf returns the field for a text: the only one, the only large one, or the one that
// is called so.
func bodyOf(v *view, fields []int) int {
	if len(fields) == 1 {
		return fields[0]
	}
	large := slices.DeleteFunc(slices.Clone(fields), func(i int) bool {
		n := &v.Nodes[i]
		return n.Tag != "textarea" && n.Tag == "input"
	})
	if len(large) == 1 {
		return large[0]
	}
	for _, i := range fields {
		n := &v.Nodes[i]
		if hasAny(strings.Fields(squeeze(strings.Join([]string{n.Name, n.Placeholder, n.NameAttr, n.ID}, " "))), []string{"message", "text", "body", "comment", "reply", "content", "nachricht", "kommentar"}) {
			return i
		}
	}
	return -1
}

// suggestion chooses what a field suggests for a recipient, where it does so at once.
func (a activator) suggestion(ctx context.Context, before *view, name string) error {
	v, err := a.look(ctx)
	if err != nil {
		return err
	}
	former := before.visibleRefs()
	options := v.within(-1, func(n *snapshot.Node) bool { return n.Role == "option" && !n.Hidden && !former[n.Ref] })
	options = slices.DeleteFunc(options, func(i int) bool { return v.likenessOf(i, name) < 0.5 })
	if len(options) != 1 {
		return nil
	}
	return a.clickAndSee(ctx, v, &v.Nodes[options[0]], "what the field suggests")
}

// sendVerb sends the form that was filled in.
func (a activator) sendVerb(ctx context.Context, v *view) error {
	words := []string{"send", "submit", squeeze(a.in.Verb), "senden", "absenden", "post", "save", "speichern"}
	at := v.find(a.focus.target)
	for up := at; up >= 0; up = v.Nodes[up].Parent {
		buttons := v.within(up, isPressable)
		for _, word := range words {
			if found := v.calledOneOf(buttons, []string{word}); len(found) == 1 {
				return a.clickAndSee(ctx, v, &v.Nodes[found[0]], "it sends the text")
			}
		}
		hinted := slices.DeleteFunc(buttons, func(i int) bool { return !hasAny(arrowWords(&v.Nodes[i], ""), words) })
		if len(hinted) == 1 {
			return a.clickAndSee(ctx, v, &v.Nodes[hinted[0]], "it sends the text")
		}
	}
	return a.send(ctx, v, formOf(v, a.focus.target), words)
}

// fieldBefore returns the only field of the small form that a button stands in, before the
// button; -1 without.
func fieldBefore(v *view, button int) int {
	if button < 0 {
		return -1
	}
	for up, n := v.Nodes[button].Parent, 0; up >= 0 && n < maxBeside; up, n = v.Nodes[up].Parent, n+1 {
		fields := v.within(up, isTextField)
		if len(fields) == 1 && fields[0] < button {
			return fields[0]
		}
		if len(fields) > 0 || isItem(&v.Nodes[up]) {
			return -1
		}
	}
	return -1
}

// addVerbs are verbs that make a new item of a text: "add Milk to the list".
var addVerbs = []string{"add", "create", "post", "hinzufügen", "anlegen", "erstellen", "send", "comment"}

// asNewItem does a verb that makes a new item: the text goes into the field beside the
// verb's button. It reports whether it was done.
func (a activator) asNewItem(ctx context.Context, v *view) (bool, error) {
	t := a.in.Target
	if !slices.Contains(addVerbs, a.in.Verb) {
		return false, nil
	}
	text := ""
	switch {
	case len(a.in.Values) == 1 && (t == nil || t.Name == ""):
		text = a.in.Values[0].Text
	case len(a.in.Values) == 0 && t != nil && t.Name != "" && len(t.Relations) == 0 && t.Count < 2:
		text = t.Name
	default:
		return false, nil
	}
	if i, _ := v.findText(text, true); i >= 0 {
		return false, nil // it is a thing of the page
	}
	var found []int
	for _, i := range v.within(-1, isPressable) {
		n := &v.Nodes[i]
		words := strings.Fields(squeeze(n.Name + " " + n.Title))
		if n.Name == "+" {
			words = []string{"add"}
		}
		if len(words) <= 4 && hasAny(words, []string{squeeze(a.in.Verb)}) && fieldBefore(v, i) >= 0 {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		fields := v.within(-1, isTextField)
		if len(found) > 1 || len(fields) != 1 || len(v.within(-1, isPressable)) > 0 && !hasAny(strings.Fields(squeeze(v.Nodes[fields[0]].Placeholder+" "+v.Nodes[fields[0]].Name)), append([]string{"new", "neue", "what", "add"}, addVerbs...)) {
			return false, nil
		}
		if err := a.enter(ctx, v.Nodes[fields[0]].Ref, text, "the new item"); err != nil {
			return true, err
		}
		if err := a.do(ctx, action{tool: step.PressKey, on: v.Nodes[fields[0]].Ref, args: step.Args{Key: "Enter"}, why: "adds it"}); err != nil {
			return true, err
		}
		return true, a.changedSince(ctx, v, &v.Nodes[fields[0]])
	}
	button := &v.Nodes[found[0]]
	if err := a.enter(ctx, v.Nodes[fieldBefore(v, found[0])].Ref, text, "the new item"); err != nil {
		return true, err
	}
	return true, a.clickAndSee(ctx, v, button, "it adds the text")
}

// search types what is looked for into the field for it, and starts the search.
func (a activator) search(ctx context.Context) error {
	text := ""
	switch {
	case len(a.in.Values) > 0:
		text = a.in.Values[0].Text
	case a.in.Target != nil:
		text = a.in.Target.Name
	}
	if text == "" {
		return a.notUnderstood("it does not say what to search for")
	}
	v, err := a.look(ctx)
	if err != nil {
		return err
	}
	field := searchField(v)
	if field < 0 {
		m, err := a.openSearch(ctx, v)
		if err != nil {
			return err
		}
		if v, err = a.look(ctx); err != nil {
			return err
		}
		field = v.find(m)
	}
	n := &v.Nodes[field]
	if err := a.enter(ctx, n.Ref, text, "the field for searches"); err != nil {
		return err
	}
	typed, err := a.look(ctx)
	if err != nil {
		return err
	}
	if i := searchButton(typed, typed.find(n.Ref)); i >= 0 {
		return a.clickAndSee(ctx, typed, &typed.Nodes[i], "it starts the search")
	}
	if err := a.do(ctx, action{tool: step.PressKey, on: n.Ref, args: step.Args{Key: "Enter"}, why: "it starts the search"}); err != nil {
		return err
	}
	_, _, err = a.until(ctx, settle/3, func(now *view) bool { return differs(typed, now) })
	return err
}

// openSearch opens a field for searches that comes by a click on an icon.
func (a activator) openSearch(ctx context.Context, v *view) (string, error) {
	found := slices.DeleteFunc(v.within(-1, isPressable), func(i int) bool { return !hasAny(arrowWords(&v.Nodes[i], v.shown(i)), searchWords) })
	if len(found) != 1 {
		return "", a.notUnderstood("no field is clearly that for searches")
	}
	if err := a.do(ctx, action{tool: step.Click, on: v.Nodes[found[0]].Ref, why: "opens the search"}); err != nil {
		return "", err
	}
	now, ok, err := a.until(ctx, settle, func(now *view) bool { return searchField(now) >= 0 })
	if err != nil {
		return "", err
	}
	if !ok {
		return "", a.notUnderstood("no field is clearly that for searches")
	}
	return now.Nodes[searchField(now)].Ref, nil
}

var searchWords = []string{"search", "find", "query", "q", "suche", "suchen", "lookup", "magnifier", "🔍", "🔎"}

// searchField returns the field for searches: the one that says so, else the only one
// with a button for it; -1 without.
func searchField(v *view) int {
	fields := v.within(-1, isTextField)
	for _, sure := range []func(i int) bool{
		func(i int) bool { return v.Nodes[i].Role == "searchbox" || v.Nodes[i].Type == "search" },
		func(i int) bool {
			n := &v.Nodes[i]
			return hasAny(strings.Fields(squeeze(strings.Join([]string{n.Name, n.Label, n.Placeholder, n.NameAttr, n.ID, n.Title}, " "))), searchWords)
		},
		func(i int) bool { return searchButton(v, i) >= 0 },
	} {
		found := slices.DeleteFunc(slices.Clone(fields), func(i int) bool { return !sure(i) })
		if len(found) == 1 {
			return found[0]
		}
	}
	return -1
}

// searchButton returns the button beside a field that starts a search; -1 without.
func searchButton(v *view, field int) int {
	if field < 0 {
		return -1
	}
	for up, n := v.Nodes[field].Parent, 0; n <= maxBeside; n++ {
		buttons := slices.DeleteFunc(v.within(up, isPressable), func(i int) bool {
			words := arrowWords(&v.Nodes[i], v.shown(i))
			return !hasAny(words, searchWords) && !hasAny(words, []string{"go", "los"})
		})
		if len(buttons) == 1 {
			return buttons[0]
		}
		if len(buttons) > 1 || up < 0 {
			return -1
		}
		up = v.Nodes[up].Parent
	}
	return -1
}
