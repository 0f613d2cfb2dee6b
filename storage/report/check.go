package report

import (
	"bytes"
	"unicode/utf8"
)

// Check walks a submitted body once and refuses it with an *Error if it is
// not a report object within the limits: valid JSON in valid UTF-8 with the
// eight required members, and every known member of its type. The shapes
// {"body":{...}} and {"body":"..."} are unwrapped, one level deep, unless the
// eight required members stand beside body. Nothing of the body is changed.
//
// Real clients need leniency: null for an optional member is as good as
// none; line, column and address are numbers or strings, and a position that
// is no positive number counts as absent; attribute values may also be
// floating point or null; empty source code entries pass; unknown members
// pass as long as they are valid JSON; lone surrogates pass and are read as
// U+FFFD. A member given twice inside the report's own structure is refused,
// as readers would differ on which one counts; inside attributes, annotations
// and unknown members, and for unknown names, the last one wins.
func Check(body []byte, limits Limits) (Head, error) {
	limits = limits.withDefaults()
	if !utf8.Valid(body) {
		return Head{}, &Error{Code: CodeEncoding, Msg: "the body is not valid UTF-8"}
	}
	var outer walker
	outer.reset(body, limits, nil)
	ok := outer.document()
	if !ok && (outer.missing == 0 || outer.body == nil) {
		return Head{}, outer.err
	}
	if ok {
		if outer.body != nil && !outer.unknownBody() {
			outer.inMember([]byte("body"))
			return Head{}, outer.err
		}
		return outer.result(), nil
	}

	doc := outer.body
	if doc[0] == '"' {
		doc = text{raw: doc[1 : len(doc)-1], escaped: true}.appendTo(nil)
	}
	var inner walker
	inner.reset(doc, limits, nil)
	if inner.document() {
		head := inner.result()
		head.UnknownMembers = head.UnknownMembers || outer.head.UnknownMembers
		return head, nil
	}
	if outer.missing < len(required) {
		return Head{}, outer.err
	}
	inner.inMember([]byte("body"))
	return Head{}, inner.err
}

// The members of the report object that are known, as bits of a set. The
// eight required ones come first.
const (
	memberUUID = 1 << iota
	memberTimestamp
	memberLang
	memberLangVersion
	memberAgent
	memberAgentVersion
	memberThreads
	memberMainThread
	memberBody
	memberUploadFile
	memberSymbolication
	memberEntryThread
	memberArch
	memberFingerprint
	memberClassifiers
	memberAttributes
	memberSourceCode
	memberMemory
	memberAnnotations
	memberModules
)

var required = [...]string{"uuid", "timestamp", "lang", "langVersion", "agent", "agentVersion", "threads", "mainThread"}

// walker walks one report object. With out it fills in a Report (Parse);
// without, it looks for secrets (Check). It stands on layers: scanner reads
// tokens, valueReader single values, secretFinder the parts without a fixed
// structure, memberReader the members that need no other one.
type walker struct {
	memberReader
	head Head

	seen    uint32 // known members of the report object
	missing int    // required members that were not there, at the end
	body    []byte // the value of the member body, an object or a string
	bodyAt  int    // where it starts

	threads     nameSet
	arch        *nameSet // register names; nil when no arch was given
	registers   []registerUse
	mainThread  []byte
	entryThread []byte
}

func (w *walker) reset(doc []byte, limits Limits, out *Report) {
	w.scanner = scanner{buf: doc, maxDepth: limits.Depth}
	w.limit, w.ignore = limits.Secrets, out != nil
	w.limits, w.out = limits, out
	w.head = Head{Document: doc}
}

// result returns what Check found out.
func (w *walker) result() Head {
	head := w.head
	head.Secrets = w.secrets
	return head
}

// document walks the whole document.
func (w *walker) document() bool {
	switch w.token() {
	case '{':
	case 0:
		return w.unexpected("an object is wanted")
	default:
		return w.fail(CodeMalformed, "the report is not a JSON object")
	}
	w.pos++
	var m cursor
	for w.member(&m) {
		if !w.reportMember(m.key) {
			return w.inMember(m.key)
		}
	}
	if w.err != nil {
		return false
	}
	if w.token(); w.pos < len(w.buf) {
		return w.unexpected("text after the end of the document")
	}
	return w.complete()
}

