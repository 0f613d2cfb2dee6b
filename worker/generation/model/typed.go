package model

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// copying are words of clauses that ask to take over what a page shows.
var copying = []string{"copy", "paste", "transcribe", "retype", "same", "shown", "displayed", "given", "above", "below", "appears", "code",
	"kopiere", "kopieren", "uebertrage", "abschreiben", "angezeigt", "angezeigte", "gezeigt", "gezeigte", "gleiche", "gleichen", "selben"}

// computing are words of clauses that ask for a number that has to be found out.
var computing = []string{"sum", "total", "add", "subtract", "multiply", "divide", "calculate", "compute", "solve", "result", "answer",
	"count", "many", "number", "average", "difference", "product", "area", "length", "x",
	"summe", "gesamt", "rechne", "berechne", "ergebnis", "loese", "anzahl", "wieviele", "viele", "zaehle", "durchschnitt"}

// inventing are words of clauses that leave it to others what is typed.
var inventing = []string{"any", "some", "random", "valid", "invalid", "dummy", "example", "sample", "test", "fake", "arbitrary", "your",
	"beliebig", "beliebige", "beliebigen", "irgendein", "irgendeine", "zufaellig", "gueltig", "gueltige", "ungueltig", "beispiel"}

const (
	// maxComputed bounds a number that was found out, and maxInvented a text that was
	// left to the model.
	maxComputed = 20
	maxInvented = 100
)

var computed = regexp.MustCompile(`^[-+]?[0-9][0-9.,:/ %]*$`)

// text checks what is typed, chosen or compared: it must be in the intent, or be what
// the intent asks to take from the page, to find out or to invent.
func (c *check) text(s *snapshot.Snapshot, text string) error {
	for _, r := range references(text) {
		if !slices.Contains(c.variables, r) {
			return refuse("the task names no variable %s", r)
		}
	}
	text, err := step.Expand(text, func(step.Reference) (string, bool) { return " ", true })
	if err != nil {
		return err
	}
	folded := fold(text)
	switch {
	case folded == "", mentionsWords(c.whole.folded, folded), c.allSaid(folded):
		return nil
	case c.clause.says(copying) && shows(s, folded):
		return nil
	case len(folded) <= maxComputed && computed.MatchString(folded) && c.clause.says(computing):
		return nil
	case len(folded) <= maxInvented && c.clause.says(inventing) && !shows(s, folded):
		return nil
	}
	return refuse("%q is not in the task", shorten(text, maxCalled))
}

// references returns the variables of a text.
func references(text string) []step.Reference {
	return step.References([]step.Step{{Tool: step.Tool{Args: step.Args{Text: &text}}}}, "")
}

// mentionsWords reports whether a text has a part between other characters than those of
// words, so that "an" is not found in "Ann".
func mentionsWords(text, part string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(part)
		if (i == 0 || !wordByte(text[i-1]) || !wordByte(part[0])) && (end == len(text) || !wordByte(text[end]) || !wordByte(part[len(part)-1])) {
			return true
		}
		from = i + 1
	}
}

// wordByte is true for bytes of letters beyond ASCII too, except where languages have
// no spaces: there a part of a text is one.
func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b >= 0xc3 && b <= 0xdf
}

// allSaid reports whether each word and number of a text is in the intent: a date, an
// amount or a name in another form. The names of months count as their numbers.
func (c *check) allSaid(folded string) bool {
	words := wordsOf(folded)
	if len(words) == 0 {
		return false
	}
	return !slices.ContainsFunc(words, func(word string) bool {
		return !slices.ContainsFunc(c.whole.words, func(said string) bool { return sameWord(word, said) })
	})
}

func sameWord(word, said string) bool {
	if word == said || month(word) != "" && month(word) == month(said) {
		return true
	}
	if !isNumber(word) {
		return false
	}
	// The third, 3rd; 2016 for 16.
	return month(said) == word || strings.TrimRight(said, "stndrh") == word ||
		len(word) == 4 && len(said) == 2 && strings.HasSuffix(word, said)
}

// months are the names of each, in English and German, in folded letters.
var months = [][]string{{"january", "januar"}, {"february", "februar"}, {"march", "maerz"}, {"april"}, {"may", "mai"}, {"june", "juni"},
	{"july", "juli"}, {"august"}, {"september"}, {"october", "oktober"}, {"november"}, {"december", "dezember"}}

// month returns the number of a month, by its name or the beginning of it; "" for any
// other word.
func month(word string) string {
	if len(word) < 3 {
		return ""
	}
	for i, names := range months {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, word) }) {
			return strconv.Itoa(i + 1)
		}
	}
	return ""
}

// shows reports whether a page shows a text, in an element or a field.
func shows(s *snapshot.Snapshot, folded string) bool {
	return slices.ContainsFunc(s.Nodes, func(n snapshot.Node) bool {
		return strings.Contains(fold(n.Name), folded) || strings.Contains(fold(n.Text), folded) ||
			!n.Password && strings.Contains(fold(n.Value), folded)
	})
}
