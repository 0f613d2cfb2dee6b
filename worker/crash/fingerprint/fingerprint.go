// Package fingerprint decides which group a crash report belongs to, and explains
// why. It is pure: the input is a report, the output a 32-byte key, a title and an
// explanation; nothing else is read or stored.
//
// A key that the client sent is used as it is. Else the key is the SHA-256 of
// Version and of a few lines of material, taken from the faulting thread: every
// function name loses what changes between builds, runs and compilers
// (arguments, template arguments, hashes, generated numbers), the frames that
// raise or report the error are cut off the top, those that start a thread off
// the bottom, repeated calls are collapsed, and the application's own frames
// are preferred to those of libraries. A frame without a function name stands
// as its module and the offset in it. A report without a usable stack is
// grouped by its classifier and its message, in which the parts that vary are
// replaced.
//
// Every rule has a stable name (Rule), and the Explanation lists, for each
// frame, the rules that changed it or left it out, and the final material.
//
// The rules are versioned: a change of any rule that changes a key must raise
// Version. Groups keep the version that they were computed with, so that
// nothing gets another key silently. Golden keys in the tests check this.
//
// The input is hostile. Every name, count and depth is bounded, every scanner
// runs in time linear in its input, and there is no error: the worst report
// still gets a key, from its language and reporting client.
package fingerprint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
)

// Version is the version of the rules. It is part of every computed key, and
// is raised with every change that alters the key of some report.
const Version = 1

// attributeFingerprint is the attribute in which some clients (Unity) send a
// group id as text: 64 hexadecimal digits, or anything, which is then hashed.
const attributeFingerprint = "_mod_fingerprint"

// Result is what Compute returns.
type Result struct {
	// Key identifies the group.
	Key [32]byte
	// Given is set when the client chose the key, as the member fingerprint or
	// the attribute _mod_fingerprint. A given key does not depend on Version.
	Given bool
	// Title is the headline of the group: "TypeError: x is undefined". It is one
	// line, at most 200 runes of message, and never empty.
	Title string
	// Culprit is the first frame that counts: "checkout.pay (src/checkout.js)".
	// It is "" for a report without a usable stack.
	Culprit string
	// Classifier is the first classifier of the report, or "".
	Classifier string
	// Explanation describes how Key was computed.
	Explanation Explanation
}

// Compute returns the key of a report's group and its explanation. It never
// fails and does not change the report; the strings of the result may share
// memory with it.
//
// The client's member fingerprint takes precedence over the attribute
// _mod_fingerprint: the member is the documented way, the attribute may have
// been set once for a whole process. Both take precedence over the stack.
func Compute(r *report.Report) Result {
	a := analyse(r)
	res := Result{Culprit: a.culprit}
	if len(r.Classifiers) > 0 {
		res.Classifier = oneLine(r.Classifiers[0], maxTitle)
	}
	message := firstLine(errorMessage(r))
	res.Title = title(r, res.Classifier, message, a.culpritFunction)

	if len(r.Fingerprint) == len(res.Key) {
		copy(res.Key[:], r.Fingerprint)
		return clientKey(res, SourceGiven)
	}
	if text := r.Attribute(attributeFingerprint); text != "" {
		if n, err := hex.Decode(res.Key[:], hexKey(text)); err != nil || n != len(res.Key) {
			res.Key = sha256.Sum256([]byte(text))
		}
		return clientKey(res, SourceAttribute)
	}

	e := &res.Explanation
	e.Version = Version
	e.Thread = a.thread
	e.Frames = a.frames
	e.Skipped = a.skipped
	e.Source, e.Material = material(r, a, message)
	res.Key = hashMaterial(e.Source, e.Material)
	return res
}

func clientKey(res Result, source Source) Result {
	res.Given = true
	res.Explanation = Explanation{
		Version:  Version,
		Source:   source,
		Material: []string{hex.EncodeToString(res.Key[:])},
	}
	return res
}

// hexKey returns text when it can be a key in hexadecimal, else nil.
func hexKey(text string) []byte {
	if len(text) != 2*sha256.Size {
		return nil
	}
	return []byte(text)
}

// material returns the lines that are hashed, and what they were taken from.
func material(r *report.Report, a *analysis, message string) (Source, []string) {
	lines := make([]string, 0, len(a.order)+2)
	classifier := ""
	if len(r.Classifiers) > 0 {
		classifier = normalizeClassifier(r.Classifiers[0], a.family)
	}
	text := normalizeMessage(message)
	if len(a.order) > 0 {
		// A native error shows as another signal from run to run (SIGSEGV,
		// SIGBUS, SIGABRT for one overwritten pointer); elsewhere the
		// exception's class distinguishes the errors of one function.
		if classifier != "" && a.family != familyNative && a.family != familyUnknown {
			lines = append(lines, "class "+classifier)
		}
		if !a.hasNames {
			// Files alone are not enough: all anonymous functions of one
			// bundle would be one group.
			lines = appendLine(lines, "message ", text)
		}
		for _, i := range a.order {
			lines = append(lines, a.frames[i].Text)
		}
		return SourceStack, lines
	}
	if classifier != "" || text != "" {
		lines = appendLine(lines, "class ", classifier)
		return SourceMessage, appendLine(lines, "message ", text)
	}
	lines = appendLine(lines, "lang ", oneLine(r.Lang, maxTitle))
	return SourceClient, appendLine(lines, "agent ", oneLine(r.Agent, maxTitle))
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

// normalizeClassifier removes the generated parts of an exception's class.
func normalizeClassifier(class string, f family) string {
	class = oneLine(class, maxTitle)
	if f == familyJVM || f == familyDotNet || f == familyPHP {
		var n namer
		text, _ := n.normalize(f, class)
		return text
	}
	return strings.TrimSpace(class)
}
