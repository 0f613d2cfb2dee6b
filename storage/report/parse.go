package report

import "unicode/utf8"

// Parse returns the report of a document that passed Check (Head.Document,
// masked or not); it does not unwrap body. A document that did not pass Check
// is refused with an *Error under the same rules, but for the bounds on
// counts. NUL characters and lone surrogates come out as U+FFFD. The report
// shares no memory with the document.
func Parse(doc []byte) (*Report, error) {
	if !utf8.Valid(doc) {
		return nil, &Error{Code: CodeEncoding, Msg: "the body is not valid UTF-8"}
	}
	var w walker
	w.reset(doc, parseLimits(), new(Report))
	if !w.document() {
		return nil, w.err
	}
	return w.out, nil
}

// finish sets what needs the whole document.
func (w *walker) finish() {
	r := w.out
	r.UUID, r.Timestamp, r.Symbolication = w.head.UUID, w.head.Timestamp, w.head.Symbolication
	r.MainThread, r.EntryThread = string(w.mainThread), string(w.entryThread)
	if len(r.Sources) == 0 {
		return
	}
	for i := range r.Threads {
		frames := r.Threads[i].Frames
		for j := range frames {
			frames[j].Path = r.Sources[frames[j].SourceCode]
		}
	}
}
