package fingerprint

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/message"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// facts is what the key contains besides frames.
type facts struct {
	class string // the exception's class, "" when it says nothing
	// fullClass is the class also when it says nothing.
	fullClass string
	kind      string // of a native crash
	cause     string // the class of the error that this one wraps
	wrapped   string // that class where it counts as the error's own
	line      string // of the message, without the class before it
	known     bool   // the line says no more than the kind
	family    language.Family
	rules     rule.Set
	code      string // error codes in the message, for classes that differ by them
	// repeatsCause is set when the message is that of the cause.
	repeatsCause bool
	// generic is set when neither class nor kind says what went wrong.
	generic bool
}

// readFacts reads what the report says about the error besides its stack.
func readFacts(r *report.Report, a *analysis, text string) facts {
	line := messageLine(text)
	class := errorClass(r, a.family, line)
	c := facts{cause: errorCause(r, a.family, class, text), family: a.family}
	if a.family.IsNative() || isSignal(class) {
		thrown, what := thrownClass(text)
		switch {
		case thrown != "":
			class, line = thrown, what
		case !isSignal(class) && !isGenericClass(class):
		default:
			if c.kind, c.known = crashKind(r, line); isSignal(class) || c.kind != "" {
				class = ""
			}
		}
	}
	if a.endless || isStackOverflow(r) {
		class, c.kind, c.known = "", message.StackOverflow, true
	}
	if strings.Contains(line, "heap out of memory") {
		class, c.kind, c.known = "", "out-of-memory", true // V8's, in several words
	}
	if a.endless {
		c.rules.Add(rule.EndlessRecursion)
	}
	if c.kind != "" {
		c.rules.Add(rule.Signal)
	}
	if c.cause != "" {
		c.rules.Add(rule.Cause)
		c.repeatsCause = strings.Contains(line, c.cause[strings.LastIndexByte(c.cause, '.')+1:])
	}
	if isClassName(c.cause) && isGenericClass(class) && !isGenericClass(c.cause) {
		// What wraps an error says nothing: wrapped or not, it is one error.
		class, c.wrapped, c.cause = c.cause, c.cause, ""
		line = message.FirstLine(lastCause(scan.Truncate(text, maxCause)))
	}
	c.fullClass, c.line = class, dropClass(line, class)
	if isNumbered(class) {
		c.code = message.Codes(line)
	}
	if strings.Contains(line, "Unexpectedly found nil while") {
		c.known = c.kind == "trap" // Swift's most frequent trap, which not every report words
	}
	// Aborts and traps are deliberate: the program says why.
	c.generic = isGenericClass(class) && (c.kind == "" || c.kind == "abort" || c.kind == "trap")
	if !isGenericClass(class) || isWrapperClass(class) {
		c.class = class
	}
	return c
}

// message returns the normalized message, "" when it says nothing, and notes the
// rules by which it was read.
func (c *facts) message() string {
	if c.known {
		return ""
	}
	c.line = message.WithoutRuntime(c.line)
	if c.family == language.JS || c.family == language.Unknown {
		if text, ok := message.OfEngine(c.line); ok {
			c.rules.Add(rule.EngineMessage)
			return text
		}
	}
	if saysAll(c.fullClass) {
		c.rules.Add(rule.ClassSaysAll)
		return message.Codes(c.line)
	}
	return message.NormalizeText(c.line, c.fullClass)
}

// material returns what the keys were taken from, the lines that are hashed for
// Key and for StackKey, and the rules that decided what else than frames they
// contain.
func material(r *report.Report, a *analysis, text string) (Source, []string, []string, rule.Set) {
	c := readFacts(r, a, text)
	lines := make([]string, 0, len(a.near)+5)
	lines = appendLine(lines, "class ", c.class)
	lines = appendLine(lines, "signal ", c.kind)
	lines = appendLine(lines, "cause ", c.cause)
	lines = appendLine(lines, "code ", c.code)
	if len(a.near) == 0 {
		lines = appendLine(lines, "message ", c.message())
		lines = appendLine(lines, "place ", sourcePlace(message.FirstLine(text)))
		lines = appendLine(lines, "fault ", faultPlace(text))
		if len(lines) == 0 {
			lines = appendLine(lines, "lang ", scan.OneLine(r.Lang, maxTitle))
			lines = appendLine(lines, "agent ", scan.OneLine(r.Agent, maxTitle))
			return SourceClient, lines, lines, c.rules
		}
		c.rules.Add(rule.NoStack)
		return SourceMessage, lines, lines, c.rules
	}
	// An exception's class says what the system's function found.
	if a.call != "" && c.class == "" {
		lines = append(lines, "call "+a.call)
		c.rules.Add(rule.SystemCall)
	}
	if reasons := c.joinMessage(a); !reasons.IsEmpty() {
		if text := c.message(); text != "" {
			c.rules.Join(reasons)
			lines = append(lines, "message "+text)
		}
	}
	whole := append(make([]string, 0, len(lines)+len(a.order)), lines...)
	if a.systemOnly && (c.cause != "" || c.wrapped != "") {
		// A wrapper's frames are of who wrapped: the cause decides, with what it says.
		a.near = a.near[:1]
		lines = appendLine(lines, "reason ", causeMessage(text, c.cause+c.wrapped))
	}
	for _, i := range a.near {
		lines = append(lines, a.frames[i].Text)
	}
	for _, i := range a.near {
		a.frames[i].Kept = true
	}
	for _, i := range a.order {
		whole = append(whole, a.frames[i].Text)
	}
	return SourceStack, lines, whole, c.rules
}

