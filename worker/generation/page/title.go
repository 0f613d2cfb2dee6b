package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/generation/page/value"
)

var nameClasses = shape.Words("title name subject heading headline label summary event")

// drawnScore says how much a text is drawn as the title of a thing.
func (b *builder) drawnScore(l int) float64 {
	n := &b.Nodes[l]
	score := 0.0
	for up, k := l, 0; up >= 0 && k < 3; up, k = b.X.Parent(up), k+1 {
		if b.Nodes[up].Role == "heading" {
			score += 3
			break
		}
	}
	if n.Bold {
		score += 1.5
	}
	score += float64(min(n.Size, 40)) / 10
	if shape.ClassWord(n, nameClasses) {
		score++
	}
	if n.Tag == "time" || n.Tag == "small" || shape.ClassWord(n, shape.Words("badge tag chip pill avatar initials")) {
		score -= 1.5
	}
	if n.Interactive || n.Role == "link" {
		score += 0.5
	}
	return score
}

// titleColumn returns the column that says best which of the things one is, -1 for none.
func (b *builder) titleColumn(columns []Column, seen [][]seenAttribute) int {
	best, most := -1, 0.0
	for at := range columns {
		texts := map[string]bool{}
		count, wordy, short, long, codes, drawn := 0, 0, 0, 0, 0, 0.0
		for k := range seen {
			for _, a := range seen[k] {
				if a.column != at {
					continue
				}
				count++
				texts[a.Text] = true
				drawn += a.score
				if shape.Worded(a.Text) {
					wordy++
				}
				if utf8.RuneCountInString(a.Text) <= 2 {
					short++
				}
				if len(a.Text) > 80 {
					long++
				}
				if code(a.Text) {
					codes++
				}
				drawn += 0.15 * float64(min(strings.Count(a.Text, " ")+1, 4)) // tags are short
				break
			}
		}
		if count == 0 || wordy*2 < count || drawn < dropped/2 {
			continue
		}
		all, of := float64(len(seen)), float64(count)
		score := 2*of/all + 2*float64(len(texts))/of + drawn/of + 1/float64(1+at) - 2*float64(short)/of - 1.5*float64(long)/of - 1.5*float64(codes)/of
		switch columns[at].Type {
		case Money, Date, Time, Duration, Rating, Number:
			score -= 3
		case State:
			score -= 2
		}
		if best < 0 || score > most+0.01 {
			best, most = at, score
		}
	}
	return best
}

// code reports whether a text is a code: letters and digits in one word.
func code(text string) bool {
	digits := 0
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == ' ':
			return false
		}
	}
	return digits > 1
}

// recordTitle returns by what a thing is called.
func (b *builder) recordTitle(r int, seen []seenAttribute, column int) string {
	node := b.Records[r].Node
	n := &b.Nodes[node]
	if b.groups[b.Records[r].Group].Kind == "calendar" {
		if n.Name != "" && len(n.Name) <= 60 && shape.Worded(n.Name) && len(b.LeavesIn(node, b.X.End(node), 3)) <= 1 {
			return n.Name
		}
		if list := b.LeavesIn(node, b.X.End(node), 1); len(list) > 0 {
			return b.Leaf[list[0]]
		}
		return n.Name
	}
	if n.Label != "" && len(n.Label) <= 60 && n.Role == "article" {
		return shape.WithoutIcons(n.Label)
	}
	for _, a := range seen {
		if column >= 0 && a.column == column {
			return b.titlePart(a, seen)
		}
	}
	for _, a := range seen {
		if shape.Worded(a.Text) && a.score > dropped/2 {
			return b.titlePart(a, seen)
		}
	}
	if len(seen) > 0 {
		return seen[0].Text
	}
	if n.Name != "" {
		return shape.WithoutIcons(n.Name)
	}
	for j := node + 1; j < b.Stop(node); j++ {
		if m := &b.Nodes[j]; m.Name != "" && b.record[j] == r && !m.Hidden {
			return shape.WithoutIcons(m.Name)
		}
	}
	return ""
}

