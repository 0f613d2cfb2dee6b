package model

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// check decides which calls of a model have to do with the clause. What a page says may
// have decided them: the rules look at the clause, and at what the page is, not at what
// it says or at the reasons that come with a call.
type check struct {
	clause, whole *vocabulary
	variables     []step.Reference // those that the intent names
	addresses     string           // the intent in lower case, for addresses in it
	origin        *url.URL
}

func newCheck(clause, whole, testURL string) *check {
	all := whole + "\n" + clause
	c := &check{clause: read(clause), whole: read(all), variables: references(all), addresses: strings.ToLower(all)}
	c.origin, _ = url.Parse(testURL) // one that cannot be parsed is the origin of nothing
	return c
}

// refusal is a call that was not executed, and why.
type refusal struct{ why string }

func (e *refusal) Error() string { return e.why }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// act checks an action on an element.
func (c *check) act(s *snapshot.Snapshot, at int) error {
	n := &s.Nodes[at]
	if what := c.clause.unasked(actionNames(n)...); what != "" {
		return refuse("the task does not ask to %s, so %s is not used", what, describe(n))
	}
	// What lies in an element is what people call it by, and what it lies in does what it
	// does: a label in a button.
	for parent, depth := n.Parent, 0; parent >= 0 && depth < maxAround; parent, depth = s.Nodes[parent].Parent, depth+1 {
		p := &s.Nodes[parent]
		if !p.Interactive || !slices.Contains(actingRoles, p.Role) {
			continue
		}
		if what := c.clause.unasked(actionNames(p)...); what != "" {
			return refuse("the task does not ask to %s, so %s is not used", what, describe(p))
		}
	}
	if c.related(s, at) || opens(n) || c.picks(n) || c.clause.asked(actionNames(n)...) {
		return nil
	}
	return refuse("%s has nothing to do with the task", describe(n))
}

// maxAround bounds the elements around one that are looked at.
const maxAround = 6

// actingRoles do something when anything in them is clicked.
var actingRoles = []string{"button", "link", "menuitem"}

// groupingRoles are roles of what people name to say which of several they mean.
var groupingRoles = []string{"row", "listitem", "article", "option", "treeitem", "gridcell", "cell"}

// related reports whether an element, or the row or item that it is in, has something
// in common with the intent.
func (c *check) related(s *snapshot.Snapshot, at int) bool {
	n := &s.Nodes[at]
	names := []string{n.Name, n.Text, n.Label, n.Placeholder, n.Title, n.Description, n.TestID, n.ID, n.NameAttr,
		strings.Join(n.Hints, " "), n.RowHeader, n.ColumnHeader}
	for _, look := range n.Style {
		names = append(names, look)
	}
	if !n.Editable {
		names = append(names, n.Value)
	}
	for parent, depth := n.Parent, 0; parent >= 0 && depth < maxAround; parent, depth = s.Nodes[parent].Parent, depth+1 {
		p := &s.Nodes[parent]
		if slices.Contains(groupingRoles, p.Role) {
			names = append(names, p.Name, p.Text)
		}
	}
	return slices.ContainsFunc(names, c.whole.shares)
}

// openers are what elements are called that show more of a page and do nothing else.
var openers = []string{"next", "previous", "prev", "back", "more", "menu", "open", "show", "expand", "collapse", "details", "view",
	"browse", "all", "see", "continue", "forward", "load", "toggle", "filter", "sort", "scroll",
	"weiter", "zurueck", "vor", "mehr", "menue", "oeffnen", "anzeigen", "zeigen", "details", "ausklappen", "alle", "filtern", "sortieren"}

// openingRoles are roles of elements that show something, or of things to be moved.
var openingRoles = []string{"combobox", "tab", "treeitem", "disclosuretriangle", "slider", "spinbutton", "scrollbar", "textbox", "searchbox"}

// opens reports whether an element shows more of a page: a menu, a section, the next
// page. A name without a letter is a symbol: an arrow, dots, a number of a page.
func opens(n *snapshot.Node) bool {
	if n.Expanded != "" || n.Popup != "" || n.Editable || slices.Contains(openingRoles, n.Role) || n.Tag == "summary" {
		return true
	}
	name := fold(n.Name + " " + n.Text)
	if strings.IndexFunc(name, unicode.IsLetter) < 0 {
		return !slices.Contains(pickedRoles, n.Role) && !hasNumber(name)
	}
	words := wordsOf(fold(n.Name))
	return len(words) > 0 && len(words) <= maxVerbWords && slices.Contains(openers, words[0])
}

