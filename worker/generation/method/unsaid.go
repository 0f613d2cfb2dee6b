package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// harm is a family of deeds that cannot be taken back, or undo what was done before: what controls for it are called, and the
// effects that are such a deed, or say yes to one.
type harm struct {
	concepts []string
	signs    []string
	effects  []intent.Effect
	// where says of which pages only, and things are the concepts of texts that speak of the deed
	// without its verb.
	where  func(m *page.Model) bool
	things []string
	// removes: words of several parts and icons say it too.
	removes bool
	// inFront: in a dialog in front it only closes that.
	inFront bool
	// only: it counts for goals of this effect; "" is all.
	only intent.Effect
}

var harms = []harm{
	{
		concepts: []string{"delete", "remove", "trash"},
		signs:    []string{"×", "✕", "✖", "✗", "🗑"},
		effects: []intent.Effect{intent.Remove, intent.Clear, intent.Close, intent.Abandon, intent.Confirm, intent.Collapse,
			intent.Reopen, intent.Move},
		removes: true,
	},
	{
		concepts: []string{"pay", "buy", "checkout"},
		effects:  []intent.Effect{intent.Submit, intent.Confirm, intent.Add, intent.Complete, intent.Act, intent.Page},
	},
	{ // what is put into a cart is not ordered yet
		concepts: []string{"pay", "checkout", "order"},
		things:   []string{"order", "buy", "book", "rent"},
		only:     intent.Add,
	},
	{
		concepts: []string{"send"},
		where:    composes,
		effects:  []intent.Effect{intent.Submit, intent.Confirm, intent.Complete, intent.Act, intent.Press, intent.Rate},
		things: []string{"message", "comment", "feedback", "request", "report", "report_doc", "reply", "question",
			"answer", "letter", "invite", "complaint",
			"request_support", "application_job", "post", "note", "email", "review", "order"},
	},
	{
		concepts: []string{"publish", "send", "submit"},
		effects: []intent.Effect{intent.Submit, intent.Confirm, intent.Add, intent.Complete, intent.Reopen, intent.Act,
			intent.SignIn, intent.Edit,
			intent.Append, intent.Upload, intent.Move, intent.Search, intent.Filter},
		inFront: true,
	},
	{
		concepts: []string{"sign_out"},
		effects:  []intent.Effect{intent.SignOut, intent.Confirm},
	},
	{
		concepts: []string{"reset"}, // also "clear all"
		effects: []intent.Effect{intent.Clear, intent.Remove, intent.Abandon, intent.Reopen, intent.Close, intent.Navigate,
			intent.Filter, intent.Confirm},
	},
	{
		concepts: []string{"clear"},
		effects: []intent.Effect{intent.Clear, intent.Remove, intent.Abandon, intent.Reopen, intent.Close, intent.Navigate,
			intent.Filter, intent.Confirm,
			intent.Search, intent.Select, intent.Edit},
	},
}

// Unsaid names the control that a way presses and that deletes, pays or sends by its name, where the goal
// says nothing of it: part of a name, or a description in a title, is no reason to press it. It is
// "" where there is none. Text is what the goal says.
func Unsaid(m *page.Model, w *Way, g *intent.Goal, text string) string {
	for i := range harms {
		h := &harms[i]
		counts := g.Effect == intent.Increase || g.Effect == intent.Decrease // "drop" may mean to lower: then it removes nothing
		said := textHas(text, "", h.concepts...) || textHas(text, "", h.things...) || slices.Contains(h.things, g.Concept) ||
			h.removes && (rejects[g.Concept] || lexicon.Removes(text, true))
		if h.only != "" && h.only != g.Effect || slices.Contains(h.effects, g.Effect) || said && !counts || h.where != nil && !h.where(m) {
			continue
		}
		for _, a := range w.Acts {
			if a.Tool != step.Click && a.Tool != step.DoubleClick {
				continue
			}
			if h.inFront && m.Front >= 0 && m.Holds(m.Front, a.Node) {
				continue
			}
			if c := m.ControlAt(a.Node); c >= 0 && h.says(m, c, g.Effect == intent.Press) {
				return DescribeNode(m, a.Node)
			}
		}
	}
	return ""
}

// composes reports whether a page is one on which something is written to somebody: what is sent
// there has gone.
func composes(m *page.Model) bool {
	is := func(name string) bool {
		name = strings.TrimRight(strings.TrimSpace(name), ":")
		return len(name) <= maxReceiver && textHas(name, "", "recipient")
	}
	for i := range m.Fields {
		if slices.ContainsFunc(m.Fields[i].Names, is) {
			return true
		}
	}
	return slices.ContainsFunc(m.Lines, func(l page.Line) bool { return is(l.Text) })
}

// maxReceiver is how long a label is that asks to whom something goes, in bytes.
const maxReceiver = 12

// rejects are the concepts of verbs after which a thing may be gone: who turns it down removes it.
var rejects = map[string]bool{"reject": true, "decline": true, "cancel": true, "dismiss": true}

// says reports whether a control is called by the deed: its name begins or ends with it, without
// the title of the thing that it stands in. What is only called as the thing is none ("Buy milk"), nor
// is the thing itself, whatever it shows ("Dinner, paid by Ann"), and a sign or icon may be what is
// pressed by name.
func (h *harm) says(m *page.Model, control int, named bool) bool {
	c := &m.Controls[control]
	if c.Role == "checkbox" || c.Role == "radio" || c.Role == "option" || c.Role == "switch" || c.Role == "tab" {
		return false
	}
	name := effect.Fold(effect.ControlName(m, control))
	if slices.Contains(h.signs, name) || h.removes && trashIcon(c) {
		return !named
	}
	if c.Record >= 0 && c.Record < len(m.Records) && name != "" {
		if title := effect.Fold(m.Records[c.Record].Title); title != "" && (strings.Contains(title, name) || m.Records[c.Record].Node == c.Node) {
			return false
		} else if title != "" {
			name = effect.Fold(strings.Replace(name, title, " ", 1))
		}
	}
	words := strings.Fields(name)
	if len(words) == 0 {
		return false
	}
	if h.removes && len(words) <= maxSaid && lexicon.Removes(name, false) {
		return true
	}
	return lexicon.Means(name, "", h.concepts...) || len(words) <= maxWords && textHas(name, "", h.concepts...) && (textHas(words[0], "", h.concepts...) ||
		textHas(words[len(words)-1], "", h.concepts...))
}

// maxSaid is how long the name of a control may be that begins with its deed.
const maxSaid = 8

// trashIcon reports whether an icon of a control means that something is deleted. A cross closes
// as well.
func trashIcon(c *page.Control) bool {
	trash := false
	for i := range c.Names {
		if c.Names[i].From != "icon" {
			continue
		}
		switch c.Names[i].Text {
		case "close":
			return false
		case "delete", "trash":
			trash = true
		}
	}
	return trash
}
