package tagger

import (
	"hash/fnv"
	"strconv"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// feature is the hash of what is seen at a word.
type feature = uint32

// extractor collects features.
type extractor struct {
	list  []word
	nouns bool // all nouns have a capital letter
	out   []feature
}

func newExtractor(tokens []intent.Token, lang string) *extractor {
	return &extractor{list: words(tokens, lang), nouns: lexicon.Language(lang).Capitals}
}

func (x *extractor) add(parts ...string) {
	h := fnv.New32a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	x.out = append(x.out, h.Sum32())
}

// at returns the word at i, or one that stands for the end of the text.
func (x *extractor) at(i int) *word {
	if i < 0 || i >= len(x.list) {
		return &border
	}
	return &x.list[i]
}

var border = word{Token: intent.Token{Fold: "<>"}, shape: "<>"}

// key is the word as features have it: numbers and quotations are all the same.
func (w *word) key() string {
	switch w.Kind {
	case intent.TokenNumber, intent.TokenQuote, intent.TokenCode:
		return "<" + string(w.Kind) + ">"
	}
	return w.Fold
}

// around collects what is seen at and around a word.
func (x *extractor) around(i int) {
	w := x.at(i)
	x.add("bias")
	k := w.key()
	for d := -3; d <= 3; d++ {
		n := strconv.Itoa(d)
		o := x.at(i + d)
		if d >= -2 && d <= 2 {
			x.add("w", n, o.key())
			x.add("s", n, o.shape)
		}
		for _, c := range o.classes {
			x.add("c", n, c)
		}
		for _, e := range o.effects {
			x.add("e", n, e)
		}
		if d >= -1 && d <= 1 {
			for _, c := range o.concepts {
				x.add("con", n, c)
			}
		}
		if d >= -1 && d <= 1 && o.form != "" {
			x.add("f", n, o.form)
		}
	}
	x.add("w-w", x.at(i-1).key(), k)
	x.add("ww+", k, x.at(i+1).key())
	x.add("www", x.at(i-1).key(), k, x.at(i+1).key())
	x.add("wsk", x.at(i-2).key(), x.at(i-1).key())
	x.add("ssss", x.at(i-1).shape, w.shape, x.at(i+1).shape)
	if w.lemma != "" {
		x.add("l", w.lemma)
	}
	if l := x.at(i - 1).lemma; l != "" {
		x.add("l-", l)
	}
	x.add("cc", first(x.at(i-1).classes), first(w.classes), w.shape)
	x.add("cc+", first(w.classes), first(x.at(i+1).classes), x.at(i+1).shape)
	if w.Kind == intent.TokenWord {
		letters := []rune(w.Fold)
		for n := 2; n <= 4; n++ {
			if len(letters) > n {
				x.add("suf", string(letters[len(letters)-n:]))
			}
		}
		for n := 3; n <= 5; n++ {
			if len(letters) > n {
				x.add("pre", string(letters[:n]))
			}
		}
	}
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// scene collects what the sentence around a word is like: the nearest verbs and marks on both sides.
func (x *extractor) scene(i int) {
	w := x.at(i)
	for k, side := range []string{"<", ">"} {
		d := 2*k - 1
		marks, words := 0, 0
		for j := i + d; j >= 0 && j < len(x.list) && words < 12 && marks < 12; j += d {
			o := &x.list[j]
			if o.Kind == intent.TokenMark {
				if marks++; marks == 1 {
					x.add("mark", side, o.Text, strconv.Itoa(min(words, 3)))
				}
				if o.Text == "." || o.Text == "!" || o.Text == "?" || o.Text == ";" {
					break
				}
				continue
			}
			if d < 0 && o.Line || o.Line && j > i {
				x.add("line", side, strconv.Itoa(min(words, 3)))
				if d > 0 {
					break
				}
			}
			words++
			if len(o.effects) > 0 && marks == 0 {
				x.add("verb", side, o.effects[0], strconv.Itoa(min(words, 2)))
				x.add("verbw", side, o.effects[0], w.shape, first(w.classes))
			}
			if d < 0 && o.Line {
				break
			}
		}
	}
	if w.Line {
		x.add("starts line")
	}
}
