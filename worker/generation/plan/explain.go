package plan

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A description is more than the one word of it that an element happens to have: "the
// Classics carousel, jump to the third slide" is not the heading "Classics". Words of a
// description that neither the grammar knows nor the page says where the element is are not
// explained, and where they are the most of it something else is meant.

// maxAround bounds the text of what is around an element that may explain a description.
const maxAround = 600

// unexplained returns the words of a description that nothing about an element says, if they
// are at least two and more than those that something says; nil otherwise.
func unexplained(v *view, phrase *intent.Phrase, lang string, index int) []string {
	words := unknownWords(phrase.Text, lang)
	if len(words) < 2 {
		return nil
	}
	said := around(v, index)
	var left []string
	for _, word := range words {
		if !saysWord(said, word) {
			left = append(left, word)
		}
	}
	if len(left) < 2 || 2*len(left) <= len(words) {
		return nil
	}
	return left
}

// unknownWords returns the words of a text that are none of the grammar's own.
func unknownWords(text, lang string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !wordRune(r) }) {
		if len(word) > 2 && !hasDigit(word) && !intent.Knows(lang, word, false) {
			list = append(list, word)
		}
	}
	return list
}

// around returns the words that an element, what it is in, and what is in it say.
func around(v *view, index int) string {
	var b strings.Builder
	b.WriteByte(' ')
	put := func(parts ...string) {
		for _, part := range parts {
			for _, word := range splitAll(part) {
				b.WriteString(word)
				b.WriteByte(' ')
			}
		}
	}
	for up := index; up >= 0; up = v.Nodes[up].Parent {
		n := &v.Nodes[up]
		put(n.Name, n.Text, n.Label, n.Placeholder, n.Title, n.Description, n.ID, n.NameAttr, n.TestID, n.Value)
		put(n.Hints...)
		if text := v.shown(up); len(text) <= maxAround {
			put(text)
		}
		putStyle(put, n)
	}
	return b.String()
}

func putStyle(put func(...string), n *snapshot.Node) {
	for _, look := range n.Style {
		put(look)
	}
}

// saysWord reports whether a text has a word, in whatever form.
func saysWord(said, word string) bool {
	root := stem(fold(word))
	if len(root) > 6 {
		root = root[:len(root)-1]
	}
	return strings.Contains(said, root)
}

// language is that of what is done now.
func (p *planner) language() string {
	if p.instruction == nil || p.instruction.Lang == "" {
		return "en"
	}
	return p.instruction.Lang
}
