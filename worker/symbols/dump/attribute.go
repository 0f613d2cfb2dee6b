package dump

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of attributes, with those of the form below those of a report
// (report.DefaultLimits).
const (
	maxAttributes = 4_000
	maxKey        = 256
	maxValue      = 16 << 10
	// maxValues bounds the values of the dump's attributes together, in bytes.
	maxValues = 1 << 20
)

// known returns the attributes that follow from the dump's members, in the names that
// other clients use.
func (d *Dump) known(all bool) []Attribute {
	s, p := d.System, d.Process
	out := []Attribute{
		{"uname.sysname", sysname(s.OS)}, {"uname.release", s.Version}, {"uname.version", s.Build}, {"uname.machine", s.Arch},
		{"cpu.description", s.CPUInfo}, {"application", p.Name}, {"process.name", p.Name}, {"application.version", p.Version},
		{"process.path", p.Path}, {"process.id", number(p.ID)}, {"process.start_time", number(p.Started)}, {"cpu.count", number(int64(s.CPUs))},
	}
	if p.Started > 0 && d.Time >= p.Started {
		out = append(out, Attribute{"process.age", strconv.FormatInt(d.Time-p.Started, 10)})
	}
	if r := d.Reason; r != nil {
		out = append(out, Attribute{"error.message", r.text()}, Attribute{"error.type", "Crash"}, Attribute{"crash.reason", r.Name})
		if r.HasAddress {
			out = append(out, Attribute{"fault.address", hexadecimal(r.Address)})
		}
	}
	if d.Main >= 0 && d.Main < len(d.Threads) {
		out = append(out, Attribute{"thread.name", d.Threads[d.Main].Name}, Attribute{"fault.thread",
			strconv.FormatUint(d.Threads[d.Main].ID, 10)})
	}
	if all {
		out = append(out, d.Attributes...)
	}
	return out
}

// numeric are the attributes that are numbers in the report.
func numeric(key string) bool {
	switch key {
	case "process.id", "process.start_time", "process.age", "process.user_time", "process.system_time", "cpu.count", "cpu.family",
		"cpu.model", "cpu.stepping", "cpu.frequency", "assertion.line", "vm.vma.peak", "vm.vma.size", "vm.rss.peak",
		"vm.rss.size", "vm.swap.size":
		return true
	}
	return false
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// text is the reason and where: "SIGSEGV / SEGV_MAPERR at 0x10", and what the program said.
func (r *Reason) text() string {
	text := r.Name
	if r.HasAddress {
		text += " at " + hexadecimal(r.Address)
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// sysname names a system as uname does.
func sysname(os string) string {
	switch os {
	case MacOS:
		return "Darwin"
	}
	return os
}

// mergedAttributes adds the dump's attributes to those of the submission, which win.
func (d *Dump) mergedAttributes(given map[string]json.RawMessage, all bool) map[string]any {
	out := make(map[string]any, len(given)+40)
	for key, value := range given {
		out[key] = value
	}
	room := maxValues
	for _, a := range d.known(all) {
		if _, there := out[a.Key]; there || a.Value == "" || len(a.Key) > maxKey || len(out) >= maxAttributes {
			continue
		}
		if numeric(a.Key) {
			if n, err := strconv.ParseInt(a.Value, 10, 64); err == nil {
				out[a.Key] = n
				continue
			}
		}
		if value := shorten(a.Value); len(value) <= room {
			room -= len(value)
			out[a.Key] = value
		}
	}
	return out
}

func shorten(text string) string {
	if len(text) <= maxValue {
		return text
	}
	n := maxValue
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// mergedAnnotations adds what is for reading: the dump's annotations, unloaded modules,
// and warnings. An annotation of the submission that is no object stays beside them.
func (d *Dump) mergedAnnotations(given json.RawMessage, all bool) map[string]any {
	out := map[string]any{}
	if all {
		for name, value := range d.Annotations {
			out[name] = value
		}
	}
	own := map[string]any{"format": d.Format}
	if !all && len(d.Annotations) > 0 {
		own["left_out"] = "the annotations of the dump hold more secrets than a report may"
	}
	if len(d.Warnings) > 0 {
		own["warnings"] = d.Warnings
	}
	if len(d.Unloaded) > 0 {
		unloaded := make([]string, 0, len(d.Unloaded))
		for _, m := range d.Unloaded {
			unloaded = append(unloaded, strings.Join([]string{hexadecimal(m.Start), hexadecimal(m.Start + m.Size), m.CodeFile}, " "))
		}
		own["unloaded_modules"] = unloaded
	}
	out["Dump"] = own
	var object map[string]json.RawMessage
	if len(given) == 0 || string(given) == "null" {
		return out
	}
	if err := json.Unmarshal(given, &object); err != nil {
		out["Submitted"] = given
		return out
	}
	for name, value := range object {
		out[name] = value
	}
	return out
}