// titlePart returns the title of an attribute: of a cell of several texts the one that is
// drawn as its title.
func (b *builder) titlePart(a seenAttribute, seen []seenAttribute) string {
	best, most := -1, 0.0
	for i, part := range seen {
		if part.column != -1-a.column || a.column < 0 || part.Node == a.Node || !shape.Worded(part.Text) ||
			utf8.RuneCountInString(part.Text) <= 2 {
			continue
		}
		if score := b.drawnScore(part.Node); best < 0 || score > most+0.01 {
			best, most = i, score
		}
	}
	if best >= 0 && b.Nodes[a.Node].Role != "text" {
		return seen[best].Text
	}
	return a.Text
}

// statesOf returns the states of a thing.
func (b *builder) statesOf(r int, seen []seenAttribute, column int) []string {
	node := b.Records[r].Node
	n := &b.Nodes[node]
	var list []string
	add := func(state string) {
		if state != "" && !slices.Contains(list, state) && len(list) < 8 {
			list = append(list, state)
		}
	}
	for token := range strings.FieldsSeq(shape.Lower(n.Class)) {
		for _, word := range []string{token, token[strings.LastIndexAny(token, "-_")+1:], strings.TrimPrefix(token, "is-")} {
			if recordStates[word] {
				add(word)
			}
		}
	}
	if n.Selected == "true" || n.Checked == "true" {
		add("selected")
	}
	if n.Disabled {
		add("disabled")
	}
	add(folded(n.Expanded))
	for j := node + 1; j < b.Stop(node); j++ {
		m := &b.Nodes[j]
		if b.record[j] != r || m.Hidden {
			continue
		}
		switch {
		case m.Role == "checkbox" || m.Role == "switch":
			add(map[string]string{"true": "checked", "false": "unchecked", "mixed": "mixed"}[m.Checked])
		case m.Expanded != "" && (n.Role == "treeitem" || n.Role == "row" || n.Role == "listitem"):
			add(folded(m.Expanded))
		}
	}
	for _, a := range seen {
		if a.Struck && (a.column == column || column < 0) {
			add("struck")
			add("done")
		}
	}
	return list
}

func folded(expanded string) string {
	return map[string]string{"true": "expanded", "false": "collapsed"}[expanded]
}

// recordStates are classes that say how a thing is.
var recordStates = shape.Words(`active selected current checked done completed complete finished open closed collapsed expanded disabled unread read draft late
	overdue new pinned starred featured archived paid unpaid sold unavailable today on`)

// findDayOrder finds out whether dates of this page begin with the day.
func (b *builder) findDayOrder() {
	b.values = &value.Reader{Lang: b.Code, DayFirst: b.Code != "en" || shape.Lower(b.Lang) == "en-gb" || shape.Lower(b.Lang) == "en-au"}
	for _, l := range b.Leaves {
		text := b.Leaf[l]
		if k := strings.IndexByte(text, '/'); k < 1 || len(text) > 30 {
			continue
		}
		list := value.Scan(text, b.Code)
		for k := 0; k+4 < len(list); k++ {
			if list[k].Digits == "" || list[k+1].Text != "/" || list[k+2].Digits == "" || list[k+3].Text != "/" {
				continue
			}
			switch {
			case *list[k].Number > 12 && *list[k].Number < 32:
				b.values.DayFirst = true
				return
			case *list[k+2].Number > 12 && *list[k+2].Number < 32:
				b.values.DayFirst = false
				return
			}
		}
	}
}

// branchTitle returns the text of the item that a list is the branch of; "" where it is none, or the
// item says more than one thing.
func (b *builder) branchTitle(i int) string {
	item := b.X.Parent(i)
	for k := 0; item >= 0 && b.Nodes[item].Role != "listitem" && k < 2; k++ {
		item = b.X.Parent(item)
	}
	if item < 0 || b.Nodes[item].Role != "listitem" {
		return ""
	}
	title := ""
	for _, l := range b.LeavesIn(item, i, shape.MaxLeaves) {
		switch {
		case !shape.Worded(b.Leaf[l]):
		case title != "":
			return ""
		default:
			title = b.Leaf[l]
		}
	}
	return shape.Label(title)
}
