package fingerprint

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/message"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// maxKindText bounds each text in which the kind of a crash is searched.
const maxKindText = 1 << 10

// signalAttributes are the attributes in which native clients send the signal or
// the exception.
var signalAttributes = [...]string{"signal", "signal.name", "signal_name", "error.signal", "crash.signal", "crash.reason",
	"crash_reason", "crash.type", "exception.code", "exception_code", "exception.type",
	"exception.name", "error.type", "mach.exception", "mach_exception", "termination.reason", "abort.message",
	"abort_message", "asan.error", "sanitizer.error"}

// kindWord is a word by which a kind of crash is recognized, in small letters.
type kindWord struct{ word, kind string }

// faultKinds say more than the signal with which they end: the findings of
// sanitizers and of the C library. An access out of bounds is a memory access: how far out of them
// it was decides whether a sanitizer finds which memory it was beside, or only the processor that
// there is none.
var faultKinds = [...]kindWord{
	{"use-after-return", "use-after-return"}, {"use-after-scope", "use-after-scope"}, {"use-after-poison", "use-after-poison"},
	{"use-after-free", "use-after-free"},
	{"heap-buffer-overflow", "memory-access"}, {"stack-buffer-overflow", "memory-access"}, {"stack-buffer-underflow",
		"memory-access"}, {"global-buffer-overflow", "memory-access"},
	{"container-overflow", "memory-access"}, {"intra-object-overflow", "memory-access"}, {"param-overlap", "param-overlap"},
	{"negative-size-param", "negative-size-param"},
	{"double-free", "double-free"}, {"double free", "double-free"}, {"alloc-dealloc-mismatch", "alloc-dealloc-mismatch"},
	{"bad-free", "invalid-free"}, {"attempting free on address", "invalid-free"}, {"invalid pointer", "invalid-free"},
	{"allocation-size-too-big", "out-of-memory"}, {"calloc-overflow", "out-of-memory"}, {"out-of-memory", "out-of-memory"},
	{"out of memory", "out-of-memory"}, {"rss-limit", "out-of-memory"},
	{"use-of-uninitialized-value", "uninitialized-value"}, {"initialization-order-fiasco", "initialization-order-fiasco"},
	{"data race", "data-race"}, {"lock-order-inversion", "deadlock"},
	{"detected memory leaks", "memory-leak"}, {"heap corruption", "heap-corruption"}, {"heap_corruption", "heap-corruption"},
	{"corrupted size", "heap-corruption"}, {"corrupted top", "heap-corruption"}, {"corrupted double-linked", "heap-corruption"},
	{"corrupted unsorted", "heap-corruption"}, {"corrupted chunk", "heap-corruption"}, {"memory corruption", "heap-corruption"},
	{"invalid next size", "heap-corruption"}, {"c0000374", "heap-corruption"},
	{"stack smashing", "stack-smashing"}, {"buffer overflow detected", "buffer-overflow"}, {"pure virtual", "pure-virtual-call"},
	{"stack-overflow", message.StackOverflow}, {"stack overflow", message.StackOverflow}, {"stack_overflow", message.StackOverflow},
	{"c00000fd", message.StackOverflow},
}

// verdictKinds are the words by which tools that rate crashes (CASR, exploitable) call them.
var verdictKinds = [...]kindWord{
	{"sourceav", "memory-access"}, {"destav", "memory-access"}, {"branchav", "memory-access"}, {"callav", "memory-access"},
	{"returnav", "memory-access"}, {"segfaultonpc", "memory-access"}, {"accessviolation", "memory-access"},
	{"badinstruction", "trap"}, {"undefinedinstruction", "trap"}, {"privilegedinstruction", "trap"},
	{"abortsignal", "abort"}, {"trapsignal", "trap"}, {"stackguard", "stack-smashing"}, {"heaperror", "heap-corruption"},
	{"safefunctioncheck", "buffer-overflow"}, {"stackoverflow", message.StackOverflow}, {"possiblestackcorruption", "memory-access"},
}

