package sentence

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// redesigned is a page after a change, with the new names of its ids and classes by the old ones.
type redesigned struct {
	page  string
	names map[string]string
}

// redesignFile changes a page of a package, which has no marks that say what can be changed: it is
// found in the markup. What scripts build is left as it is.
func redesignFile(folder fs.FS, name, change string) (redesigned, error) {
	text, err := fs.ReadFile(folder, name)
	if err != nil {
		return redesigned{}, err
	}
	script := func(source string) string {
		source, _, _ = strings.Cut(source, "?")
		if strings.Contains(source, "//") {
			return ""
		}
		text, _ := fs.ReadFile(folder, path.Join(path.Dir(name), source))
		return string(text)
	}
	return redesign(string(text), change, script), nil
}

// redesign changes a page without marks. Its scripts are read by their addresses.
func redesign(text, change string, script func(source string) string) redesigned {
	result := redesigned{page: text}
	if makes(change, IDs, Wrap, Order) {
		root, err := html.Parse(strings.NewReader(text))
		if err != nil {
			return result
		}
		before := written(root)
		if makes(change, IDs) {
			result.names = renameIDs(root, script)
		}
		if makes(change, Order) {
			reverseFields(root)
		}
		if makes(change, Wrap) {
			wrapControls(root)
		}
		if after := written(root); after != before {
			result.page = after
		}
	}
	if makes(change, Theme) {
		result.page = withTheme(result.page)
	}
	return result
}

// written returns the markup of a page.
func written(root *html.Node) string {
	var out strings.Builder
	_ = html.Render(&out, root) // strings do not fail, and what was parsed can be written
	return out.String()
}

// elements returns the elements below a node.
func elements(n *html.Node) (list []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode {
			list = append(list, d)
		}
	}
	return list
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// named are the words of a text that can be an id.
var named = regexp.MustCompile(`[A-Za-z][\w-]*`)

// renameIDs gives the elements other ids, unless a script names the id: it would look for it. It
// returns the new ones by the old ones.
func renameIDs(root *html.Node, script func(source string) string) map[string]string {
	names, fixed := map[string]string{}, map[string]bool{}
	for _, n := range elements(root) {
		if id := attribute(n, "id"); id != "" && named.FindString(id) == id {
			names[id] = renamed(id)
		}
		texts := []string{script(attribute(n, "src"))}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") {
				texts = append(texts, a.Val)
			}
		}
		if n.DataAtom == atom.Script && n.FirstChild != nil {
			texts = append(texts, n.FirstChild.Data)
		}
		for _, text := range texts {
			for _, word := range named.FindAllString(text, -1) {
				fixed[word] = true
			}
		}
	}
	for id := range names {
		if fixed[id] {
			delete(names, id)
		}
	}
	for _, n := range elements(root) {
		for i, a := range n.Attr {
			switch {
			case slices.Contains([]string{"id", "for", "form", "list", "headers"}, a.Key) ||
				strings.HasPrefix(a.Key, "aria-") && a.Key != "aria-label":
				n.Attr[i].Val = renameWords(a.Val, names)
			case a.Key == "href" || strings.HasPrefix(a.Key, "data-"):
				n.Attr[i].Val = rename(a.Val, names)
			}
		}
		if n.DataAtom == atom.Style && n.FirstChild != nil {
			n.FirstChild.Data = rename(n.FirstChild.Data, names)
		}
	}
	return names
}

// renameWords renames those words of a list of ids that have new names.
func renameWords(text string, names map[string]string) string {
	words := strings.Fields(text)
	for i, w := range words {
		if to, ok := names[w]; ok {
			words[i] = to
		}
	}
	return strings.Join(words, " ")
}

// selected is where a selector or a script names an id or a class.
var selected = regexp.MustCompile("(#|(?:^|['\"\\s,>])\\.|getElementById\\(['\"`]|@id=['\"]|contains\\(@class,['\"])([A-Za-z][\\w-]*)")

// rename renames the ids and classes in selectors, or in the texts that have some.
func rename(text string, names map[string]string) string {
	return selected.ReplaceAllStringFunc(text, func(s string) string {
		m := selected.FindStringSubmatch(s)
		if to, ok := names[m[2]]; ok {
			return m[1] + to
		}
		return s
	})
}

