package plan

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// respond accepts or dismisses a dialog of the browser, else a banner, dialog or box of
// the page.
func respond(ctx context.Context, p *planner, in *intent.Instruction) error {
	accept := in.Kind == intent.Accept
	v, open, err := p.until(ctx, settle/3, func(v *view) bool { return v.Dialog != nil })
	if err != nil {
		return err
	}
	if open {
		return handle(ctx, p, v, in, accept)
	}
	if in.Target != nil && accept {
		if m, err := p.pick(v, in.Target, toCheck); err == nil && m.node.Checked != "" {
			return p.setChecked(ctx, m, true) // "accept the terms"
		}
	}
	root, err := dialogOf(p, v, in.Target)
	if err != nil {
		return err
	}
	words := acceptNames
	if !accept {
		words = dismissNames
	}
	for _, at := range []int{root, -1} {
		buttons := v.within(at, isPressable)
		for _, word := range words {
			if found := v.calledOneOf(buttons, []string{word}); len(found) > 0 {
				n := &v.Nodes[found[0]]
				return p.clickAndSee(ctx, v, n, "it "+map[bool]string{true: "accepts", false: "dismisses"}[accept])
			}
		}
		if i := beginningWith(v, buttons, words); i >= 0 {
			return p.clickAndSee(ctx, v, &v.Nodes[i], "by its name")
		}
		if at >= 0 && !accept {
			if i := closer(v, at); i >= 0 {
				return p.clickAndSee(ctx, v, &v.Nodes[i], "it closes "+describeNode(&v.Nodes[at]))
			}
		}
	}
	return p.notUnderstood("there is nothing to accept or dismiss", buttonsOf(v, root)...)
}

// The names of controls that accept and that dismiss, the widest first.
var (
	acceptNames = []string{"accept all", "accept all cookies", "accept cookies", "allow all", "allow all cookies", "accept", "i accept", "agree", "i agree",
		"agree and continue", "accept and continue", "accept and close", "allow", "got it", "ok", "okay", "yes", "confirm", "understood", "i understand", "continue",
		"alle akzeptieren", "alles akzeptieren", "alle cookies akzeptieren", "akzeptieren", "annehmen", "zustimmen", "ich stimme zu", "einverstanden", "verstanden", "ja", "bestätigen"}
	dismissNames = []string{"reject all", "reject", "decline", "deny", "refuse", "no thanks", "no", "cancel", "dismiss", "not now", "maybe later", "only necessary", "necessary only", "close",
		"alle ablehnen", "ablehnen", "nur notwendige", "nein danke", "nein", "abbrechen", "nicht jetzt", "schließen"}
	closeNames = []string{"close", "×", "✕", "✖", "x", "╳", "✗", "dismiss", "close dialog", "close popup", "close modal", "close banner", "schließen", "zu", "cancel", "abbrechen", "ok", "okay", "got it", "no thanks", "not now"}
)

func isPressable(n *snapshot.Node) bool {
	return !n.Hidden && !n.Disabled && !n.Editable && (n.Interactive || n.Reacts != "") && len(n.Options) == 0
}

// beginningWith returns the only control whose name begins with one of some words; -1
// without.
func beginningWith(v *view, nodes []int, words []string) int {
	found := -1
	for _, i := range nodes {
		name := squeeze(v.Nodes[i].Name)
		if len(strings.Fields(name)) > 5 || !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(name, w+" ") }) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// handle ends a dialog of the browser.
func handle(ctx context.Context, p *planner, v *view, in *intent.Instruction, accept bool) error {
	args := step.Args{Action: "dismiss"}
	if accept {
		args.Action = "accept"
		if len(in.Values) > 0 {
			args.Text = &in.Values[0].Text
		}
	}
	return p.do(ctx, action{tool: step.HandleDialog, args: args, why: "the dialog says " + strconv.Quote(shorten(v.Dialog.Text, 100))})
}

// dialogOf returns the banner or dialog that a phrase means; without one, or by a general
// word, the one that is open. -1 is the page.
func dialogOf(p *planner, v *view, phrase *intent.Phrase) (int, error) {
	open := v.openDialog()
	if phrase == nil {
		return open, nil
	}
	m, err := p.pick(v, phrase, toHold)
	if err == nil && m.node.Role != "document" {
		return m.index, nil
	}
	if open >= 0 && (phrase.Name == "" || holdsWords(squeeze(v.shown(open)), squeeze(phrase.Name))) {
		return open, nil
	}
	// What has the word of a banner in it, and buttons.
	best := -1
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden || n.Interactive || n.Role == "document" || n.Role == "main" || phrase.Name == "" {
			continue
		}
		if text := v.shown(i); len(text) < 600 && stemmed(text, phrase.Name) && len(v.within(i, isPressable)) > 0 && len(v.within(i, isPressable)) <= 8 {
			best = i // the innermost that has both
		}
	}
	return best, nil
}

// stemmed reports whether a text has a word but for its plural.
func stemmed(text, word string) bool {
	word = strings.TrimSuffix(squeeze(word), "s")
	return word != "" && strings.Contains(squeeze(text), word)
}

