package plan

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// opener is something that can be opened safely to look what is behind it.
type opener struct {
	index int
	rank  float64 // the highest is opened first
	tool  string
	turns bool // it turns a page or scrolls
}

// explore opens one thing after another, what sounds like the phrase first, and looks
// whether what is looked for came.
func (s *search) explore(ctx context.Context) error {
	mark := s.p.mark()
	for opened, scrolled := 0, 0; opened < mostOpened && scrolled < mostScrolled && time.Now().Before(s.end); {
		v, err := s.p.look(ctx)
		if err != nil {
			return err
		}
		err = s.found(v)
		next, ok := s.next(v)
		if !isMissing(err) || !ok {
			return err
		}
		ref := ""
		if next.index >= 0 {
			ref = v.Nodes[next.index].Ref
		}
		if next.tool == step.Click || next.tool == step.Hover {
			opened++
		} else {
			scrolled++
		}
		before := v
		counted := s.countable(v, next)
		if err := s.open(ctx, next.tool, ref, next.turns); err != nil {
			return s.bounded(err, mark)
		}
		v, err = s.p.look(ctx)
		if err != nil {
			return err
		}
		s.countOn(v, counted)
		if err = s.check(ctx); !isMissing(err) {
			return err
		}
		// A page may be turned again for as long as it shows something else.
		if !next.turns || !showsElse(before, v) {
			s.tried[s.keyOf(before, next)] = true
		}
	}
	v, err := s.p.look(ctx)
	if err != nil {
		return err
	}
	return s.found(v)
}

// countable returns the refs and texts of what is counted on a page of several, when the phrase
// has a number ("the eighth result") and the page is about to be turned.
func (s *search) countable(v *view, next opener) []string {
	if s.phrase.Ordinal < 1 || !next.turns || next.tool != step.Click {
		return nil
	}
	one := *s.phrase
	one.Ordinal = 0
	var refs []string
	for _, c := range v.each(meant(v, s.p.rankingOf(v, s.w).rank(&one), &one)) {
		refs = append(refs, v.Nodes[c.index].Ref+" "+v.shown(c.index))
	}
	return refs
}

// countOn goes on counting on the next page, where what was counted is gone.
func (s *search) countOn(v *view, counted []string) {
	if len(counted) == 0 || len(counted) >= s.phrase.Ordinal {
		return
	}
	for _, item := range counted {
		ref, text, _ := strings.Cut(item, " ")
		if n := v.node(ref); n != nil && !n.Hidden && v.shown(v.find(ref)) == text {
			return // the list got longer
		}
	}
	s.phrase.Ordinal -= len(counted)
}

// bounded is the error of a search that used up the steps of the test: it has not
// found what it looked for.
func (s *search) bounded(err error, mark int) error {
	if failed, ok := err.(*FailedError); ok && failed.Code == codeMaxSteps {
		s.p.drop(mark, nil)
		return missingError{s.p.notUnderstood("nothing on the page is " + describePhrase(s.phrase)).(*NotUnderstoodError)}
	}
	return err
}

// keyOf names an opener, to try it once. What stands for the same page in a row of
// numbers is another one each time.
func (s *search) keyOf(v *view, o opener) string {
	if o.index < 0 {
		return o.tool
	}
	if pageNumber(v, o.index) {
		return "page " + v.Nodes[o.index].Name
	}
	return o.tool + " " + v.Nodes[o.index].Ref
}

// next returns what to open next.
func (s *search) next(v *view) (opener, bool) {
	var words []string
	for _, name := range append([]string{s.phrase.Name}, relationNames(s)...) {
		for _, w := range content(splitWords(fold(name))) {
			words = append(words, stem(w))
		}
	}
	var list []opener
	modal := blocking(s.p, v)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden || n.Disabled || modal >= 0 && !v.inside(i, modal) {
			continue
		}
		o, ok := openerAt(v, i)
		if n.Role == "tab" && n.Selected == "true" { // it has been looked into
			s.tried[s.keyOf(v, o)] = true
		}
		if !ok || s.tried[s.keyOf(v, o)] || s.tried["reveal "+n.Ref] {
			continue
		}
		for _, w := range splitWords(fold(n.Name)) {
			if slices.Contains(words, stem(w)) {
				o.rank += 2
			}
		}
		list = append(list, o)
	}
	if o := (opener{-1, 0, step.ScrollDocument, true}); !s.tried[s.keyOf(v, o)] {
		list = append(list, o)
	}
	if len(list) == 0 {
		return opener{}, false
	}
	return slices.MaxFunc(list, func(a, b opener) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.index, a.index))
	}), true
}