// reverseFields reverses neighbours that are a field each: one control with what is around it.
// Rows of tables are data.
func reverseFields(root *html.Node) {
	for _, parent := range elements(root) {
		if parent.DataAtom == atom.Tbody || parent.DataAtom == atom.Tr || parent.DataAtom == atom.Table {
			continue
		}
		var run []*html.Node
		for c := parent.FirstChild; ; c = c.NextSibling {
			if c != nil && c.Type != html.ElementNode {
				continue
			}
			if c != nil && isField(c) {
				run = append(run, c)
				continue
			}
			reverse(parent, run)
			run = nil
			if c == nil {
				break
			}
		}
	}
}

// isField reports whether an element has one control, and a label of its own.
func isField(n *html.Node) bool {
	controls, labels := 0, 0
	for _, e := range append(elements(n), n) {
		switch {
		case e.DataAtom == atom.Input && attribute(e, "type") == "hidden":
		case e.DataAtom == atom.Input, e.DataAtom == atom.Select, e.DataAtom == atom.Textarea:
			controls++
		case e.DataAtom == atom.Label:
			labels++
		}
	}
	return controls == 1 && labels == 1
}

// reverse puts children in their reverse order, each in the place of another one.
func reverse(parent *html.Node, run []*html.Node) {
	places := make([]*html.Node, len(run)) // what comes behind each
	for i, n := range run {
		places[i] = &html.Node{Type: html.CommentNode}
		parent.InsertBefore(places[i], n)
		parent.RemoveChild(n)
	}
	for i, n := range run {
		at := places[len(run)-1-i]
		parent.InsertBefore(n, at)
		parent.RemoveChild(at)
	}
}

// wrapControls puts more elements around the page, and one around each control that is written
// into or pressed, where it stands in running content.
func wrapControls(root *html.Node) {
	for _, n := range elements(root) {
		switch n.DataAtom {
		case atom.Input, atom.Select, atom.Textarea, atom.Button:
			if !slices.Contains([]string{"checkbox", "radio", "hidden", "file"}, attribute(n, "type")) && holdsContent(n.Parent) {
				wrap("span", n.Parent, []*html.Node{n})
			}
		case atom.Body:
			wrap("div", n, slices.Collect(n.ChildNodes()))
		}
	}
}

// holdsContent reports whether an element may have any other one in it.
func holdsContent(n *html.Node) bool {
	return slices.Contains([]atom.Atom{atom.Div, atom.Form, atom.P, atom.Td, atom.Label, atom.Section, atom.Main, atom.Header, atom.Footer,
		atom.Span, atom.Li, atom.Nav, atom.Article}, n.DataAtom)
}

// wrap puts an element around children that stand beside each other.
func wrap(tag string, parent *html.Node, children []*html.Node) {
	if len(children) == 0 {
		return
	}
	shell := &html.Node{Type: html.ElementNode, Data: tag, DataAtom: atom.Lookup([]byte(tag)),
		Attr: []html.Attribute{{Key: "class", Val: "shell"}}}
	parent.InsertBefore(shell, children[0])
	for _, c := range children {
		parent.RemoveChild(c)
		shell.AppendChild(c)
	}
}

// redesigned returns the page of a pair after a change.
func (s *Site) redesigned(p *Pair, change string) redesigned {
	name, ok := strings.CutPrefix(p.Page, "/npm/")
	if ok {
		result, err := redesignFile(s.files, name, change)
		if err == nil {
			return result
		}
	}
	text, err := fs.ReadFile(s.set.pages, strings.TrimPrefix(p.Page, "/"))
	if err != nil {
		return redesigned{}
	}
	result := redesigned{page: changed(string(text), change, p.Target), names: map[string]string{}}
	if makes(change, Theme) {
		result.page = withTheme(result.page)
	}
	if makes(change, IDs) {
		for _, m := range word.FindAllStringSubmatch(string(text), -1) {
			result.names[m[1]] = renamed(m[1])
		}
	}
	return result
}

// changes reports whether a change changes the page of a pair at all.
func (s *Site) changes(p *Pair, change string) bool {
	return s.redesigned(p, change).page != s.redesigned(p, Plain).page
}

// renamed returns a pair whose oracle and solution have the ids and classes that its page has after
// a change.
func (s *Site) renamed(p *Pair, change string) (*Pair, error) {
	names := s.redesigned(p, change).names
	if len(names) == 0 {
		return p, nil
	}
	other := *p
	other.Oracle = rename(p.Oracle, names)
	text, err := json.Marshal(p.Solution)
	if err != nil {
		return nil, err
	}
	other.Solution = nil
	return &other, json.Unmarshal([]byte(rename(string(text), names)), &other.Solution)
}