func (w *walker) reportMember(key []byte) bool {
	switch string(key) {
	case "uuid":
		return w.first(&w.seen, memberUUID) && w.uuid()
	case "timestamp":
		return w.first(&w.seen, memberTimestamp) && w.timestamp()
	case "lang":
		return w.first(&w.seen, memberLang) && w.requiredText(func(r *Report) *string { return &r.Lang })
	case "langVersion":
		return w.first(&w.seen, memberLangVersion) && w.requiredText(func(r *Report) *string { return &r.LangVersion })
	case "agent":
		return w.first(&w.seen, memberAgent) && w.requiredText(func(r *Report) *string { return &r.Agent })
	case "agentVersion":
		return w.first(&w.seen, memberAgentVersion) && w.requiredText(func(r *Report) *string { return &r.AgentVersion })
	case "threads":
		return w.first(&w.seen, memberThreads) && w.threadMap()
	case "mainThread":
		t, ok := text{}, w.first(&w.seen, memberMainThread)
		if ok {
			t, ok = w.text()
		}
		w.mainThread = t.bytes()
		return ok
	case "symbolication":
		return w.first(&w.seen, memberSymbolication) && w.symbolication()
	case "entryThread":
		var t text
		ok := w.first(&w.seen, memberEntryThread) && w.optionalText(&t)
		if t.raw != nil {
			w.entryThread = t.bytes()
		}
		return ok
	case "arch":
		return w.first(&w.seen, memberArch) && w.architecture()
	case "fingerprint":
		return w.first(&w.seen, memberFingerprint) && w.fingerprint()
	case "classifiers":
		return w.first(&w.seen, memberClassifiers) && w.classifiers()
	case "attributes":
		return w.first(&w.seen, memberAttributes) && w.attributes()
	case "sourceCode":
		return w.first(&w.seen, memberSourceCode) && w.sourceMap()
	case "memory":
		return w.first(&w.seen, memberMemory) && w.memory()
	case "annotations":
		return w.first(&w.seen, memberAnnotations) && w.annotations()
	case "modules":
		return w.first(&w.seen, memberModules) && w.modules()
	case "body":
		return w.first(&w.seen, memberBody) && w.wrapped()
	case "upload_file":
		var t text
		return w.first(&w.seen, memberUploadFile) && w.optionalText(&t)
	}
	w.head.UnknownMembers = true
	w.token()
	start := w.pos
	if !w.unknownMember(key, 1) {
		return false
	}
	if name := string(key); name == "sent_at" || name == "sentAt" {
		w.head.SentAt = Instant(string(bytes.Trim(w.buf[start:w.pos], "\"")))
	}
	return true
}

// wrapped keeps the value of body, which may be the report itself. Its
// depth counts from its own start.
func (w *walker) wrapped() bool {
	c, start := w.token(), w.pos
	switch c {
	case '"', '{':
		if !w.skip(0) {
			return false
		}
		w.body, w.bodyAt = w.buf[start:w.pos], start
		return true
	case 'n':
		return w.literal("null")
	}
	return w.wrongKind("must be a string")
}

// complete checks the rules that need the whole report object.
func (w *walker) complete() bool {
	for i, name := range required {
		if w.seen&(1<<i) == 0 {
			w.missing++
			if w.err == nil {
				w.invalidValue("is required")
				w.inMember([]byte(name))
			}
		}
	}
	if w.missing > 0 {
		return false
	}
	if w.threads.index(w.mainThread) < 0 {
		w.invalidValue("is not a key of threads")
		return w.inMember([]byte("mainThread"))
	}
	if w.entryThread != nil && w.threads.index(w.entryThread) < 0 {
		w.invalidValue("is not a key of threads")
		return w.inMember([]byte("entryThread"))
	}
	for _, use := range w.registers {
		if !w.registerNames(use) {
			return false
		}
	}
	if w.out != nil {
		w.finish()
	}
	return true
}
