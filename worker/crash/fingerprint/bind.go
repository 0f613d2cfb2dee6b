package fingerprint

import (
	"crypto/sha256"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
)

// Bind makes a key one of a certain build where a frame that counts for it was to be
// symbolicated and was not: a.b.c of one mapping is not a.b.c of another, and neither is an
// offset in a module. missing returns the name of the file that a frame of the stack lacks,
// "" for one that lacks none. A key that the client gave stays.
func (res *Result) Bind(missing func(frame int) string) {
	if res.Given || res.Explanation.Source != SourceStack {
		return
	}
	e := &res.Explanation
	for i := range e.Frames {
		if !e.Frames[i].Kept {
			continue
		}
		name := missing(e.Frames[i].Index)
		if name == "" {
			continue
		}
		e.Rules.Add(rule.Unsymbolicated)
		e.Material = append(e.Material, "unsymbolicated "+name)
		res.Key = hashMaterial(e.Source, e.Material)
		res.StackKey = sha256.Sum256(append(res.StackKey[:], name...))
		return
	}
}
