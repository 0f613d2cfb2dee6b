package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/generation/page/value"
)

// radios makes one field of the radio buttons of a set.
func (b *builder) radios() {
	sets, order := map[string][]int{}, []string{}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		boxed := n.Role == "checkbox" && b.X.Around(i, "radiogroup") >= 0
		if n.Role != "radio" && n.Role != "menuitemradio" && !boxed || n.Hidden && n.Opener == "" || b.field[i] >= 0 {
			continue
		}
		key := ""
		if g := b.X.Around(i, "radiogroup"); g >= 0 {
			key = fmt.Sprint("g", g)
		} else if n.NameAttr != "" {
			key = fmt.Sprint("n", n.NameAttr, "/", b.X.Around(i, "form"))
		} else {
			up := b.X.Parent(i)
			for k := 0; up >= 0 && k < 4 && b.X.End(up)-up < 12 && b.onlyRadio(up); k++ {
				up = b.X.Parent(up)
			}
			key = fmt.Sprint("p", up)
		}
		if sets[key] == nil {
			order = append(order, key)
		}
		sets[key] = append(sets[key], i)
	}
	for _, key := range order {
		if set := sets[key]; len(set) == 1 && b.Nodes[set[0]].Name == "" && b.Nodes[set[0]].Label == "" && len(b.Nodes[set[0]].Shadow) > 0 {
			continue // what a group of custom elements keeps to be checked by the browser: its own options are others
		}
		if k := b.addChoice(sets[key], "choice"); k >= 0 {
			b.asRating(k)
		}
	}
}

// asRating makes a rating of a choice whose options are one to so many stars.
func (b *builder) asRating(k int) {
	f := &b.Fields[k]
	if len(f.Options) < 3 || len(f.Options) > 10 {
		return
	}
	starred, chosen := shape.Hinted(&b.Nodes[f.Node], starWords), 0
	for i, o := range f.Options {
		numbers := 0
		for _, p := range value.Scan(o.Label+" "+o.Value, b.Code) {
			if p.Number != nil && int(*p.Number) == i+1 {
				numbers++
			}
			if p.Word {
				starred = starred || starWords[shape.Lower(p.Text)] || lexicon.Means(p.Text, "", "star")
			}
		}
		if numbers == 0 {
			return
		}
		starred = starred || shape.Hinted(&b.Nodes[o.Node], starWords) || strings.ContainsAny(o.Label, "★☆")
		if o.Selected {
			chosen = i + 1
		}
	}
	if !starred {
		return
	}
	f.Kind, f.Value = "rating", fmt.Sprint(chosen)
	for i := range f.Options {
		if f.Options[i].Value == "" {
			f.Options[i].Value = f.Options[i].Label
		}
		f.Options[i].Label = fmt.Sprint(i + 1)
	}
}

// onlyRadio reports whether a node is around one radio button.
func (b *builder) onlyRadio(i int) bool {
	count := 0
	for j := i + 1; j < b.Stop(i); j++ {
		if b.Nodes[j].Role == "radio" {
			count++
		}
	}
	return count == 1
}

// addChoice adds the field of which some nodes are the options.
func (b *builder) addChoice(nodes []int, kind string) int {
	around := nodes[0]
	for _, i := range nodes[1:] {
		around = b.X.Common(around, i)
	}
	if around < 0 {
		around = nodes[0]
	}
	f := Field{Node: around, Kind: kind, Names: b.choiceNames(around, nodes), Required: b.Nodes[nodes[0]].Required}
	if b.field[around] >= 0 {
		f.Node = nodes[0]
	}
	var chosen []string
	for _, i := range nodes {
		n := &b.Nodes[i]
		o := Option{Label: b.choiceLabel(i), Value: n.Value, Node: i, Disabled: n.Disabled,
			Selected: n.Checked == "true" || n.Selected == "true" || n.Checked == "" && n.Selected == "" &&
				(shape.ClassWord(n, shape.ChosenWords) || b.entryChosen(i))}
		if o.Selected {
			chosen = append(chosen, o.Label)
		}
		f.Options = append(f.Options, o)
	}
	f.Value = strings.Join(chosen, ", ")
	if !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Label != "" }) {
		return -1
	}
	return b.addField(f)
}