// verdictKind returns the kind that such a word says: "SourceAvNearNull", "DestAv".
func verdictKind(class string) string {
	if len(class) > 40 || !naming.IsPlainWord(class) {
		return ""
	}
	lower := strings.ToLower(class)
	for i := range verdictKinds {
		if strings.HasPrefix(lower, verdictKinds[i].word) {
			return verdictKinds[i].kind
		}
	}
	if class == "FPE" {
		return "arithmetic"
	}
	return ""
}

// signalKinds join what one error is called on Unix, Windows and Apple's systems.
var signalKinds = [...]kindWord{
	{"sigsegv", "memory-access"}, {"segv", "memory-access"}, {"sigbus", "memory-access"}, {"segmentation fault", "memory-access"},
	{": segfault at ", "memory-access"}, {"bus error", "memory-access"}, {"exc_bad_access", "memory-access"},
	{"access violation", "memory-access"}, {"access_violation", "memory-access"}, {"c0000005", "memory-access"},
	{"kern_invalid_address", "memory-access"}, {"kern_protection_failure", "memory-access"}, {"in_page_error", "memory-access"},
	{"c0000006", "memory-access"},
	{"sigfpe", "arithmetic"}, {"exc_arithmetic", "arithmetic"}, {"floating point exception", "arithmetic"},
	{"divide_by_zero", "arithmetic"}, {"int_overflow", "arithmetic"}, {"c0000094", "arithmetic"}, {"exception_flt", "arithmetic"},
	{"sigill", "trap"}, {"sigtrap", "trap"}, {"exc_bad_instruction", "trap"}, {"exc_breakpoint", "trap"},
	{"illegal instruction", "trap"}, {"illegal_instruction", "trap"}, {"exception_breakpoint", "trap"}, {"c000001d", "trap"},
	{"80000003", "trap"}, {"breakpoint trap", "trap"}, {"trace/bpt", "trap"},
	{"sigsys", "system-call"}, {"bad system call", "system-call"}, {"sigpipe", "pipe"}, {"sigkill", "kill"},
	{"sigterm", "terminate"}, {"sigquit", "quit"}, {"sigxcpu", "resource"}, {"exc_resource", "resource"}, {"exc_guard", "guard"},
	{"sigabrt", "abort"}, {"sigiot", "abort"}, {"abort trap", "abort"}, {"exc_crash", "abort"}, {"c0000409", "abort"},
	{"stack_buffer_overrun", "abort"}, {"fail_fast", "abort"}, {"fastfail", "abort"}, {"e06d7363", "c++-exception"},
}

// plainKinds are ordinary words: in a message they are a signal's only at its start.
var plainKinds = [...]kindWord{{"aborted", "abort"}, {"divide by zero", "arithmetic"}, {"division by zero", "arithmetic"},
	{"integer divide", "arithmetic"}}

// crashKind returns the kind of a native crash, "" when nothing in the report says
// it, and whether the message says it.
func crashKind(r *report.Report, message string) (kind string, inMessage bool) {
	texts := make([]string, 0, maxClassifiers+len(signalAttributes))
	texts = append(texts, r.Classifiers[:min(len(r.Classifiers), maxClassifiers)]...)
	for _, key := range signalAttributes {
		if v := r.Attribute(key); v != "" {
			texts = append(texts, signalName(key, v))
		}
	}
	for i, t := range texts {
		texts[i] = strings.ToLower(scan.Truncate(t, maxKindText))
	}
	message = scan.Truncate(message, maxKindText)
	lower := strings.ToLower(message)
	inMessage = findKind(faultKinds[:], lower) != "" || findKind(signalKinds[:], lower) != "" || startKind(lower) != ""
	if kind = undefinedBehavior(message); kind != "" {
		return kind, true
	}
	if kind = assertion(message); kind != "" {
		return kind, true
	}
	for _, kinds := range [...][]kindWord{faultKinds[:], signalKinds[:]} {
		if kind = findKind(kinds, lower); kind != "" && len(kinds) == len(faultKinds) {
			return kind, true
		}
		for _, t := range texts {
			if kind := findKind(kinds, t); kind != "" {
				return kind, inMessage
			}
		}
		if kind != "" {
			return kind, true
		}
	}
	for _, class := range r.Classifiers[:min(len(r.Classifiers), maxClassifiers)] {
		if kind = verdictKind(class); kind != "" {
			return kind, inMessage
		}
	}
	for _, t := range texts {
		if kind = findKind(plainKinds[:], t); kind != "" {
			return kind, inMessage
		}
	}
	kind = startKind(lower)
	return kind, kind != ""
}