func hasNumber(text string) bool { return strings.IndexFunc(text, unicode.IsDigit) >= 0 }

// pickedRoles are roles of what is chosen, and changes nothing else.
var pickedRoles = []string{"option", "checkbox", "radio", "switch", "menuitemradio", "menuitemcheckbox", "treeitem", "gridcell", "cell",
	"row", "listitem", "link", "text", "img", "heading", "article", "generic", ""}

// picks reports whether the clause describes what it means, so that its name alone
// says nothing, and the element is one to be chosen.
func (c *check) picks(n *snapshot.Node) bool {
	return slices.Contains(pickedRoles, n.Role) && c.clause.describes()
}

// harmlessKeys are those that move, open and close.
var harmlessKeys = []string{"Tab", "Escape", "Space", "Home", "End", "PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight",
	"Backspace", "Control+a", "Control+Home", "Control+End", "Shift+Tab", "Shift+ArrowLeft", "Shift+ArrowRight"}

// press checks a key: one that moves, or one that the clause names.
func (c *check) press(key string) error {
	if slices.Contains(harmlessKeys, key) {
		return nil
	}
	last := key[strings.LastIndexByte(key, '+')+1:]
	if last == "Enter" && c.clause.says(committing) {
		return nil
	}
	if named := fold(last); named != "" && slices.Contains(c.clause.words, named) {
		return nil
	}
	return refuse("the task does not ask for the key %s", shorten(key, maxCalled))
}

// dialog checks the answer to a dialog of the browser.
func (c *check) dialog(d *snapshot.Dialog, action string) error {
	if d == nil {
		return errors.New("there is no dialog")
	}
	if action != "accept" {
		return nil
	}
	words := wordsOf(fold(d.Text[:min(len(d.Text), maxCalled)]))
	for _, word := range words {
		if what := c.clause.unasked(word); what != "" && what != "submit" {
			return refuse("the task does not ask to %s, so the dialog is not accepted", what)
		}
	}
	return nil
}

// open checks an address: that of the test, or one that the intent names.
func (c *check) open(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.Contains(address, "{{") || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil {
		return errors.New("url must be an absolute http or https address")
	}
	if c.origin != nil && u.String() == c.origin.String() {
		return nil
	}
	host := strings.ToLower(u.Host)
	same := c.origin != nil && strings.EqualFold(u.Host, c.origin.Host) && u.Scheme == c.origin.Scheme
	path := strings.ToLower(u.EscapedPath())
	if u.RawQuery != "" {
		path += "?" + strings.ToLower(u.RawQuery)
	}
	switch {
	case same && len(path) > 1 && mentions(c.addresses, path, true):
		return nil
	case len(path) <= 1 && mentions(c.addresses, host, false), mentions(c.addresses, host+path, true):
		return nil
	}
	return refuse("the task names no such address; use the page's own links")
}

// mentions reports whether a text has a part of an address that does not go on before
// it, nor after it; unless whole is set, a path may follow.
func mentions(text, part string, whole bool) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(part)
		if (i == 0 || !addressByte(text[i-1])) && endsAddress(text[end:], whole) {
			return true
		}
		from = i + 1
	}
}

// endsAddress reports whether an address ends before a text: with a space, or a mark
// after which a sentence goes on, or a slash that ends it.
func endsAddress(text string, whole bool) bool {
	if strings.HasPrefix(text, "/") {
		return !whole || endsAddress(text[1:], false)
	}
	text = strings.TrimLeft(text, ".:?,;!")
	return text == "" || !addressByte(text[0])
}

func addressByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || strings.IndexByte("-._~%@:?=&", b) >= 0
}

// describe names an element for a model.
func describe(n *snapshot.Node) string {
	name := n.Name
	if name == "" {
		name = n.Text
	}
	role := n.Role
	if role == "" {
		role = n.Tag
	}
	if len(name) > maxCalled {
		name = strings.ToValidUTF8(name[:maxCalled], "") + "..."
	}
	return fmt.Sprintf("%s %q [ref=%s]", role, name, n.Ref)
}
