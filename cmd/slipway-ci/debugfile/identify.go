package debugfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/slipway-qa/slipway/storage/artifact/mapping"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/pdb"
	"github.com/slipway-qa/slipway/storage/symbol/portablepdb"
	"github.com/slipway-qa/slipway/storage/symbol/wasm"
)

const (
	// maxHead bounds the first line of a Breakpad file in bytes.
	maxHead = 4 << 10
	// tailSize is where the comments of a script are looked for.
	tailSize = 64 << 10
)

// identify reads the identifiers of a file.
func identify(in *os.File, f *File) ([]symbol.Identifier, error) {
	switch symbol.Kind(f.Format) {
	case symbol.ELF, symbol.MachO, symbol.PE:
		return native(in, f.Size, f.Name)
	case symbol.PDB:
		return pdb.Identify(in, f.Size)
	case symbol.Breakpad:
		return breakpadID(io.NewSectionReader(in, 0, f.Size))
	case symbol.PortablePDB:
		return portablepdb.Identify(in, f.Size)
	case symbol.Wasm:
		return wasm.Identify(in, f.Size)
	case symbol.ProGuard:
		head := make([]byte, min(f.Size, tailSize))
		if _, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
			return nil, err
		}
		if f.Names = bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("[")); f.Names {
			return dartMapID(head), nil
		}
		return mappingIDs(in, f.Size)
	case symbol.SourceMap:
		id, err := mapDebugID(io.NewSectionReader(in, 0, f.Size))
		return scriptID(id), err
	case symbol.Source:
		tail, err := readTail(in, f.Size)
		return scriptID(commentOf(tail, "debugId")), err
	}
	return nil, nil
}

func scriptID(text string) []symbol.Identifier { return only(symbol.ScriptID, text) }

func only(typ symbol.IdentifierType, value string) []symbol.Identifier {
	if id, ok := (symbol.Identifier{Type: typ, Value: value}).Normalize(); ok {
		return []symbol.Identifier{id}
	}
	return nil
}

// breakpadID reads the line MODULE os arch id name.
func breakpadID(r io.Reader) ([]symbol.Identifier, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxHead)).ReadString('\n')
	if err != nil && err != io.EOF {
		return nil, err
	}
	words := strings.Fields(strings.TrimPrefix(line, "\ufeff"))
	if len(words) < 4 {
		return nil, symbol.Invalid(symbol.Malformed, "the line MODULE has no id")
	}
	return only(symbol.DebugID, words[3]), nil
}

// dartMapID reads the build id that plugins of build tools write into an obfuscation map of Dart, near its
// beginning; none when there is none: crashes find the map by the debug files that go with it.
func dartMapID(head []byte) []symbol.Identifier {
	if m := dartMarker().FindSubmatch(head); m != nil {
		return only(symbol.MappingID, string(m[1]))
	}
	return nil
}

var dartMarker = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"SENTRY_DEBUG_ID_MARKER"\s*,\s*"([0-9A-Fa-f-]+)"`)
})

func mappingIDs(r io.ReaderAt, size int64) ([]symbol.Identifier, error) {
	head, err := mapping.ReadAt(r, size)
	if err != nil {
		return nil, err
	}
	return append(only(symbol.MappingID, head.MapID), only(symbol.MappingID, head.MapHash)...), nil
}

// mapDebugID reads debugId, or debug_id, of a source map; "" for none.
func mapDebugID(r io.Reader) (string, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if _, err := skipGuard(in); err != nil {
		return "", err
	}
	d := json.NewDecoder(in)
	if _, err := d.Token(); err != nil { // {
		return "", symbol.Invalid(symbol.Malformed, "the map is no JSON: %v", err)
	}
	id := ""
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return "", symbol.Invalid(symbol.Malformed, "the map is no JSON: %v", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return "", symbol.Invalid(symbol.Malformed, "the map is no JSON: %v", err)
		}
		if name == "debugId" || name == "debug_id" && id == "" {
			_ = json.Unmarshal(value, &id)
		}
	}
	return id, nil
}

// skipGuard skips the line )]}' of maps that are sent to browsers, and returns its length, that
// of a byte order mark included.
func skipGuard(in *bufio.Reader) (int, error) {
	n := 0
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		n, _ = in.Discard(3)
	}
	if mark, _ := in.Peek(3); string(mark) == ")]}" {
		line, err := in.ReadString('\n')
		return n + len(line), err
	}
	return n, nil
}

func readTail(r io.ReaderAt, size int64) ([]byte, error) {
	tail := make([]byte, min(size, tailSize))
	n, err := r.ReadAt(tail, size-int64(len(tail)))
	if n == len(tail) {
		err = nil
	}
	return tail[:n], err
}

// leadsToMap reports whether a script names its map.
func leadsToMap(path string) bool {
	tail, err := tailOf(path)
	return err == nil && commentOf(tail, "sourceMappingURL") != ""
}

func tailOf(path string) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	return readTail(in, info.Size())
}

// commentOf returns the value of the last comment //# name=value that stands alone on its line.
func commentOf(text []byte, name string) string {
	_, value := lastComment(text, name)
	return value
}

// lastComment returns where such a comment begins, -1 for none.
func lastComment(text []byte, name string) (at int, value string) {
	at = -1
	for begin := 0; begin < len(text); {
		line := text[begin:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		trimmed := strings.TrimSpace(string(line))
		for _, mark := range []string{"//# ", "//@ "} {
			if v, ok := strings.CutPrefix(trimmed, mark+name+"="); ok && v != "" && !strings.ContainsAny(v, " \t\"'`") {
				at, value = begin, v
			}
		}
		begin += len(line)
	}
	return at, value
}
