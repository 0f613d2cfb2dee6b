package find

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/word"
)

// maxGone is how many things a test looks for one by one that are to be gone.
const maxGone = 10

// only checks that the subjects are all there is of their list.
func (k *claimer) only() {
	in := map[int]bool{}
	group := -1
	for _, c := range k.e.Subject {
		if c.What == Record {
			in[c.Node] = true
			group = k.m.Records[c.Index].Group
		}
	}
	if k.m.Truncated {
		k.e.Known, k.e.Holds, k.e.Why = false, false, truncated
		return
	}
	if group < 0 {
		k.onlyOfBefore()
		return
	}
	for _, r := range k.seen(group) {
		if rec := &k.m.Records[r]; !in[rec.Node] {
			k.e.Holds = false
			k.e.Why += rec.Title + " is listed too; "
		}
	}
	k.countAll(group)
}

// onlyOfBefore evaluates whether of a list that the page had before only the subjects are left: one
// thing alone is no list any more.
func (k *claimer) onlyOfBefore() {
	group, titles, gone, why := k.titlesBefore()
	if why != "" {
		k.e.Known, k.e.Holds = false, false
		k.e.Why += why
		return
	}
	longest := 0
	for title := range titles {
		longest = max(longest, strings.Count(title, " ")+1)
	}
	for i := range k.m.Lines {
		l := &k.m.Lines[i]
		if k.m.Nodes[l.Node].Hidden {
			continue
		}
		if other := otherIn(wordsIn(l.Text), titles, longest); other != "" {
			k.e.Holds = false
			k.e.Why += other + " is listed too; "
		}
	}
	if len(gone) > maxGone {
		k.countLeft(group)
		return
	}
	for _, title := range gone {
		k.e.Checks = append(k.e.Checks, Check{Kind: "hidden", Node: -1, Group: -1, Text: title})
	}
}

// countLeft checks that as many things stand where the list was as there are subjects.
func (k *claimer) countLeft(group int) {
	check := k.likeBefore(group)
	for i := range k.m.Nodes {
		if n := &k.m.Nodes[i]; check.Role != "" && n.Role == check.Role && !n.Hidden && k.ix.below(i, check.Node) {
			check.Nodes = append(check.Nodes, i)
		}
	}
	if check.Count = len(k.c.Subject); check.Role == "text" || len(check.Nodes) != check.Count {
		k.e.Known, k.e.Holds = false, false
		k.e.Why += "the list had too many others to look for each of them"
		return
	}
	k.e.Checks = append(k.e.Checks, check)
}

// titlesBefore returns the list of before that the subjects are of, what its things were called, true for
// the subjects, and the titles of the others as they were written; or why they cannot be compared.
func (k *claimer) titlesBefore() (group int, titles map[string]bool, gone []string, why string) {
	const unknown = "no list is known that they are all of"
	if k.before == nil {
		return -1, nil, nil, unknown
	}
	group = -1
	left := map[int]bool{}
	titles = map[string]bool{}
	for i := range k.c.Subject {
		f := Description(k.before, &k.c.Subject[i], Want{Kinds: []What{Record}, Lang: k.w.Lang, Within: -1})
		if !f.Clear() || f.Plural {
			return -1, nil, nil, unknown
		}
		r := f.Candidates[0].Index
		if g := k.before.Records[r].Group; g < 0 || group >= 0 && g != group {
			return -1, nil, nil, unknown
		}
		group, left[r] = k.before.Records[r].Group, true
		titles[plainTitle(k.before.Records[r].Title)] = true
	}
	if group < 0 {
		return -1, nil, nil, unknown
	}
	for _, r := range k.before.Groups[group].Records {
		if left[r] {
			continue
		}
		title := plainTitle(k.before.Records[r].Title)
		if title == "" || titles[title] {
			return -1, nil, nil, "what else was in the list has no name of its own"
		}
		titles[title], gone = false, append(gone, k.before.Records[r].Title)
	}
	return group, titles, gone, ""
}

// otherIn returns the first title in the words of a text that is not of a subject, the longest at each
// place: "Green tea" is no "Tea". It is "" without one.
func otherIn(words []string, titles map[string]bool, longest int) string {
	for i := 0; i < len(words); {
		step := 1
		for n := min(longest, len(words)-i); n > 0; n-- {
			title := strings.Join(words[i:i+n], " ")
			subject, ok := titles[title]
			if ok && !subject {
				return title
			}
			if ok {
				step = n
				break
			}
		}
		i += step
	}
	return ""
}

// counted is how a title says how many there are of its thing.
var counted = regexp.MustCompile(`^\d+ ?[x×] | ?[x×] ?\d+$| ?\(\d+\)$`)

// WithoutCount is a title without how many there are of its thing: "Tea" for "2 × Tea".
func WithoutCount(title string) string {
	return counted.ReplaceAllString(strings.TrimSpace(title), "")
}

// plainTitle is a title for comparing, without how many there are of its thing.
func plainTitle(title string) string { return strings.Join(wordsIn(WithoutCount(title)), " ") }

// wordsIn are the words and numbers of a text, folded.
func wordsIn(text string) []string {
	return strings.FieldsFunc(word.Fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
