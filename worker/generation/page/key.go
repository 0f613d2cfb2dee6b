package page

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

// setKeys names all things by what stays when the page makes its elements anew.
func (b *builder) setKeys() {
	seen := map[string]int{}
	unique := func(key string) string {
		seen[key]++
		if n := seen[key]; n > 1 {
			return fmt.Sprint(key, "#", n)
		}
		return key
	}
	for k := range b.Containers {
		c := &b.Containers[k]
		outer := ""
		if c.Parent >= 0 {
			outer = b.Containers[c.Parent].Key
		}
		c.Key = unique("c:" + tail(outer) + "/" + c.Kind + ":" + brief(c.Title))
	}
	for g := range b.Groups {
		group := &b.Groups[g]
		p := b.groups[g].Pattern
		group.Key = unique("g:" + tail(b.containerKey(group.Node)) + "/" + group.Kind + ":" + p.Tag + "." + p.Class)
	}
	for r := range b.Records {
		record := &b.Records[r]
		outer := b.Groups[record.Group].Key
		if record.Parent >= 0 && record.Parent < r {
			outer = tail(b.Records[record.Parent].Key)
		}
		record.Key = unique("r:" + outer + "/" + brief(record.Title))
	}
	for k := range b.Fields {
		f := &b.Fields[k]
		f.Key = unique("f:" + b.placeKey(f.Record, f.Node) + "/" + f.Kind + ":" + brief(f.Label))
	}
	for k := range b.Controls {
		c := &b.Controls[k]
		name := ""
		if len(c.Names) > 0 {
			name = c.Names[0].Text
		}
		c.Key = unique("b:" + b.placeKey(c.Record, c.Node) + "/" + c.Role + ":" + brief(name))
	}
}

func (b *builder) containerKey(node int) string {
	if c := at(b.holder, node); c >= 0 {
		return b.Containers[c].Key
	}
	return ""
}

func (b *builder) placeKey(record, node int) string {
	if record >= 0 {
		return tail(b.Records[record].Key)
	}
	return tail(b.containerKey(node))
}

// brief returns the beginning of a name, and tail the end of a key: keys of what is deep in
// others do not grow.
func brief(s string) string {
	s = strings.Join(strings.Fields(shape.Lower(s)), " ")
	if len(s) > 80 {
		return s[:80]
	}
	return s
}

func tail(s string) string {
	if len(s) > 160 {
		return s[len(s)-160:]
	}
	return s
}