// startKind returns the kind that an ordinary word at the start of a message says.
func startKind(message string) string {
	for i := range plainKinds {
		if strings.HasPrefix(message, plainKinds[i].word) {
			return plainKinds[i].kind
		}
	}
	return ""
}

// isSignal reports whether a class is the name of a signal or of an exception of
// the processor.
func isSignal(class string) bool {
	if verdictKind(class) != "" {
		return true
	}
	lower := strings.ToLower(scan.Truncate(class, maxTitle))
	return scan.HasPrefixAny(lower, "sig", "exc_", "exception_", "status_", "0xc0", "0x80") && findKind(signalKinds[:], lower) != "" ||
		findKind(faultKinds[:], lower) != "" && strings.IndexByte(lower, '-') > 0 ||
		scan.IsOneOf(lower, "segv", "segmentation fault", "bus error", "aborted", "abort", "access violation")
}

func findKind(kinds []kindWord, text string) string {
	if text == "" {
		return ""
	}
	for i := range kinds {
		if strings.Contains(text, kinds[i].word) {
			return kinds[i].kind
		}
	}
	return ""
}

// signalName returns the name of a signal that was sent as its number on Linux.
func signalName(key, value string) string {
	if !strings.Contains(key, "signal") {
		return value
	}
	switch strings.TrimSpace(value) {
	case "4":
		return "sigill"
	case "5":
		return "sigtrap"
	case "6":
		return "sigabrt"
	case "7", "10", "11":
		return "sigsegv"
	case "8":
		return "sigfpe"
	}
	return value
}

// undefinedBehavior returns the finding of the sanitizer of undefined behaviour,
// without values and types.
//
//	a.c:3:7: runtime error: signed integer overflow: 2147483647 + 1 ...
func undefinedBehavior(line string) string {
	_, text, ok := strings.Cut(line, ": runtime error: ")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, ": ")
	return "undefined " + message.Normalize(text)
}

// assertion returns the condition of an assertion that failed, in the words of the
// C libraries of Linux, Apple's systems and Windows.
func assertion(message string) string {
	const maxCondition = 200
	lower := strings.ToLower(message)
	i := strings.Index(lower, "assertion")
	if i < 0 || !strings.Contains(lower[i:], "failed") {
		return ""
	}
	rest := strings.TrimLeft(message[i+len("assertion"):], " ")
	for _, quotes := range [...]string{"`'", "''", `""`} {
		if strings.HasPrefix(rest, quotes[:1]) {
			if end := strings.LastIndex(rest, quotes[1:]+" failed"); end > 0 {
				return "assertion " + condition(rest[1:end], maxCondition)
			}
		}
	}
	for _, p := range [...]string{"failed: ", "failed : "} {
		if tail, ok := strings.CutPrefix(rest, p); ok {
			for _, end := range [...]string{", function ", ", file ", " (", ", at "} {
				if head, _, ok := strings.Cut(tail, end); ok {
					tail = head
					break
				}
			}
			return "assertion " + condition(tail, maxCondition)
		}
	}
	return ""
}

func condition(s string, most int) string {
	s = scan.OneLine(s, most)
	if strings.HasPrefix(s, "(") && scan.BracketEnd(s, 0) == len(s) && strings.HasSuffix(s, ")") {
		s = s[1 : len(s)-1]
	}
	return strings.TrimSpace(s)
}
