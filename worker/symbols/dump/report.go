package dump

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
)

// Report returns the dump as a report document (storage/report), merged into base: the
// document that was made of the submission, with its uuid, its timestamp and the
// attributes of the form. What base says stays where both say something: a submitter
// sets attributes on purpose, and Crashpad sends its annotations both ways. threads,
// mainThread, arch, modules and memory are the dump's.
//
// The result passes report.Check, and its secrets are masked. An error is a
// *report.Error, or says that base is no JSON object.
func (d *Dump) Report(base []byte) ([]byte, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(base, &doc); err != nil {
		return nil, fmt.Errorf("document of the submission: %w", err)
	}
	given := struct {
		Attributes  map[string]json.RawMessage `json:"attributes"`
		Annotations json.RawMessage            `json:"annotations"`
		Classifiers []string                   `json:"classifiers"`
	}{}
	if err := json.Unmarshal(base, &given); err != nil {
		return nil, fmt.Errorf("document of the submission: %w", err)
	}
	// The texts of a hostile dump may have more secrets than a report may, or be too long:
	// then they are left out, the annotations first.
	for _, left := range []texts{{true, true}, {attributes: true}, {}} {
		b, err := d.document(doc, left, submission{given.Attributes, given.Annotations, given.Classifiers})
		if err != nil {
			return nil, fmt.Errorf("write report of a dump: %w", err)
		}
		head, err := report.Check(b, report.Limits{})
		if len(b) > maxReport {
			err = fmt.Errorf("it has %d bytes, more than %d", len(b), maxReport)
		}
		if err == nil {
			return report.Scrub(nil, head), nil
		}
		if !left.attributes {
			return nil, fmt.Errorf("report of a dump: %w", err)
		}
	}
	return nil, nil
}

// maxReport bounds the document, in bytes: that of a crash with all its threads has some
// hundred kilobytes.
const maxReport = 16 << 20

// texts says which texts of the dump go into the report.
type texts struct{ attributes, annotations bool }

// submission is what the document of the submission says that is merged.
type submission struct {
	attributes  map[string]json.RawMessage
	annotations json.RawMessage
	classifiers []string
}

func (d *Dump) document(doc map[string]json.RawMessage, left texts, given submission) ([]byte, error) {
	threads, main := d.threads()
	members := map[string]any{
		"threads": threads, "mainThread": main,
		"attributes":  d.mergedAttributes(given.attributes, left.attributes),
		"annotations": d.mergedAnnotations(given.annotations, left.annotations),
		"modules":     d.modules(),
	}
	if a := d.arch(); a != nil {
		members["arch"] = a
	}
	if len(d.Memory) > 0 {
		members["memory"] = d.memory()
	}
	if d.Reason != nil && len(given.classifiers) == 0 {
		members["classifiers"] = []string{d.Reason.Name}
	}
	for name, value := range members {
		b, err := marshal(value)
		if err != nil {
			return nil, err
		}
		doc[name] = b
	}
	return marshal(doc)
}

// marshal writes JSON without the escapes for HTML: the answer's writer adds its own.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// threadDocument is a thread of the report; frameDocument a frame. trust and
// return_address are members of our own.
type threadDocument struct {
	Name  string          `json:"name,omitempty"`
	Fault bool            `json:"fault,omitempty"`
	Stack []frameDocument `json:"stack"`
	Skip  string          `json:"skipped,omitempty"`
	Cut   bool            `json:"cut,omitempty"`
}

type frameDocument struct {
	Function      string         `json:"funcName,omitempty"`
	Address       string         `json:"address"`
	Library       string         `json:"library,omitempty"`
	DebugID       string         `json:"debug_identifier,omitempty"`
	Guessed       bool           `json:"guessed_frame"`
	Faulted       bool           `json:"faulted,omitempty"`
	Trust         string         `json:"trust"`
	ReturnAddress bool           `json:"return_address,omitempty"`
	Registers     map[string]any `json:"registers,omitempty"`
}

