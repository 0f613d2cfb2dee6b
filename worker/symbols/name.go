package symbols

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

// names computes the identifiers of the files of one upload: what a file says about itself,
// and what the upload says about it.
type names struct {
	upload  *symbolfile.Upload
	in      *parse.Unpacked // nil: nothing but paths
	release string
	scripts map[string][]string // addresses of scripts by that of their map, from the manifest
	counts  map[symbol.Kind]int
	native  int // debug files of native code
}

func newNames(u *symbolfile.Upload, in *parse.Unpacked) *names {
	n := &names{upload: u, in: in, release: u.Release, scripts: map[string][]string{}, counts: map[symbol.Kind]int{}}
	if in == nil {
		return n
	}
	if n.release == "" {
		n.release = in.Release
	}
	for _, m := range in.Members {
		n.counts[symbol.Kind(m.Format)]++
		if symbol.Kind(m.Format).Native() {
			n.native++
		}
		mention := in.Manifest[m.Path]
		if mention.URL != "" && mention.SourceMap != "" {
			target := resolve(mention.URL, mention.SourceMap)
			n.scripts[target] = append(n.scripts[target], mention.URL)
		}
	}
	return n
}

// of returns the identifiers of a file, normalized, each once.
func (n *names) of(path string, kind symbol.Kind, facts parse.Facts) []symbol.Identifier {
	all := slices.Clone(facts.Identifiers)
	var mention parse.Mention
	if n.in != nil {
		mention = n.in.Manifest[path]
	}
	switch kind {
	case symbol.ProGuard:
		all = append(all, symbol.Identifier{Type: symbol.MappingID, Value: n.upload.GivenID})
	case symbol.SourceMap, symbol.Source, symbol.Wasm:
		if kind == symbol.Source {
			all = append(all, n.nativeSource(path, mention)...)
		}
		all = append(all, symbol.Identifier{Type: symbol.ScriptID, Value: mention.DebugID})
		if n.counts[kind] <= 1 {
			all = append(all, symbol.Identifier{Type: symbol.ScriptID, Value: n.upload.GivenID})
		}
		for _, address := range n.addresses(path, kind, mention, facts) {
			all = append(all, symbol.Identifier{Type: symbol.URL, Value: address, Release: n.release})
		}
	case symbol.PortablePDB, symbol.PE:
		if facts.Managed {
			all = append(all, symbol.Identifier{Type: symbol.URL, Value: n.assembly(path), Release: n.release})
		}
	}
	var normal []symbol.Identifier
	for _, id := range all {
		if id, ok := id.Normalize(); ok && !slices.Contains(normal, id) {
			normal = append(normal, id)
		}
	}
	return normal
}

// nativeSource returns the addresses of a source for the modules that it was compiled to: of all debug
// files of the archive, and of the modules that the sender or the manifest names.
func (n *names) nativeSource(name string, mention parse.Mention) (all []symbol.Identifier) {
	if name == "" || n.in == nil {
		return nil
	}
	address := symbol.SourcePath(cmp.Or(mention.Path, name))
	if n.native > 0 {
		all = append(all, symbol.Identifier{Type: symbol.URL, Value: address, Release: symbol.UploadRelease(n.upload.ID)})
	}
	modules := slices.Clone(n.in.Modules)
	for _, typ := range []symbol.IdentifierType{symbol.DebugID, symbol.BuildID} {
		if id, ok := (symbol.Identifier{Type: typ, Value: n.upload.GivenID}).Normalize(); ok {
			modules = append(modules, id)
		}
	}
	for _, id := range modules {
		all = append(all, symbol.Identifier{Type: symbol.URL, Value: address, Release: symbol.SourceRelease(id)})
	}
	return all
}

// assembly returns the address of debug information of .NET: its name alone, as stack traces name no
// folders.
func (n *names) assembly(name string) string {
	return "~/" + path.Base(strings.ReplaceAll(cmp.Or(name, n.upload.Name), `\`, "/"))
}

// addresses returns the addresses of a script or map. Without a prefix a path is one
// of any host: "~/" and the path.
func (n *names) addresses(name string, kind symbol.Kind, mention parse.Mention, facts parse.Facts) []string {
	address := mention.URL
	if address == "" {
		if name == "" {
			name = n.upload.Name
		}
		prefix := n.upload.URLPrefix
		if prefix == "" {
			prefix = "~/"
		}
		address = strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(name, "/")
	}
	all := append([]string{address}, n.scripts[address]...)
	switch {
	case kind == symbol.SourceMap && facts.Generated != "":
		all = append(all, resolve(address, facts.Generated))
	case kind == symbol.Source && facts.SourceURL != "":
		all = append(all, facts.SourceURL)
	}
	return all
}

// resolve returns the address that a reference in a file leads to. Addresses that begin with
// "~" are paths of any host.
func resolve(from, reference string) string {
	if at, err := url.Parse(reference); err == nil && at.IsAbs() {
		return reference
	}
	if rest, ok := strings.CutPrefix(from, "~/"); ok {
		if strings.HasPrefix(reference, "/") {
			return "~" + path.Clean(reference)
		}
		return "~" + path.Join("/", path.Dir(rest), reference)
	}
	base, err := url.Parse(from)
	if err != nil {
		return reference
	}
	to, err := base.Parse(reference)
	if err != nil {
		return reference
	}
	return to.String()
}
