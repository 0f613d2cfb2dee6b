// Package rule has the names of the rules of the fingerprint, and sets of them.
//
// Each rule that changes a frame, leaves one out, or adds a line to the material is noted in a set,
// which the explanation of a key shows. The order of the rules is internal; their names are stored
// with crashes, are in docs/crashes.md, and never change.
//
// A set has one bit for each rule, and is copied with every frame: it allocates nothing.
package rule

import (
	"encoding/json"
	"fmt"

	"github.com/slipway-qa/slipway/storage/report"
)

// Set is a set of rules. In the JSON of an Explanation it is a list of names.
type Set [2]uint64

// Rule is one rule; its name (String) is stable and part of what is stored.
type Rule uint8

// The rules. The order is internal, the names are not.
const (
	// Names, all languages.
	Arguments Rule = iota
	ReturnType
	Qualifiers
	TemplateArguments
	Lambda
	ModulePrefix
	CodeOffset
	Unreadable
	Length
	// Names, native.
	RustHash
	CloneSuffix
	AnonymousNamespace
	SymbolVersion
	StdcallSuffix
	Thunk
	LocalScope
	SwiftClosure
	SwiftDecoration
	Block
	Mangled
	InlineNamespace
	// Names, Java and Kotlin.
	JavaLambda
	JavaProxy
	JavaReflection
	JavaAnonymousClass
	KotlinCoroutine
	KotlinMangling
	// Names, JavaScript.
	JSReceiver
	JSAlias
	JSAnonymous
	// Names, other languages.
	PythonScope
	RubyBlock
	RubyClass
	RubyTemplate
	PHPAnonymousClass
	PHPClosure
	PHPCall
	TemplateHash
	DotNetAsync
	DotNetLambda
	DotNetGenerics
	DotNetNesting
	IL2CPP
	GoClosure
	GoReceiver
	GoGenerics
	GoVendor
	GoQualified
	// Files and addresses.
	FileURL
	FileQuery
	FileHash
	FileDirectory
	ModuleOffset
	LibraryAddress
	// Frames.
	NoName
	AsyncFrame
	Comprehension
	Accessor
	AboveError
	ErrorFrame
	ThreadStart
	SystemFrame
	GuessedFrame
	Recursion
	StackOverflow
	FrameLimit
	AbsoluteAddress
	Helper
	BeyondTelling
	// What else joins the key, and why.
	GenericClass
	ClassSaysAll
	NoStack
	HelperOnTop
	SystemStack
	NothingTelling
	Signal
	SystemCall
	Cause
	EngineMessage
	EndlessRecursion
	Unsymbolicated
	Count
)

// This line fails to compile when a set has no room for every rule.
var _ [len(Set{})*64 - int(Count)]struct{}

// ruleNames is a constant table.
var ruleNames = [Count]string{
	Arguments: "arguments", ReturnType: "return-type", Qualifiers: "qualifiers",
	TemplateArguments: "template-arguments", Lambda: "lambda", ModulePrefix: "module-prefix",
	CodeOffset: "code-offset", Unreadable: "unreadable-name", Length: "length",
	RustHash: "rust-hash", CloneSuffix: "clone-suffix", AnonymousNamespace: "anonymous-namespace",
	SymbolVersion: "symbol-version", StdcallSuffix: "stdcall-suffix", Thunk: "thunk",
	LocalScope: "local-scope", SwiftClosure: "swift-closure", SwiftDecoration: "swift-decoration",
	Block: "block", Mangled: "mangled", InlineNamespace: "inline-namespace", JavaLambda: "java-lambda",
	JavaProxy:      "java-proxy",
	JavaReflection: "java-reflection", JavaAnonymousClass: "java-anonymous-class",
	KotlinCoroutine: "kotlin-coroutine", KotlinMangling: "kotlin-mangling",
	JSReceiver: "js-receiver", JSAlias: "js-alias", JSAnonymous: "js-anonymous",
	PythonScope: "python-scope", RubyBlock: "ruby-block", RubyClass: "ruby-class", RubyTemplate: "ruby-template",
	PHPAnonymousClass: "php-anonymous-class", PHPClosure: "php-closure", PHPCall: "php-call", TemplateHash: "template-hash",
	DotNetAsync: "dotnet-async", DotNetLambda: "dotnet-lambda", DotNetGenerics: "dotnet-generics",
	DotNetNesting: "dotnet-nesting", IL2CPP: "il2cpp", GoClosure: "go-closure",
	GoReceiver: "go-receiver", GoGenerics: "go-generics", GoVendor: "go-vendor", GoQualified: "go-qualified",
	FileURL: "file-url", FileQuery: "file-query", FileHash: "file-hash",
	FileDirectory: "file-directory", ModuleOffset: "module-offset", LibraryAddress: "library-address",
	NoName: "no-name", AsyncFrame: "async-frame", Comprehension: "comprehension",
	Accessor: "accessor", AboveError: "above-error", ErrorFrame: "error-frame",
	ThreadStart: "thread-start", SystemFrame: "system-frame", GuessedFrame: "guessed-frame",
	Recursion: "recursion", StackOverflow: "stack-overflow", FrameLimit: "frame-limit",
	AbsoluteAddress: "absolute-address", Helper: "helper", BeyondTelling: "beyond-telling-frame",
	GenericClass: "generic-class", ClassSaysAll: "class-says-all", NoStack: "no-stack",
	HelperOnTop: "helper-on-top", SystemStack: "system-frames-only", NothingTelling: "nothing-telling",
	Signal: "signal", SystemCall: "system-call", Cause: "cause", EngineMessage: "engine-message",
	EndlessRecursion: "endless-recursion", Unsymbolicated: "unsymbolicated",
}

// String returns the rule's stable name.
func (r Rule) String() string {
	if r >= Count {
		return fmt.Sprintf("rule-%d", uint8(r))
	}
	return ruleNames[r]
}

// Add puts a rule into the set.
func (s *Set) Add(r Rule) { s[r/64] |= 1 << (r % 64) }

// Join adds the rules of another set.
func (s *Set) Join(other Set) {
	for i := range s {
		s[i] |= other[i]
	}
}

// Has reports whether the set contains a rule.
func (s Set) Has(r Rule) bool { return s[r/64]&(1<<(r%64)) != 0 }

// IsEmpty reports whether the set has no rule.
func (s Set) IsEmpty() bool { return s == Set{} }

// Names returns the names of the rules in the set.
func (s Set) Names() []string {
	names := []string{}
	for r := range Count {
		if s.Has(r) {
			names = append(names, r.String())
		}
	}
	return names
}

// MarshalJSON writes the names.
func (s Set) MarshalJSON() ([]byte, error) { return json.Marshal(s.Names()) }

// AppendMember appends the member rules with a comma before it, or nothing for an
// empty set.
func (s Set) AppendMember(dst []byte) []byte {
	if s.IsEmpty() {
		return dst
	}
	dst = append(dst, `,"rules":[`...)
	first := true
	for r := range Count {
		if !s.Has(r) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = report.AppendText(dst, r.String())
	}
	return append(dst, ']')
}
