// Package report reads crash report objects: the JSON documents that crash
// clients post. A report has eight required members (uuid, timestamp, lang,
// langVersion, agent, agentVersion, threads, mainThread) and a dozen optional ones.
//
// It works in two passes. Check runs at the edge, over the bytes as they
// arrived: it walks the document once, enforces every rule of the report
// object and every bound, collects the positions of values that must not be
// stored (Scrub masks them), and allocates next to nothing. Parse runs in a
// worker, over bytes that passed Check, and returns the Report that grouping and
// reading need. Both use one walk over one tokenizer, so that Parse reads whatever
// Check accepts.
//
// A document that breaks a rule is refused with an *Error, which has the path of
// the member ("threads.7.stack[3].funcName") and carries the code of
// the crash interface. Reading is lenient where real clients are sloppy (line
// as number or string, attribute values of any scalar type, unknown members
// kept); storing is strict: what is stored is valid UTF-8 JSON.
//
// The package is a leaf: it imports the standard library only.
package report

import "encoding/json"

// Report is a crash report that passed Check, in the form that grouping,
// counting and the reading API need.
type Report struct {
	UUID         [16]byte // as submitted; any version and variant
	Timestamp    int64    // UTC seconds, as submitted, unclamped
	Lang         string
	LangVersion  string
	Agent        string
	AgentVersion string

	// Threads in the order in which the document lists them: the first
	// faulting one is the main thread.
	Threads []Thread
	// MainThread and EntryThread are keys of Threads; EntryThread may be "".
	MainThread  string
	EntryThread string

	// Symbolication is "minidump", "sourcemap", "proguard" or "" (the client
	// has symbolicated the report, or nothing is known).
	Symbolication string
	// Fingerprint is the 32-byte group id that the client chose, or nil.
	Fingerprint []byte
	Classifiers []string
	// Attributes in document order; a repeated key keeps its last value.
	Attributes []Attribute
	// Sources maps the id of a source code entry to its path ("" when the
	// entry holds only text).
	Sources map[string]string
	Modules []Module
}

// Thread is one thread of a report.
type Thread struct {
	ID     string
	Name   string
	Fault  bool
	Frames []Frame // innermost (the call that failed) first
}

// Frame is one stack frame. Line and Column count from 1; 0 means unknown.
type Frame struct {
	Function        string // "" when only an address is known
	Address         string // as submitted: hexadecimal or decimal text
	Line            int64
	Column          int64
	SourceCode      string // id of a source code entry
	Path            string // path of that entry, "" when unknown
	Library         string
	DebugIdentifier string
	Guessed         bool
	Faulted         bool
	// MethodToken is the token of a method of .NET, 0 when it is not known, and ILOffset the place in
	// its intermediate language.
	MethodToken uint32
	ILOffset    int64
}

// Attribute is one indexed key and value.
type Attribute struct {
	Key   string
	Value any // string, bool, nil, or json.Number exactly as submitted
}

// Module is one loaded module. Start and Size are as submitted (decimal or
// hexadecimal text, "" when absent).
type Module struct {
	Start           string
	Size            string
	CodeFile        string
	Version         string
	DebugFile       string
	DebugIdentifier string
}

// FaultThread returns the thread that describes the error: the first one
// listed with fault set, else the one that mainThread names. It is nil only
// for a Report that Parse did not return.
func (r *Report) FaultThread() *Thread {
	for i := range r.Threads {
		if r.Threads[i].Fault {
			return &r.Threads[i]
		}
	}
	for i := range r.Threads {
		if r.Threads[i].ID == r.MainThread {
			return &r.Threads[i]
		}
	}
	return nil
}

// Attribute returns the value of an attribute as text: strings as they are,
// numbers and booleans as written in the document, "" for null and absent.
func (r *Report) Attribute(key string) string {
	for i := range r.Attributes {
		if r.Attributes[i].Key == key {
			return r.Attributes[i].Text()
		}
	}
	return ""
}

// Text returns the attribute's value as text; null is "".
func (a Attribute) Text() string {
	switch v := a.Value.(type) {
	case string:
		return v
	case bool:
		if v {
			return "true"
		}
		return "false"
	case json.Number:
		return v.String()
	}
	return ""
}

// Codes of the crash interface that this package uses.
const (
	CodeMalformed = 1 // not a JSON object, nested too deep, a member twice
	CodeMember    = 2 // a member is missing or has the wrong type or value
	CodeEncoding  = 5 // not UTF-8
)

// Error is why a document was refused. Its text is meant for the client: it names
// the member and never repeats a value.
type Error struct {
	Code   int
	Member string // path from the top of the report, "" for the document
	Msg    string
}

func (e *Error) Error() string {
	if e.Member == "" {
		return e.Msg
	}
	return e.Member + ": " + e.Msg
}

// Span is a half-open range of byte offsets: the inside of a string or a part of
// it, or, with Unquoted, a whole value that is not a string, so that the mask needs
// quotes.
type Span struct {
	Start, End int
	Unquoted   bool
}

// Head is what the edge needs of a document.
type Head struct {
	UUID          [16]byte
	Timestamp     int64
	Symbolication string
	// SentAt is when the client sent it, by its clock, in seconds since 1970: the member
	// sent_at. 0: it does not say.
	SentAt int64
	// UnknownMembers is set when the submitted object has members that this
	// package does not know.
	UnknownMembers bool
	// Document is the report object: the submitted bytes themselves, but for
	// the shape {"body":{...}}, where it is the inner object, and for
	// {"body":"..."}, where it is the decoded text. It shares the memory of
	// the submitted bytes.
	Document []byte
	// Secrets are the values inside Document (byte offsets, ascending, not
	// overlapping) that must be masked before storing: see Scrub.
	Secrets []Span
}
