package fingerprint

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// maxTitle bounds the message in a title in runes, and every other part of a
// title or of the material that is used unchanged in bytes.
const maxTitle = 200

// errorMessage returns the text of the error. Clients of every language send
// error.message; the others are what some send beside or instead of it.
func errorMessage(r *report.Report) string {
	for _, key := range [...]string{"error.message", "error_message", "exception.message", "message"} {
		if text := r.Attribute(key); strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// title returns the headline of a group. message is one line.
func title(r *report.Report, classifier, message, function string) string {
	message = scan.TruncateRunes(scan.OneLine(message, 4*maxTitle), maxTitle)
	switch {
	case classifier != "" && message != "":
		if rest, ok := strings.CutPrefix(message, classifier); ok && (rest == "" || rest[0] == ':' || rest[0] == ' ') {
			return message
		}
		return classifier + ": " + message
	case message != "":
		return message
	case classifier != "" && function != "":
		return classifier + " in " + function
	case classifier != "":
		return classifier
	case function != "":
		return "Crash in " + function
	}
	if lang := scan.OneLine(r.Lang, maxTitle); lang != "" {
		return "Crash (" + lang + ")"
	}
	return "Crash"
}