func relationNames(s *search) []string {
	var names []string
	for i := range s.phrase.Relations {
		names = append(names, s.phrase.Relations[i].Name)
	}
	return names
}

// openerAt returns how a node is opened, if that is safe: it opens or closes a part of
// the page, switches a tab, or turns pages. Nothing that might delete, send or pay is.
func openerAt(v *view, i int) (opener, bool) {
	n := &v.Nodes[i]
	switch {
	case strings.Contains(n.Scrolls, "y") && !n.Editable && n.Tag != "html" && n.Tag != "body":
		return opener{i, 1, step.ScrollElement, true}, true
	case !n.Interactive && n.Tag != "summary" || n.Editable || n.Tag == "select" || n.Role == "combobox":
		return opener{}, false
	case turnsPage(n):
		return opener{i, 1.5, step.Click, true}, !inWizard(v, i)
	case leads(n):
		return opener{}, false
	case n.Role == "tab":
		return opener{i, 3.5, step.Click, false}, n.Selected != "true"
	case n.Expanded == "false", n.Tag == "summary" && n.Expanded == "":
		return opener{i, 4, step.Click, false}, true
	case n.Expanded == "true", unsafe(n):
		return opener{}, false
	case n.Popup == "true" || n.Popup == "menu" || n.Popup == "tree":
		return opener{i, 2.5, step.Click, false}, true
	case !nativeRole(n.Role) && slices.ContainsFunc(n.Hints, opensByHint):
		return opener{i, 3, step.Click, false}, true
	case bareTab(v, i):
		return opener{i, 3.2, step.Click, false}, true
	case n.Role == "heading" && v.bareSwitch(n):
		return opener{i, 2.8, step.Click, false}, true
	case pageNumber(v, i):
		return opener{i, 1.4, step.Click, false}, true
	default:
		return opener{}, false
	}
}

// opensByHint reports whether those who wrote a page call a thing so that opens a part
// of it.
func opensByHint(hint string) bool {
	for _, word := range []string{"accordion", "collaps", "expand", "toggle", "caret", "chevron", "disclosure", "hitarea", "twisty", "submenu", "dropdown"} {
		if strings.Contains(strings.ToLower(hint), word) {
			return true
		}
	}
	return false
}

// leads reports whether a link goes to another page.
func leads(n *snapshot.Node) bool {
	return n.Href != "" && !strings.HasPrefix(n.Href, "#") && !strings.HasPrefix(strings.ToLower(n.Href), "javascript:") && !strings.Contains(n.Href, "#")
}

// hovers reports whether an element opens something under the pointer.
func hovers(n *snapshot.Node) bool {
	return strings.Contains(n.Reacts, "hover") || n.Role == "menuitem" && n.Popup != ""
}

// turnsPage reports whether an element shows the next of several pages, or more of a
// list.
func turnsPage(n *snapshot.Node) bool {
	for _, name := range []string{n.Name, n.Title} {
		if slices.Contains(nextWords, strings.TrimSpace(fold(name))) {
			return true
		}
	}
	return false
}

// inWizard reports whether a button stands in a form with fields or a dialog, where
// "next" hands something in.
func inWizard(v *view, i int) bool {
	form := v.around(i, "form", "dialog", "alertdialog")
	return form >= 0 && len(v.within(form, func(n *snapshot.Node) bool { return n.Editable && !n.Hidden })) > 0
}

// unsafe reports whether the name of an element says that it does something that
// cannot be undone.
func unsafe(n *snapshot.Node) bool {
	for _, w := range splitWords(fold(n.Name + " " + n.Title)) {
		if slices.Contains(unsafeWords, w) {
			return true
		}
	}
	return n.Type == "submit" && n.Tag == "input"
}
