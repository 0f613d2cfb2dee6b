package fingerprint

import "fmt"

// Source is what a key was computed from.
type Source string

// Sources, best first.
const (
	SourceGiven     Source = "given"     // the client's: the report's member fingerprint
	SourceAttribute Source = "attribute" // the attribute _mod_fingerprint
	SourceStack     Source = "stack"     // frames of the faulting thread
	SourceMessage   Source = "message"   // classifier and error message
	SourceClient    Source = "client"    // neither stack nor message: language and agent
)

// sourceWhole stands in the place of the source in StackKey.
const sourceWhole Source = "whole-stack"

// Explanation describes how a key was computed. It is stored as JSON with the
// report and shown to people.
type Explanation struct {
	Version int    `json:"version"`
	Source  Source `json:"source"`
	// Thread is the id of the thread whose stack was read, "" for a given key.
	Thread string `json:"thread,omitempty"`
	// Frames are the frames that were looked at, innermost first, at most
	// maxFrames.
	Frames []Frame `json:"frames,omitempty"`
	// Skipped counts frames of a very deep stack that are not listed: exact
	// repetitions, and what is beyond maxFrames.
	Skipped int `json:"skipped,omitempty"`
	// Rules are the rules that decided what else than frames the key contains.
	Rules Rules `json:"rules,omitzero"`
	// Material is the lines that were hashed for Key, in their order.
	Material []string `json:"material"`
}

// Frame is one frame of an Explanation.
type Frame struct {
	// Index is the frame's position in the thread's stack, from 0.
	Index int `json:"index"`
	// Function is the name as submitted, cut at 256 bytes; "" when absent.
	Function string `json:"function,omitempty"`
	// Text is the frame after all rules, as it stands in the material when
	// Kept is set.
	Text string `json:"text"`
	// Kept is set when the frame counts for Key, Stack when it counts for
	// StackKey.
	Kept  bool `json:"kept"`
	Stack bool `json:"stack"`
	// Rules are the rules that changed the frame or left it out.
	Rules Rules `json:"rules,omitzero"`
}

// Rules is a set of rules. In the JSON of an Explanation it is a list of names.
type Rules [2]uint64

// Rule is one rule; its name (String) is stable and part of what is stored.
type Rule uint8

// The rules. The order is internal, the names are not.
const (
	// Names, all languages.
	RuleArguments Rule = iota
	RuleReturnType
	RuleQualifiers
	RuleTemplateArguments
	RuleLambda
	RuleModulePrefix
	RuleCodeOffset
	RuleUnreadable
	RuleLength
	// Names, native.
	RuleRustHash
	RuleCloneSuffix
	RuleAnonymousNamespace
	RuleSymbolVersion
	RuleStdcallSuffix
	RuleThunk
	RuleLocalScope
	RuleSwiftClosure
	RuleSwiftDecoration
	RuleBlock
	RuleMangled
	RuleInlineNamespace
	// Names, Java and Kotlin.
	RuleJavaLambda
	RuleJavaProxy
	RuleJavaReflection
	RuleJavaAnonymousClass
	RuleKotlinCoroutine
	RuleKotlinMangling
	// Names, JavaScript.
	RuleJSReceiver
	RuleJSAlias
	RuleJSAnonymous
	// Names, other languages.
	RulePythonScope
	RuleRubyBlock
	RuleRubyClass
	RuleRubyTemplate
	RulePHPAnonymousClass
	RulePHPClosure
	RulePHPCall
	RuleTemplateHash
	RuleDotNetAsync
	RuleDotNetLambda
	RuleDotNetGenerics
	RuleDotNetNesting
	RuleIL2CPP
	RuleGoClosure
	RuleGoReceiver
	RuleGoGenerics
	RuleGoVendor
	RuleGoQualified
	// Files and addresses.
	RuleFileURL
	RuleFileQuery
	RuleFileHash
	RuleFileDirectory
	RuleModuleOffset
	RuleLibraryAddress
	// Frames.
	RuleNoName
	RuleAsyncFrame
	RuleComprehension
	RuleAccessor
	RuleAboveError
	RuleErrorFrame
	RuleThreadStart
	RuleSystemFrame
	RuleGuessedFrame
	RuleRecursion
	RuleStackOverflow
	RuleFrameLimit
	RuleAbsoluteAddress
	RuleHelper
	RuleBeyondTelling
	// What else joins the key, and why.
	RuleGenericClass
	RuleClassSaysAll
	RuleNoStack
	RuleHelperOnTop
	RuleSystemStack
	RuleNothingTelling
	RuleSignal
	RuleSystemCall
	RuleCause
	RuleEngineMessage
	RuleEndlessRecursion
	RuleUnsymbolicated
	ruleCount
)