// joinMessage returns the rules by which the message counts beside frames.
func (c *facts) joinMessage(a *analysis) rule.Set {
	var reasons rule.Set
	if c.line == "" || a.endless {
		return reasons
	}
	if c.generic && (c.cause == "" || !c.repeatsCause) {
		reasons.Add(rule.GenericClass)
	}
	if a.helperOnTop {
		reasons.Add(rule.HelperOnTop)
	}
	if a.systemOnly {
		reasons.Add(rule.SystemStack)
	}
	if !a.telling && !a.systemOnly {
		reasons.Add(rule.NothingTelling)
	}
	return reasons
}

func appendLine(lines []string, label, text string) []string {
	if text == "" {
		return lines
	}
	return append(lines, label+text)
}

// hashMaterial returns the SHA-256 of the version, the source and the lines, each
// with its length before it, so that no line can look like two.
func hashMaterial(source Source, lines []string) [32]byte {
	var stack [2048]byte
	buf := append(stack[:0], "slipway-fingerprint"...)
	buf = binary.AppendUvarint(buf, Version)
	buf = binary.AppendUvarint(buf, uint64(len(source)))
	buf = append(buf, source...)
	for _, l := range lines {
		buf = binary.AppendUvarint(buf, uint64(len(l)))
		buf = append(buf, l...)
	}
	return sha256.Sum256(buf)
}

// messageLine returns the line of a message that says what happened: the first, or
// for a Rust panic, whose first line is its place, the next.
func messageLine(text string) string {
	line := dropSwiftPlace(message.FirstLine(text))
	if strings.HasPrefix(line, "Traceback (most recent call last)") {
		// Python's last line is the error.
		text = strings.TrimSpace(scan.Truncate(text, message.Max))
		return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	}
	if rest, ok := strings.CutPrefix(line, "Abort message: "); ok {
		line = strings.Trim(rest, "'\"") // Android quotes what the program said
	}
	if i := strings.Index(line, ": file "); i > 0 && strings.Contains(line[i:], ", line ") {
		line = line[:i] // Swift appends the place
	}
	head, place, ok := strings.Cut(line, "panicked at ")
	if !ok || !strings.Contains(head, "thread") && head != "" {
		return line
	}
	if strings.HasPrefix(place, "'") {
		// The older form: panicked at 'message', src/main.rs:3:5
		if end := strings.LastIndex(place, "', "); end > 0 {
			return place[1:end]
		}
		return line
	}
	if strings.HasSuffix(line, ":") {
		if next := message.FirstLine(text[strings.Index(text, line)+len(line):]); next != "" {
			return next
		}
	}
	return line
}

// dropSwiftPlace removes the source file and line that Swift writes before what went wrong, or not:
// "Shop/Cart.swift:88: Fatal error: ...".
func dropSwiftPlace(line string) string {
	place, rest, ok := strings.Cut(line, ": ")
	if !ok || strings.IndexByte(place, ' ') >= 0 {
		return line
	}
	if _, number, ok := strings.Cut(place, ".swift:"); ok && scan.AllDigits(number) {
		return rest
	}
	return line
}

// thrownClass returns the class and the message of a C++ exception that nobody
// caught, in the words of the two C++ libraries.
func thrownClass(text string) (class, what string) {
	text = scan.Truncate(text, message.Max)
	for _, mark := range [...]string{"throwing an instance of '", "uncaught exception of type "} {
		_, rest, ok := strings.Cut(text, mark)
		if !ok {
			continue
		}
		end := strings.IndexAny(rest, "'\n")
		if strings.HasPrefix(mark, "uncaught") {
			if end = strings.IndexAny(rest, " \n"); end > 0 {
				rest = rest[:end] + "\n" + rest[end:]
				rest = strings.Replace(rest, ":\n", "\n", 1)
				end = strings.IndexByte(rest, '\n')
			}
		}
		if end < 0 {
			return scan.OneLine(rest, maxTitle), ""
		}
		what = message.FirstLine(strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(rest[end:], "'")), "what():"))
		return scan.OneLine(rest[:end], maxTitle), what
	}
	return "", ""
}

// dropClass removes what clients put before a message: the class of the error, and
// the words by which a browser reports that nobody caught it.
func dropClass(line, class string) string {
	for range 3 {
		before := line
		for _, p := range [...]string{"Uncaught (in promise) ", "Uncaught (in promise): ", "Uncaught ", "uncaught exception: ",
			"Unhandled exception: ", "Unhandled Rejection: ", "panic: ", "Error: ", "Exception: "} {
			line = strings.TrimPrefix(line, p)
		}
		if class != "" {
			for _, c := range [...]string{class, class[strings.LastIndexAny(class, `.:\`)+1:]} {
				if rest, ok := strings.CutPrefix(line, c+": "); ok && c != "" {
					line = rest
				}
			}
		}
		if line == before {
			break
		}
	}
	return line
}
