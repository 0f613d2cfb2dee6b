package parse

import (
	"encoding/json"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// Mention is what an archive's manifest says about one of its files. The manifest is that
// of artifact bundles, which uploaders of source maps make: manifest.json with "files" by
// path, each with "url", "type" and "headers" (debug-id, sourcemap). Source bundles of native code have
// "debug_id" and "code_id" of the module, and the "path" of each file.
type Mention struct {
	URL     string `json:"url,omitempty"`
	DebugID string `json:"debug_id,omitempty"`
	// SourceMap is the reference to the map of a script, relative to its URL.
	SourceMap string `json:"source_map,omitempty"`
	// Path is where a source of native code was on the machine that compiled it.
	Path string `json:"path,omitempty"`
}

// maxManifest is 400 bytes for each file that an archive may have.
const maxManifest = 8 << 20

// readManifest reads the manifest, if there is one. One that cannot be read says nothing.
func (u *unpacking) readManifest(a *archive.Archive) {
	entries := a.All("manifest.json")
	if len(entries) == 0 {
		return
	}
	doc, err := a.Read(entries[0], maxManifest)
	if err != nil {
		return
	}
	var m struct {
		Release string `json:"release"`
		DebugID string `json:"debug_id"`
		CodeID  string `json:"code_id"`
		Files   map[string]struct {
			URL     string            `json:"url"`
			Path    string            `json:"path"`
			Headers map[string]string `json:"headers"`
		} `json:"files"`
	}
	if err := json.Unmarshal(doc, &m); err != nil || len(m.Files) > maxMembers {
		return
	}
	u.out.Release = m.Release
	for _, id := range []symbol.Identifier{{Type: symbol.DebugID, Value: m.DebugID}, {Type: symbol.CodeID, Value: m.CodeID}} {
		if id, ok := id.Normalize(); ok {
			u.out.Modules = append(u.out.Modules, id)
		}
	}
	u.out.Manifest = map[string]Mention{}
	for name, file := range m.Files {
		path, err := memberPath(name)
		if err != nil {
			continue
		}
		mention := Mention{URL: file.URL, Path: reference(file.Path)}
		for key, value := range file.Headers {
			switch strings.ToLower(key) {
			case "debug-id":
				if id, ok := (symbol.Identifier{Type: symbol.ScriptID, Value: value}).Normalize(); ok {
					mention.DebugID = id.Value
				}
			case "sourcemap":
				mention.SourceMap = value
			}
		}
		u.out.Manifest[path] = mention
	}
}
