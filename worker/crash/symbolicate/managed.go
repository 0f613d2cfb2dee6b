package symbolicate

import (
	"context"
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol/portablepdb"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// wantsManaged reports whether a frame is a place in a method of .NET whose line its runtime did not
// know.
func (r *reading) wantsManaged() bool {
	return r.anyFrame(managedPlace)
}

// managedPlace reports whether a frame is to be looked up by the token of its method and the offset in
// it: those of .NET's own libraries are not, of which nobody has the symbols.
func managedPlace(f *report.Frame) bool {
	if f.MethodToken == 0 || f.Line > 0 {
		return false
	}
	name := assemblyOf(f)
	if name == "" || name == "mscorlib" || name == "netstandard" || name == "System" {
		return false
	}
	return !strings.HasPrefix(name, "System.") && !strings.HasPrefix(name, "Microsoft.")
}

// assemblyOf is the name of the assembly of a frame: Shop of Shop, /app/Shop.dll, and
// "Shop, Version=1.0.0.0, Culture=neutral".
func assemblyOf(f *report.Frame) string {
	name, _, _ := strings.Cut(f.Library, ",")
	name = path.Base(slashes(strings.TrimSpace(name)))
	for _, ending := range [...]string{".dll", ".exe", ".pdb"} {
		if len(name) > len(ending) && strings.EqualFold(name[len(name)-len(ending):], ending) {
			return name[:len(name)-len(ending)]
		}
	}
	if name == "." || name == "/" {
		return ""
	}
	return name
}

// readManaged looks up places in methods of .NET, which get file and line: they have their names.
func (r *reading) readManaged(ctx context.Context) error {
	s := r.newScripts()
	assemblies := map[string]*opened{}
	for _, t := range r.threads() {
		for i := range t.Frames {
			f := &t.Frames[i]
			if !managedPlace(f) || !r.take() {
				continue
			}
			o, err := r.openAssembly(ctx, s, assemblies, f)
			if err != nil {
				return err
			}
			if o.native == nil {
				r.lack(t.ID, i, o, true)
				continue
			}
			if err := r.readMethod(o, t.ID, i, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reading) readMethod(o *opened, thread string, index int, f *report.Frame) error {
	address, ok := portablepdb.Address(f.MethodToken, f.ILOffset)
	if !ok {
		return nil
	}
	found, err := o.native.Lookup(address)
	if err != nil {
		return r.unread(err)
	}
	if len(found) == 0 || found[0].Line == 0 {
		return nil // the compiler's own code
	}
	at := symbolication.Frame{Function: clean(f.Function), File: clean(found[0].File), Line: int64(found[0].Line),
		Column: int64(found[0].Column),
		Method: symbolication.DebugInfo}
	r.replace(thread, symbolication.Replacement{Index: index, File: o.file, Frames: []symbolication.Frame{at}})
	return nil
}

// openAssembly looks for the portable PDB of a frame's assembly: by the identifier of its module, else
// by the release and the name, which is all that stack traces of .NET have.
func (r *reading) openAssembly(ctx context.Context, s *scripts, assemblies map[string]*opened, f *report.Frame) (*opened, error) {
	name := assemblyOf(f)
	key := name + "\x00" + f.DebugIdentifier
	if o := assemblies[key]; o != nil {
		return o, nil
	}
	o := &opened{}
	if len(r.opened) < maxFiles {
		w := &want{kind: "native", name: name + ".pdb", arch: portablepdb.Arch, announced: true}
		if f.DebugIdentifier != "" {
			w.ids = union(w.ids, r.part.identifiersOf(f.DebugIdentifier))
		}
		for i := range r.Report.Modules {
			m := &r.Report.Modules[i]
			if m.DebugIdentifier != "" && assemblyOf(&report.Frame{Library: m.CodeFile}) == name {
				w.ids = union(w.ids, r.part.identifiersOf(m.DebugIdentifier))
			}
		}
		for _, ending := range [...]string{".pdb", ".dll", ".exe"} { // in the last two it is embedded
			w.ids = union(w.ids, s.urls(scriptCandidates(name+ending)))
		}
		if len(s.releases) > 0 {
			w.version = s.releases[0]
		}
		var err error
		o, err = r.openNative(ctx, w)
		if err != nil {
			return nil, err
		}
	}
	assemblies[key] = o
	return o, nil
}