// entryChosen reports whether the entry of a list whose only control a node is is marked as
// chosen.
func (b *builder) entryChosen(i int) bool {
	up := b.X.Parent(i)
	return up >= 0 && b.Nodes[up].Role == "listitem" && shape.ClassWord(&b.Nodes[up], shape.ChosenWords)
}

// onlyControl returns the first control in a node, -1 without one.
func (b *builder) onlyControl(i int) int {
	for j := i + 1; j < b.Stop(i); j++ {
		if b.control[j] >= 0 && !b.Nodes[j].Hidden {
			return j
		}
	}
	return -1
}

func (b *builder) choiceLabel(i int) string {
	if n := &b.Nodes[i]; n.Name != "" {
		return shape.WithoutIcons(n.Name)
	}
	if text := b.TextOf(i); text != "" {
		return text
	}
	return shape.Label(b.nearText(i))
}

// choiceNames returns what a set of options is called: by its own element, the legend, or the
// text before the first.
func (b *builder) choiceNames(around int, nodes []int) []string {
	var names []string
	add := func(text string) {
		if text = shape.Label(shape.WithoutIcons(text)); text != "" && len(text) <= maxLabel && !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	if n := &b.Nodes[around]; n.Role != "" && n.Role != "row" && n.Role != "listitem" && !shape.CellRoles[n.Role] {
		add(n.Name)
	}
	add(b.cellLabel(nodes[0]))
	add(b.Nodes[around].Label)
	if text := b.textBefore(nodes[0]); text != "" && (text[0] < '0' || text[0] > '9') { // no counter
		add(text)
	}
	if around != nodes[0] {
		add(b.textBefore(around))
	}
	if name := b.Nodes[nodes[0]].NameAttr; readable(name) {
		add(name)
	}
	return names
}

// segments makes one field of buttons beside each other of which one is chosen.
func (b *builder) segments() {
	for i := range b.Nodes {
		kids := b.X.Children(i)
		if len(kids) < 2 || len(kids) > 40 || b.Nodes[i].Hidden || b.X.Around(i, "tablist", "navigation", "menu",
			"menubar", "listbox", "tree") >= 0 {
			continue
		}
		if shape.ClassWord(&b.Nodes[i], shape.NavWords) || b.Nodes[i].Role == "row" {
			continue
		}
		var nodes []int
		chosen, pressed := 0, 0
		for _, j := range kids {
			if b.control[j] < 0 && b.SingleControl(j) {
				j = b.onlyControl(j)
			}
			if j < 0 {
				continue
			}
			n := &b.Nodes[j]
			if b.control[j] < 0 || b.field[j] >= 0 || n.Href != "" && n.Href[0] != '#' || b.member[j] >= 0 ||
				b.Controls[b.control[j]].Role == "tab" || len(b.LeavesIn(j, b.X.End(j), 4)) > 3 {
				continue
			}
			if len(nodes) > 0 && (b.Nodes[nodes[0]].Tag != n.Tag || shape.KindClass(b.Nodes[nodes[0]].Class) != shape.KindClass(n.Class)) {
				continue
			}
			nodes = append(nodes, j)
			if n.Checked == "true" || n.Selected == "true" || shape.ClassWord(n, shape.ChosenWords) || b.X.Parent(j) != i &&
				shape.ClassWord(&b.Nodes[b.X.Parent(j)], shape.ChosenWords) {
				chosen++
			}
			if n.Checked != "" {
				pressed++
			}
		}
		switch {
		case len(nodes) < 2:
		case pressed == len(nodes) && chosen != 1:
			if b.Nodes[i].Role == "group" {
				b.addChoice(nodes, "choices")
			}
		case chosen == 1:
			b.addChoice(nodes, "choice")
		}
	}
}

var starWords = shape.Words("star stars rating rate rater")

// ratings finds rows of stars.
func (b *builder) ratings() {
	for i := range b.Nodes {
		kids := b.X.Children(i)
		if len(kids) < 3 || len(kids) > 22 || b.Nodes[i].Hidden {
			continue
		}
		var nodes []int
		coded := shape.Hinted(&b.Nodes[i], starWords)
		for _, j := range kids {
			if n := &b.Nodes[j]; b.starlike(j, coded) && n.Box[2] <= 60 && n.Box[3] <= 60 {
				nodes = append(nodes, j)
			}
		}
		if len(nodes) < 3 || len(nodes) > 10 || len(nodes)*2 < len(kids) && !coded || b.field[i] >= 0 {
			continue
		}
		b.addRating(i, nodes)
	}
}

func (b *builder) starlike(j int, coded bool) bool {
	n := &b.Nodes[j]
	text := strings.TrimSpace(n.Name + n.Text)
	if strings.ContainsAny(text, "★☆⭐") {
		return true
	}
	return coded && (n.Role == "radio" || n.Interactive || shape.Hinted(n, starWords) || n.Role == "img") ||
		shape.Hinted(n, starWords) && !shape.Worded(b.Leaf[j]) && (n.Role == "img" || n.Interactive || n.Role == "radio")
}

func (b *builder) addRating(around int, nodes []int) {
	full, usable := 0, 0
	f := Field{Node: around, Kind: "rating"}
	checked := 0
	for k, j := range nodes {
		n := &b.Nodes[j]
		if n.Interactive || n.Role == "radio" || n.Role == "button" {
			usable++
		}
		if n.Checked == "true" {
			checked = k + 1
		}
		if b.starOn(j) {
			full++
		}
		f.Options = append(f.Options, Option{Label: fmt.Sprint(k + 1), Value: shape.WithoutIcons(n.Name), Node: j})
	}
	if checked > 0 {
		full = checked
	}
	f.Value = fmt.Sprint(full)
	if full > 0 {
		f.Options[full-1].Selected = true
	}
	f.ReadOnly = usable == 0
	f.Names = b.choiceNames(around, nodes)
	b.addField(f)
}

var (
	starOnWords  = shape.Words("on active filled full selected checked fill solid yellow lit")
	starOffWords = shape.Words("off empty outline void half")
)

func (b *builder) starOn(j int) bool {
	n := &b.Nodes[j]
	text := n.Name + n.Text
	switch {
	case strings.Contains(text, "★"):
		return !shape.ClassWord(n, starOffWords)
	case strings.Contains(text, "☆"):
		return false
	}
	return shape.Hinted(n, starOnWords) && !shape.Hinted(n, starOffWords)
}

// steppers finds the buttons that make a number less and more.
func (b *builder) steppers() {
	for k := range b.Controls {
		less := &b.Controls[k]
		if !b.named(less, "decrease", "minus", "-", "−", "–") || k+1 >= len(b.Controls) {
			continue
		}
		for m := k - 1; m <= k+2 && m < len(b.Controls); m++ {
			if m < 0 || m == k || !b.named(&b.Controls[m], "increase", "add", "plus", "+") {
				continue
			}
			more := &b.Controls[m]
			around := b.X.Common(less.Node, more.Node)
			if around < 0 || b.record[less.Node] != b.record[more.Node] || b.X.End(around)-around > 14 {
				continue
			}
			b.addStepper(around, k, m)
			break
		}
	}
}

func (b *builder) named(c *Control, names ...string) bool {
	if !c.Icon {
		return false
	}
	for _, n := range c.Names {
		if slices.Contains(names, shape.Lower(n.Text)) {
			return true
		}
	}
	return false
}

// alsoCalled adds what the place of a control says that it is.
func (b *builder) alsoCalled(k int, name string) {
	c := &b.Controls[k]
	if !slices.ContainsFunc(c.Names, func(n Name) bool { return n.Text == name }) {
		c.Names = append(c.Names, Name{Text: name, From: "icon"})
	}
}

// addStepper notes two buttons for the field between them, or makes a field of the number.
func (b *builder) addStepper(around, less, more int) {
	b.alsoCalled(less, "decrease")
	b.alsoCalled(more, "increase")
	for j := around; j < b.Stop(around); j++ {
		if f := b.field[j]; f >= 0 && (b.Fields[f].Kind == "number" || b.Fields[f].Kind == "text") && b.Fields[f].Node == j {
			b.Fields[f].Less, b.Fields[f].More = less, more
			b.Fields[f].Kind = "number"
			return
		}
	}
	for _, l := range b.LeavesIn(around, b.X.End(around), 10) {
		if list := value.Scan(b.Leaf[l], b.Code); len(list) == 1 && list[0].Number != nil && b.field[l] < 0 {
			f := Field{Node: l, Kind: "number", Value: b.Leaf[l], Less: less, More: more, Names: b.choiceNames(around,
				[]int{min(b.Controls[less].Node, l)})}
			b.addField(f)
			return
		}
	}
}
