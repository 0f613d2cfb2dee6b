package terminal

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// crashesRead says that tasks of crashes succeeded. It names no number: one task reads up
// to some dozens of reports.
const crashesRead = "crashes were read"

// succeeded are the tasks that somebody waits for, with what is said when one succeeds.
var succeeded = map[string]string{
	"build:notify":        "testers are told of a build",
	"build:invite":        "testers are invited to a build",
	"build:sync":          "a build was copied to the storage of its organization",
	"tester:welcome":      "testers are welcomed by mail",
	"test:generate":       "a test was written from its sentence",
	"test:job":            "a test was played",
	"symbol:index":        "a symbol file was read",
	"crash:resymbolicate": "crashes were read anew with symbols",
	"webhook:replay":      "deliveries of a webhook are sent again",
}

// Routine is the attribute, true, of records that a person need not read: what the start and
// the end of a process print anyway, and what is counted elsewhere. Tiers below cmd write its
// name. It is for Handler alone, which does not print it.
const Routine = "routine"

// outcomes are the ends of an attempt that did not succeed, in words.
var outcomes = map[string]string{
	"retry": "failed, and is tried again", "dead": "failed for good", "released": "is put off", "stale": "was done by another worker",
	"cancelled": "was cancelled", "unrecorded": "ended, which could not be recorded",
}

// trouble is the line of a warning or an error: what, and why.
func trouble(r slog.Record, of fields) string {
	word := "warning: "
	if r.Level >= slog.LevelError {
		word = "error: "
	}
	what, told := r.Message, maps.Clone(aside)
	if kind := of.text("kind"); r.Message == "task ended" && kind != "" {
		what = "task " + kind + " " + outcome(of.text("outcome"))
		told["kind"], told["outcome"] = true, true
	}
	for _, name := range []string{"error", "panic", "reason"} {
		if reason := of.text(name); reason != "" {
			what += ": " + reason
			told[name] = true
			break
		}
	}
	return word + what + of.inBrackets(told)
}

func outcome(name string) string {
	if text := outcomes[name]; text != "" {
		return text
	}
	return "ended as " + name
}

// request is the line of a request that was not served, or that brought a build.
func request(of fields) string {
	status := of.number("status")
	switch path := of.text("route"); {
	case status >= http.StatusInternalServerError:
		return fmt.Sprintf("a request failed: %s %s (status %d, request_id %s)", of.text("method"), of.text("path"),
			status, of.text("request_id"))
	case of.text("method") == http.MethodPost && status < http.StatusMultipleChoices && uploads[strings.TrimSuffix(path, "/")]:
		return "a build was uploaded"
	}
	return ""
}

// uploads are the routes by which builds come.
var uploads = map[string]bool{"/api/upload": true, "/api/v3/builds/upload": true}

// field is an attribute of a record.
type field struct {
	name  string
	value slog.Value
}

// fields are the attributes of a record, those of groups with the group's name before.
type fields []field

func (f *fields) add(prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() != slog.KindGroup {
		*f = append(*f, field{prefix + a.Key, v})
		return
	}
	if a.Key != "" {
		prefix += a.Key + "."
	}
	for _, inner := range v.Group() {
		f.add(prefix, inner)
	}
}

// text is an attribute as text; "" when there is none.
func (f fields) text(name string) string {
	for _, a := range f {
		if a.name == name && !empty(a.value) {
			return text(a.value)
		}
	}
	return ""
}

// number is an attribute as a number; 0 when there is none.
func (f fields) number(name string) int64 {
	for _, a := range f {
		if a.name == name && a.value.Kind() == slog.KindInt64 {
			return a.value.Int64()
		}
	}
	return 0
}

// is reports whether an attribute is true.
func (f fields) is(name string) bool {
	for _, a := range f {
		if a.name == name {
			return a.value.Kind() == slog.KindBool && a.value.Bool()
		}
	}
	return false
}

// aside are attributes that help nobody at a terminal, but who asks for all.
var aside = map[string]bool{"stack": true, "waited": true, "took": true, "tasks": true, "request_id": true}

// inBrackets is the attributes in brackets, without Routine and those that are left out.
func (f fields) inBrackets(out map[string]bool) string {
	var list []string
	for _, a := range f {
		if a.name != Routine && !out[a.name] && !empty(a.value) {
			list = append(list, a.name+" "+text(a.value))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func text(v slog.Value) string {
	if v.Kind() == slog.KindDuration {
		return strconv.FormatFloat(milliseconds(v.Duration()), 'f', -1, 64) + " ms"
	}
	return v.String()
}

func empty(v slog.Value) bool {
	switch v.Kind() {
	case slog.KindString:
		return v.String() == ""
	case slog.KindAny:
		return v.Any() == nil
	}
	return false
}

// milliseconds is a duration for people and programs, to a microsecond.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Sparse is the ReplaceAttr of the other formats: a duration becomes a number of
// milliseconds, named so, and what is empty is left out.
func Sparse(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); {
	case a.Key == slog.MessageKey:
		return a
	case v.Kind() == slog.KindDuration:
		return slog.Float64(a.Key+"_ms", milliseconds(v.Duration()))
	case empty(v):
		return slog.Attr{}
	}
	return a
}
