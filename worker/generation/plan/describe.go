package plan

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// describe returns in words how an instruction was understood.
func describe(in *intent.Instruction) string {
	words := []string{strings.ReplaceAll(string(in.Kind), "_", " ")}
	if in.Kind == intent.Activate {
		words[0] = in.Verb
	}
	for _, v := range in.Values {
		words = append(words, strconv.Quote(v.Text))
	}
	if in.Target != nil {
		words = append(words, "on", describePhrase(in.Target))
	}
	if in.To != nil {
		words = append(words, "to", describePhrase(in.To))
	}
	return strings.Join(words, " ")
}

// describePhrase returns a phrase in words.
func describePhrase(p *intent.Phrase) string {
	if p.Text != "" {
		return p.Text
	}
	return strconv.Quote(p.Name)
}

// describeNode returns an element in words: `button "Save"`.
func describeNode(n *snapshot.Node) string {
	kind := n.Role
	if kind == "" {
		kind = n.Tag
	}
	for _, name := range []string{n.Name, n.Label, n.Placeholder, n.Text, n.Title} {
		if name != "" {
			return kind + " " + strconv.Quote(shorten(name, 60))
		}
	}
	return kind
}

// shorten returns at most the given number of characters of a text.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}

// title returns what a step does, in words.
func title(t step.Tool) string {
	return strings.ReplaceAll(step.Inner(&t).Type, "_", " ")
}