// This line fails to compile when a set has no room for every rule.
var _ [len(Rules{})*64 - int(ruleCount)]struct{}

// ruleNames is a constant table.
var ruleNames = [ruleCount]string{
	RuleArguments: "arguments", RuleReturnType: "return-type", RuleQualifiers: "qualifiers",
	RuleTemplateArguments: "template-arguments", RuleLambda: "lambda", RuleModulePrefix: "module-prefix",
	RuleCodeOffset: "code-offset", RuleUnreadable: "unreadable-name", RuleLength: "length",
	RuleRustHash: "rust-hash", RuleCloneSuffix: "clone-suffix", RuleAnonymousNamespace: "anonymous-namespace",
	RuleSymbolVersion: "symbol-version", RuleStdcallSuffix: "stdcall-suffix", RuleThunk: "thunk",
	RuleLocalScope: "local-scope", RuleSwiftClosure: "swift-closure", RuleSwiftDecoration: "swift-decoration",
	RuleBlock: "block", RuleMangled: "mangled", RuleInlineNamespace: "inline-namespace", RuleJavaLambda: "java-lambda",
	RuleJavaProxy:      "java-proxy",
	RuleJavaReflection: "java-reflection", RuleJavaAnonymousClass: "java-anonymous-class",
	RuleKotlinCoroutine: "kotlin-coroutine", RuleKotlinMangling: "kotlin-mangling",
	RuleJSReceiver: "js-receiver", RuleJSAlias: "js-alias", RuleJSAnonymous: "js-anonymous",
	RulePythonScope: "python-scope", RuleRubyBlock: "ruby-block", RuleRubyClass: "ruby-class", RuleRubyTemplate: "ruby-template",
	RulePHPAnonymousClass: "php-anonymous-class", RulePHPClosure: "php-closure", RulePHPCall: "php-call", RuleTemplateHash: "template-hash",
	RuleDotNetAsync: "dotnet-async", RuleDotNetLambda: "dotnet-lambda", RuleDotNetGenerics: "dotnet-generics",
	RuleDotNetNesting: "dotnet-nesting", RuleIL2CPP: "il2cpp", RuleGoClosure: "go-closure",
	RuleGoReceiver: "go-receiver", RuleGoGenerics: "go-generics", RuleGoVendor: "go-vendor", RuleGoQualified: "go-qualified",
	RuleFileURL: "file-url", RuleFileQuery: "file-query", RuleFileHash: "file-hash",
	RuleFileDirectory: "file-directory", RuleModuleOffset: "module-offset", RuleLibraryAddress: "library-address",
	RuleNoName: "no-name", RuleAsyncFrame: "async-frame", RuleComprehension: "comprehension",
	RuleAccessor: "accessor", RuleAboveError: "above-error", RuleErrorFrame: "error-frame",
	RuleThreadStart: "thread-start", RuleSystemFrame: "system-frame", RuleGuessedFrame: "guessed-frame",
	RuleRecursion: "recursion", RuleStackOverflow: "stack-overflow", RuleFrameLimit: "frame-limit",
	RuleAbsoluteAddress: "absolute-address", RuleHelper: "helper", RuleBeyondTelling: "beyond-telling-frame",
	RuleGenericClass: "generic-class", RuleClassSaysAll: "class-says-all", RuleNoStack: "no-stack",
	RuleHelperOnTop: "helper-on-top", RuleSystemStack: "system-frames-only", RuleNothingTelling: "nothing-telling",
	RuleSignal: "signal", RuleSystemCall: "system-call", RuleCause: "cause", RuleEngineMessage: "engine-message",
	RuleEndlessRecursion: "endless-recursion", RuleUnsymbolicated: "unsymbolicated",
}

// String returns the rule's stable name.
func (r Rule) String() string {
	if r >= ruleCount {
		return fmt.Sprintf("rule-%d", uint8(r))
	}
	return ruleNames[r]
}

// add puts a rule into the set.
func (s *Rules) add(r Rule) { s[r/64] |= 1 << (r % 64) }

// join adds the rules of another set.
func (s *Rules) join(other Rules) {
	for i := range s {
		s[i] |= other[i]
	}
}

// Has reports whether the set contains a rule.
func (s Rules) Has(r Rule) bool { return s[r/64]&(1<<(r%64)) != 0 }

func (s Rules) isEmpty() bool { return s == Rules{} }
