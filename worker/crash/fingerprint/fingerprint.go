// Package fingerprint decides which group a crash report belongs to, and says
// why. It is pure rules: a report goes in, a 32-byte key, a title and an
// explanation come out; nothing is read or kept elsewhere.
//
// A key that the client sent is used as it is. Else the key is the SHA-256 of
// Version and of a few lines of material, made from the faulting thread:
// every function name is freed of what changes between builds, runs and
// compilers (arguments, template arguments, hashes, generated numbers), the
// frames that raise or report the error are cut off the top, those that start
// a thread off the bottom, repeated calls are collapsed, and the application's
// own frames are preferred to those of libraries. A frame without a function
// name stands as its module and the offset in it. A report without a usable
// stack is grouped by its classifier and its message, with the parts of the
// message that vary replaced.
//
// Every rule has a stable name (Rule), and the Explanation lists, for each
// frame, the rules that changed it or left it out, and the final material.
//
// The rules are versioned: a change of any rule that changes a key must raise
// Version. Groups keep the version that made them, so that nothing is re-keyed
// silently. Golden keys in the tests hold this.
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

// Result is what Compute found.
type Result struct {
	// Key identifies the group.
	Key [32]byte
	// Given says that the client chose the key, as the member fingerprint or
	// the attribute _mod_fingerprint. A given key does not depend on Version.
	Given bool
	// Title is what a person reads first: "TypeError: x is undefined". It is
	// one line, at most 200 runes of message, and never empty.
	Title string
	// Culprit is the first frame that counts: "checkout.pay (src/checkout.js)".
	// It is "" for a report without a usable stack.
	Culprit string
	// Classifier is the first classifier of the report, or "".
	Classifier string
	// Explanation says how Key came about.
	Explanation Explanation
}

// Compute returns the key of a report's group and its explanation. It never
// fails and does not change the report; the strings of the result may share
// memory with it.
//
// The client's member fingerprint goes before the attribute _mod_fingerprint:
// the member is the documented way, the attribute may have been set once for
// a whole process. Both go before the stack.
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

// material returns the lines that are hashed, and what they were made from.
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
		// exception's class tells errors of one function apart.
		if classifier != "" && a.family != familyNative && a.family != familyUnknown {
			lines = append(lines, "class "+classifier)
		}
		if !a.hasNames {
			// Files alone are too little: all anonymous functions of one
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

// hashMaterial is SHA-256 over the version, the source and the lines, each
// with its length before it, so that no text can imitate two lines.
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

// normalizeClassifier frees an exception's class of generated parts.
func normalizeClassifier(class string, f family) string {
	class = oneLine(class, maxTitle)
	if f == familyJVM || f == familyDotNet || f == familyPHP {
		var n namer
		text, _ := n.normalize(f, class)
		return text
	}
	return strings.TrimSpace(class)
}