// clickAndSee clicks on an element, and looks that the page changed.
func (p *planner) clickAndSee(ctx context.Context, v *view, n *snapshot.Node, why string) error {
	if err := p.do(ctx, action{tool: step.Click, on: n.Ref, why: describeNode(n) + ": " + why}); err != nil {
		return err
	}
	return p.changedSince(ctx, v, n)
}

// closeOpen closes what an instruction names, or the dialog that is open.
func closeOpen(ctx context.Context, p *planner, in *intent.Instruction) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	if v.Dialog != nil {
		return handle(ctx, p, v, in, false)
	}
	if in.Target != nil {
		if m, err := p.pick(v, in.Target, toExpand); err == nil && m.node.Expanded == "true" && m.score >= 0.8 {
			return setExpanded(ctx, p, m, false)
		}
	}
	root, err := dialogOf(p, v, in.Target)
	if err != nil {
		return err
	}
	if root >= 0 {
		if i := closer(v, root); i >= 0 {
			return gone(ctx, p, v, root, action{tool: step.Click, on: v.Nodes[i].Ref, why: describeNode(&v.Nodes[i]) + " closes it"})
		}
	}
	if in.Target != nil && in.Target.Name != "" {
		if m, err := p.pick(v, in.Target, toUse); err == nil && hasAny(arrowWords(m.node, v.shown(m.index)), closeNames) {
			return p.clickAndSee(ctx, v, m.node, m.why)
		}
	}
	if root < 0 {
		if found := v.calledOneOf(v.within(-1, isPressable), closeNames[:8]); len(found) == 1 {
			return p.clickAndSee(ctx, v, &v.Nodes[found[0]], "the only one that closes something")
		}
		return p.notUnderstood("nothing is open that can be closed")
	}
	return gone(ctx, p, v, root, action{tool: step.PressKey, args: step.Args{Key: "Escape"}, why: "nothing in it closes it"})
}

// gone does what closes something, and looks that it is not seen any more.
func gone(ctx context.Context, p *planner, v *view, root int, a action) error {
	ref := v.Nodes[root].Ref
	if err := p.do(ctx, a); err != nil {
		return err
	}
	_, ok, err := p.until(ctx, settle, func(now *view) bool {
		n := now.node(ref)
		return n == nil || n.Hidden || n.Box[2] == 0 || n.Box[3] == 0 || now.URL != v.URL
	})
	if err != nil || ok {
		return err
	}
	return &FailedError{Code: codeStepFailed, Detail: p.understood() + ": it is still open"}
}

// closer returns the control that closes what it is in: by name, title or icon; -1 without.
func closer(v *view, root int) int {
	buttons := v.within(root, isPressable)
	for _, word := range closeNames {
		if found := v.calledOneOf(buttons, []string{word}); len(found) > 0 {
			return found[0]
		}
		for _, i := range buttons {
			if n := &v.Nodes[i]; strings.TrimSpace(strings.ToLower(n.Name)) == word || strings.TrimSpace(v.shown(i)) == word {
				return i
			}
		}
	}
	for _, i := range buttons {
		if n := &v.Nodes[i]; squeeze(n.Name) == "" && hasAny(n.Hints, []string{"close", "dismiss", "times", "cross"}) {
			return i
		}
	}
	return beginningWith(v, buttons, []string{"close", "dismiss", "schließen"})
}

// window makes another window current.
func window(ctx context.Context, p *planner, in *intent.Instruction) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	var tries []step.Matcher
	name := ""
	if in.Target != nil {
		name = in.Target.Name
	}
	switch {
	case in.Target != nil && in.Target.Ordinal > 0:
		tries = []step.Matcher{{Name: step.WindowIndex, Args: step.MatcherArgs{Value: strconv.Itoa(in.Target.Ordinal - 1)}}}
	case in.Place == intent.First || strings.EqualFold(in.Direction, "back") || in.Place == "back":
		tries = []step.Matcher{{Name: step.WindowIndex, Args: step.MatcherArgs{Value: "0"}}}
		if v.Windows > 2 && in.Place != intent.First {
			tries[0].Args.Value = strconv.Itoa(max(v.Window-1, 0))
		}
	case name != "":
		tries = []step.Matcher{{Name: step.WindowTitle, Args: step.MatcherArgs{Value: name}}, {Name: step.WindowURL, Args: step.MatcherArgs{Value: name}}}
	default:
		_, ok, err := p.until(ctx, settle, func(v *view) bool { return v.Windows > 1 })
		if err != nil {
			return err
		}
		if !ok {
			return p.notUnderstood("no other window is open")
		}
		if v, err = p.look(ctx); err != nil {
			return err
		}
		tries = []step.Matcher{{Name: step.WindowIndex, Args: step.MatcherArgs{Value: strconv.Itoa(v.Windows - 1)}}}
	}
	var last step.Record
	for _, matcher := range tries {
		last, err = p.try(ctx, action{tool: step.SwitchWindow, args: step.Args{Matcher: &matcher}, why: "the window that the intent means"})
		if err != nil || last.Result.Success {
			return err
		}
	}
	return &FailedError{Code: codeStepFailed, Detail: p.understood() + ": " + last.Result.Message}
}
