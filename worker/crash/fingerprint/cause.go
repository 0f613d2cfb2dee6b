package fingerprint

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/message"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// causeAttributes are the attributes in which clients send the error that another
// one wraps.
var causeAttributes = [...]string{"error.cause.type", "error.cause.class", "error.cause", "exception.cause.type",
	"exception.cause.class", "exception.cause", "cause.type", "cause.class", "cause",
	"error.inner.type", "error.inner", "inner_exception.type", "inner_exception", "innerException", "exception.inner",
	"error.root_cause", "root_cause", "rootCause"}

// causeMarks stand before the cause in texts of several lines or clauses; the last
// cause is the first that happened.
var causeMarks = [...]string{"Caused by: ", "caused by: ", "nested exception is: ", "nested exception is ", " ---> ",
	"Inner exception: ", "InnerException: ", "root cause: "}

// maxClauses bounds the clauses of a message that are read, as in "Unable to start
// activity: java.lang.NullPointerException: cart".
const maxClauses = 8

// maxCause bounds the text in which a cause is searched.
const maxCause = 16 << 10

// errorCause returns what the error was caused by, as its class, or as its class
// and message when the class says nothing; "" when nothing is known of it.
// text is the whole message.
func errorCause(r *report.Report, f language.Family, class, text string) string {
	for _, key := range causeAttributes {
		if v := strings.TrimSpace(r.Attribute(key)); v != "" {
			return causeText(lastCause(v), f)
		}
	}
	if isWrapperClass(class) {
		for i, c := range r.Classifiers[:min(len(r.Classifiers), maxClassifiers)] {
			if c = normalizeClassifier(c, f); i > 0 && isClassName(c) && c != class {
				return causeText(c, f)
			}
		}
	}
	text = scan.Truncate(text, maxCause)
	if cause := lastCause(text); cause != text {
		return causeText(cause, f)
	}
	for _, mark := range [...]string{"During handling of the above exception", "The above exception was the direct cause"} {
		if i := strings.Index(text, mark); i > 0 {
			// Python writes the cause first.
			before := strings.TrimSpace(text[:i])
			return causeText(before[strings.LastIndexByte(before, '\n')+1:], f)
		}
	}
	// An exception without a message of its own repeats its cause.
	if isGenericClass(class) {
		line := message.FirstLine(text)
		if own, rest, ok := strings.Cut(line, ": "); ok && own == class {
			line = rest
		}
		for range maxClauses {
			head, rest, more := strings.Cut(line, ": ")
			if isClassName(head) && head != class && f != language.Go {
				return causeText(line, f)
			}
			if !more {
				break
			}
			line = rest
		}
	}
	return ""
}

// lastCause returns what follows the last mark of a cause, or text.
func lastCause(text string) string {
	at := 0
	for _, mark := range causeMarks {
		// From the front first: most texts have no mark, and that is found faster.
		if i := strings.Index(text, mark); i >= 0 {
			at = max(at, strings.LastIndex(text, mark)+len(mark))
		}
	}
	return text[at:]
}

// causeMessage returns what the cause in a text says, "" where it is not there or its class says all.
func causeMessage(text, class string) string {
	text = scan.Truncate(text, maxCause)
	cause := lastCause(text)
	if cause == text || saysAll(class) {
		return ""
	}
	line := message.FirstLine(cause)
	if rest, ok := strings.CutPrefix(line, class); ok {
		line = strings.TrimLeft(rest, ": ")
	}
	if line = message.NormalizeText(line, class); line == class {
		return ""
	}
	return line
}

// causeText returns the class at the start of a cause, with the message where that
// is all that is known.
func causeText(cause string, f language.Family) string {
	cause = strings.TrimLeft(message.FirstLine(cause), "( ")
	end := strings.IndexAny(cause, ":;( ")
	if end < 0 {
		end = len(cause)
	}
	class := normalizeClassifier(strings.TrimRight(cause[:end], ".,)"), f)
	if !isClassName(class) || isGenericClass(class) {
		return message.Normalize(cause)
	}
	return class
}