// threads writes the threads in order, that of the crash first, so that a reader that
// stops early has it. The second result is its key. Ids that are there twice get a
// number behind them.
func (d *Dump) threads() (json.RawMessage, string) {
	order := make([]int, 0, len(d.Threads))
	if d.Main >= 0 && d.Main < len(d.Threads) {
		order = append(order, d.Main)
	}
	for i := range d.Threads {
		if i != d.Main {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return json.RawMessage(`{"0":{}}`), "0"
	}
	seen := map[string]int{}
	b := []byte{'{'}
	first := ""
	for n, i := range order {
		t := &d.Threads[i]
		key := strconv.FormatUint(t.ID, 10)
		if seen[key]++; seen[key] > 1 {
			key += "-" + strconv.Itoa(seen[key])
		}
		if n == 0 {
			first = key
		} else {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, key), ':')
		text, _ := marshal(d.thread(t, n == 0 && d.Reason != nil)) // plain data: cannot fail
		b = append(b, text...)
	}
	return append(b, '}'), first
}

func (d *Dump) thread(t *Thread, fault bool) threadDocument {
	out := threadDocument{Name: t.Name, Fault: fault, Stack: make([]frameDocument, 0, len(t.Frames)), Skip: t.Skip, Cut: t.Cut}
	for i, f := range t.Frames {
		x := frameDocument{Function: f.Symbol, Address: hexadecimal(f.Address), Guessed: f.Guessed(), Trust: f.Trust,
			ReturnAddress: i > 0, Faulted: fault && i == 0}
		if f.Module >= 0 && f.Module < len(d.Modules) {
			x.Library, x.DebugID = baseName(d.Modules[f.Module].CodeFile), d.Modules[f.Module].DebugID
		}
		if i == 0 {
			x.Registers = d.registers(f.Registers)
		}
		out.Stack = append(out.Stack, x)
	}
	return out
}

// width is the size of a register of the architecture; 0 when it has no registers here.
func (d *Dump) width() int {
	switch d.System.Arch {
	case X86, ARM:
		return 4
	case X86_64, ARM64:
		return 8
	}
	return 0
}

// registers returns values as the report has them: text for those of 64 bits.
func (d *Dump) registers(values map[string]uint64) map[string]any {
	width := d.width()
	if width == 0 || len(values) == 0 {
		return nil
	}
	out := make(map[string]any, len(values))
	for name, v := range values {
		if width == 8 {
			out[name] = strconv.FormatUint(v, 10)
		} else {
			out[name] = uint32(v)
		}
	}
	return out
}

// arch names the architecture and the types of its registers, those that any first
// frame has.
func (d *Dump) arch() any {
	if d.System.Arch == "" {
		return nil
	}
	kind := map[int]string{4: "u32", 8: "u64"}[d.width()]
	types := map[string]string{}
	for i := range d.Threads {
		if len(d.Threads[i].Frames) > 0 && kind != "" {
			for name := range d.Threads[i].Frames[0].Registers {
				types[name] = kind
			}
		}
	}
	return map[string]any{"name": d.System.Arch, "registers": types}
}

type moduleDocument struct {
	Start     string `json:"start"`
	Size      uint64 `json:"size"`
	CodeFile  string `json:"code_file,omitempty"`
	Version   string `json:"version,omitempty"`
	DebugFile string `json:"debug_file,omitempty"`
	DebugID   string `json:"debug_identifier,omitempty"`
	CodeID    string `json:"code_identifier,omitempty"`
}

func (d *Dump) modules() []moduleDocument {
	out := make([]moduleDocument, 0, len(d.Modules))
	for _, m := range d.Modules {
		out = append(out, moduleDocument{Start: hexadecimal(m.Start), Size: m.Size, CodeFile: m.CodeFile, Version: m.Version,
			DebugFile: m.DebugFile, DebugID: m.DebugID, CodeID: m.CodeID})
	}
	return out
}

// maxSlices bounds the memory slices of a report.
const maxSlices = 1000

// memory lists where the dump has memory, without the bytes: these may hold what the
// user typed, and nothing can mask that. They stay in the dump.
func (d *Dump) memory() []map[string]any {
	out := []map[string]any{}
	for _, r := range d.Memory[:min(len(d.Memory), maxSlices)] {
		out = append(out, map[string]any{"start": hexadecimal(r.Start), "size": len(r.Data)})
	}
	return out
}

func hexadecimal(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// baseName returns the last part of a path of any system.
func baseName(name string) string {
	if name == "" {
		return ""
	}
	const longest = 255 // of a file's name on all systems; a frame repeats it
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "")
	}
	return name
}
