package plan

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

const (
	// fewestEchoed is how many words of a sentence make a text repeat it: shorter ones
	// may be names.
	fewestEchoed = 4
	// mostEchoed bounds the characters of a text that may repeat a sentence.
	mostEchoed = 1500
)

// echoes returns the nodes that only repeat what the intent says, such as the task on a
// page of exercises: they are neither used nor read. A part of a sentence must begin as
// a sentence of the intent does, since a name can be long.
func echoes(p *planner, v *view) map[int]bool {
	whole, begins := sentences(p)
	if len(begins) == 0 {
		return nil
	}
	found := map[int]bool{}
	for i := 0; i < len(v.Nodes); i++ {
		n := &v.Nodes[i]
		if n.Interactive || n.Hidden || len(n.Name) < 12 && len(n.Text) < 12 && (n.Role != "" || v.last[i] == i) || v.last[i]-i > 30 {
			continue
		}
		text := " " + joinWords(splitWords(fold(shorten(v.shown(i), mostEchoed)))) + " "
		if !repeats(p, text, whole, begins) || hasControl(v, i) {
			continue
		}
		for j := i; j <= v.last[i]; j++ {
			found[j] = true
		}
		i = v.last[i]
	}
	return found
}

// hasControl reports whether something in a node can be used.
func hasControl(v *view, i int) bool {
	for j := i + 1; j <= v.last[i]; j++ {
		if v.Nodes[j].Interactive {
			return true
		}
	}
	return false
}

func repeats(p *planner, text, whole string, begins []string) bool {
	if strings.Count(text, " ") <= fewestEchoed {
		return false
	}
	for _, sentence := range begins {
		if strings.Contains(text, sentence) {
			return true
		}
		words := strings.Fields(sentence)
		if strings.HasPrefix(text, " "+joinWords(words[:2])+" ") && strings.Contains(whole, text) {
			return true
		}
	}
	return paraphrases(splitWords(text), splitWords(whole)) && asksFor(text)
}

// paraphrases reports whether a text has most of the words of the intent, and not many
// others: the task of the page in other words.
func paraphrases(text, whole []string) bool {
	said, theirs, both := map[string]bool{}, map[string]bool{}, 0
	for _, w := range content(whole) {
		said[stem(w)] = true
	}
	for _, w := range content(text) {
		w = stem(w)
		if said[w] && !theirs[w] {
			both++
		}
		theirs[w] = true
	}
	return both >= fewestEchoed-1 && both*2 >= len(theirs) && both*3 >= len(said)*2
}

// asksFor reports whether a text begins with an instruction.
func asksFor(text string) bool {
	clauses := intent.Read(text, intent.Options{}).Clauses
	return len(clauses) > 0 && len(clauses[0].Readings) > 0 && !asserts(clauses[0])
}

// maxSentences bounds the sentences of an intent that are looked for on a page.
const maxSentences = 50

// sentences returns the words of the intent, and those of its sentences that are long
// enough to be known again.
func sentences(p *planner) (whole string, begins []string) {
	if p.said != nil {
		return p.said[0], p.said[1:]
	}
	whole = " " + joinWords(splitWords(fold(shorten(p.cfg.Intent, 4*mostEchoed)))) + " "
	for _, c := range p.cfg.Clauses {
		words := splitWords(fold(c.Text))
		if len(words) >= fewestEchoed && len(begins) < maxSentences && !asserts(c) {
			begins = append(begins, " "+joinWords(words)+" ")
		}
	}
	p.said = append([]string{whole}, begins...)
	return whole, begins
}

// asserts reports whether a clause is about what the page shows.
func asserts(c intent.Clause) bool {
	return len(c.Readings) > 0 && len(c.Readings[0].Instructions) > 0 && c.Readings[0].Instructions[0].Kind == intent.Assert
}
