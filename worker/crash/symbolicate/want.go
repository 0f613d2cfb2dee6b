package symbolicate

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/crash/need"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// lack notes that a frame lacks a file. One that the client named has a name of its own that
// holds for each build: its key is not bound to the file.
func (r *reading) lack(thread string, index int, o *opened, named bool) {
	if o.missing > 0 {
		r.doc.Missing[o.missing-1].Frames++
		r.replace(thread, symbolication.Replacement{Index: index, Missing: o.missing, Named: named})
	}
	if o.cold && o.bound != "" && !named {
		r.colds = append(r.colds, coldFrame{thread, index, o.bound})
	}
}

// want is a file that frames need.
type want struct {
	kind          string // native, proguard or sourcemap
	name, version string
	arch          string
	ids           []symbol.Identifier
	// announced: there should be symbols, so that the lack of them is a need.
	announced bool
	// loose: nobody said so; the key without them is that of the frames as they are.
	loose bool
}

func (w *want) key() string {
	size := len(w.kind) + 1 + len(w.name)
	for _, id := range w.ids {
		size += 3 + len(id.Type) + len(id.Value) + len(id.Release)
	}
	b := make([]byte, 0, size)
	b = append(append(append(b, w.kind...), 0), w.name...)
	for _, id := range w.ids {
		b = append(append(b, 0), id.Type...)
		b = append(append(b, 0), id.Value...)
		b = append(append(b, 0), id.Release...)
	}
	return string(b)
}

// lackOf notes that a file is missing.
func (r *reading) lackOf(w *want, o *opened, reason string) {
	if !w.announced {
		return
	}
	if len(w.ids) == 0 {
		reason = "the report names nothing by which its symbols could be found"
	}
	// Kind, name and identifiers are those by which it was located: the same for all reports.
	l := o.located
	lack := need.Need{Kind: w.kind, Name: w.name, Version: w.version, Arch: clean(w.arch), LookedFor: w.ids}
	if l.lacking == nil {
		l.lacking = &symbolication.Missing{Kind: w.kind, Name: w.name, LookedFor: slices.Clone(w.ids)}
		l.lacking.Encode()
		l.need = need.Digest(&lack)
	}
	m := *l.lacking
	m.Version, m.Reason, m.Bound = w.version, reason, o.bound
	r.doc.Missing = append(r.doc.Missing, m)
	o.missing = len(r.doc.Missing)
	if len(w.ids) > 0 {
		lack.Digest = l.need
		r.needs = append(r.needs, lack)
	}
}

// bound is what the key of a frame is bound to without the file.
func (w *want) bound() string {
	switch {
	case !w.announced || w.loose:
		return ""
	case len(w.ids) > 0:
		id := w.ids[0]
		if id.Release != "" {
			return string(id.Type) + " " + id.Value + " " + id.Release
		}
		return string(id.Type) + " " + id.Value
	case w.version != "":
		return "version " + w.version
	}
	return ""
}
