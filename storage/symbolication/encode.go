package symbolication

import (
	"strconv"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// AppendJSON appends the document as encoding/json would write it, in a fifth of the time: a
// crash that lacks twenty files has two hundred identifiers in it, and writing it took as long
// as grouping the crash.
func (d *Document) AppendJSON(dst []byte) []byte {
	o := object{dst: append(dst, '{')}
	list(&o, "threads", d.Threads, appendThread)
	list(&o, "texts", d.Texts, appendTextOf)
	list(&o, "files", d.Files, appendFile)
	list(&o, "missing", d.Missing, appendMissing)
	list(&o, "modules", d.Modules, appendModule)
	list(&o, "classifiers", d.Classifiers, func(dst []byte, s *string) []byte { return report.AppendText(dst, *s) })
	o.text("message", d.Message)
	o.number("omitted", int64(d.Omitted))
	return append(o.dst, '}')
}

// object is a JSON object that is being written. Members that are zero are left out, but for
// those of always.
type object struct {
	dst  []byte
	some bool
}

func (o *object) name(name string) {
	if o.some {
		o.dst = append(o.dst, ',')
	}
	o.some = true
	o.dst = append(append(append(o.dst, '"'), name...), '"', ':')
}

func (o *object) alwaysNumber(name string, n int64) {
	o.name(name)
	o.dst = strconv.AppendInt(o.dst, n, 10)
}

func (o *object) number(name string, n int64) {
	if n != 0 {
		o.alwaysNumber(name, n)
	}
}

func (o *object) alwaysText(name, s string) {
	o.name(name)
	o.dst = report.AppendText(o.dst, s)
}

func (o *object) text(name, s string) {
	if s != "" {
		o.alwaysText(name, s)
	}
}

func (o *object) flag(name string, set bool) {
	if set {
		o.name(name)
		o.dst = append(o.dst, "true"...)
	}
}

func list[T any](o *object, name string, items []T, appendItem func([]byte, *T) []byte) {
	if len(items) > 0 {
		o.name(name)
		o.dst = appendList(o.dst, items, appendItem)
	}
}

func appendList[T any](dst []byte, items []T, appendItem func([]byte, *T) []byte) []byte {
	if items == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendItem(dst, &items[i])
	}
	return append(dst, ']')
}

func appendThread(dst []byte, t *Thread) []byte {
	o := object{dst: append(dst, '{')}
	o.alwaysText("id", t.ID)
	o.name("replaced")
	return append(appendList(o.dst, t.Replaced, appendReplacement), '}')
}

func appendReplacement(dst []byte, p *Replacement) []byte {
	o := object{dst: append(dst, '{')}
	o.alwaysNumber("index", int64(p.Index))
	list(&o, "frames", p.Frames, appendFrame)
	list(&o, "alternatives", p.Alternatives, func(dst []byte, frames *[]Frame) []byte { return appendList(dst, *frames, appendFrame) })
	o.flag("hidden", p.Hidden)
	o.number("file", int64(p.File))
	o.number("missing", int64(p.Missing))
	o.flag("named", p.Named)
	return append(o.dst, '}')
}

func appendFrame(dst []byte, f *Frame) []byte {
	o := object{dst: append(dst, '{')}
	o.text("function", f.Function)
	o.text("file", f.File)
	o.number("line", f.Line)
	o.number("column", f.Column)
	o.text("signature", f.Signature)
	o.flag("inlined", f.Inlined)
	o.flag("synthesized", f.Synthesized)
	o.alwaysText("method", string(f.Method))
	if f.Source != nil {
		o.name("source")
		s := object{dst: append(o.dst, '{')}
		s.alwaysNumber("start_line", f.Source.Start)
		s.name("lines")
		o.dst = append(appendList(s.dst, f.Source.Lines, func(dst []byte, line *string) []byte { return report.AppendText(dst, *line) }), '}')
	}
	return append(o.dst, '}')
}

func appendModule(dst []byte, m *Module) []byte {
	o := object{dst: append(dst, '{')}
	o.alwaysNumber("index", int64(m.Index))
	o.number("file", int64(m.File))
	o.number("missing", int64(m.Missing))
	return append(o.dst, '}')
}

func appendTextOf(dst []byte, t *Text) []byte {
	o := object{dst: append(dst, '{')}
	o.alwaysText("where", t.Where)
	o.alwaysText("text", t.Text)
	o.number("file", int64(t.File))
	o.number("missing", int64(t.Missing))
	return append(o.dst, '}')
}

func appendFile(dst []byte, f *File) []byte {
	o := object{dst: append(dst, '{')}
	o.alwaysNumber("symbol_id", f.SymbolID)
	o.alwaysNumber("file_id", f.FileID)
	o.alwaysText("name", f.Name)
	o.alwaysText("kind", string(f.Kind))
	o.name("identifier")
	return append(appendIdentifier(o.dst, &f.Identifier), '}')
}

func appendMissing(dst []byte, m *Missing) []byte {
	o := object{dst: append(dst, '{')}
	o.alwaysText("kind", m.Kind)
	o.alwaysText("name", m.Name)
	o.text("version", m.Version)
	o.name("looked_for")
	if m.lookedFor != nil {
		o.dst = append(o.dst, m.lookedFor...)
	} else {
		o.dst = appendList(o.dst, m.LookedFor, appendIdentifier)
	}
	o.alwaysText("reason", m.Reason)
	o.alwaysNumber("frames", int64(m.Frames))
	o.text("bound", m.Bound)
	return append(o.dst, '}')
}

func appendIdentifier(dst []byte, id *symbol.Identifier) []byte {
	o := object{dst: append(dst, '{')}
	o.alwaysText("type", string(id.Type))
	o.alwaysText("value", id.Value)
	o.text("release", id.Release)
	return append(o.dst, '}')
}
