// Package fingerprint decides which group a crash report belongs to, and explains
// why. It is pure: the input is a report, the output a 32-byte key, a title and an
// explanation; nothing else is read or stored.
//
// A key that the client sent is used as it is. Else the key is the SHA-256 of
// Version and of a few lines of material, taken from the faulting thread: every
// function name loses what changes between builds, runs and compilers, the frames
// that raise or report the error and those that start a thread are cut off,
// repeated calls are collapsed, and the application's own frames are preferred to
// those of libraries. Of these the ones nearest the error count, up to the first
// that names the place of the error by itself (near.go): another caller or a
// decorator changes nothing. The whole stack is a second key, StackKey.
//
// Beside the frames stands what tells two errors of one place apart: the class,
// or for native code the signal and the system's function that was called; the
// cause that the error wraps; and the message where the class says nothing, where
// no frame is the application's, or where there is no stack (material.go).
//
// What reads one frame or one text lies below, in packages of which each is above those
// that it uses: scan, rule, language, filename, naming, noise, message.
//
// Every rule has a stable name (rule.Rule); the Explanation lists those of each frame.
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
	"encoding/hex"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// Version is the version of the rules. It is part of every computed key, and
// is raised with every change that alters the key of some report.
const Version = 3

// attributeFingerprint is the attribute in which some clients (Unity) send a
// group id as text: 64 hexadecimal digits, or anything, which is then hashed.
const attributeFingerprint = "_mod_fingerprint"

// Result is what Compute returns.
type Result struct {
	// Key identifies the group.
	Key [32]byte
	// StackKey identifies the whole stack. Groups are not made of it: it shows
	// which ways lead to one error, and a group can be split by it.
	StackKey [32]byte
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
func Compute(r *report.Report) Result { return Libraries{}.Compute(r) }

// Compute is Compute for a crash project that names libraries.
func (l Libraries) Compute(r *report.Report) Result {
	a := analyse(r, l)
	res := Result{Culprit: a.culprit}
	if len(r.Classifiers) > 0 {
		res.Classifier = scan.OneLine(r.Classifiers[0], maxTitle)
	}
	text := errorMessage(r)
	message := messageLine(text)
	res.Title = title(r, res.Classifier, message, a.culpritFunction)

	source, lines, whole, rules := material(r, a, text)
	res.StackKey = hashMaterial(sourceWhole, whole)
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
	e.Source, e.Material, e.Rules = source, lines, rules
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
