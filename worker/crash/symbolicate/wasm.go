package symbolicate

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol/wasm"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// wasmPlace is a place in a module of WebAssembly, as browsers and Node write it:
// https://shop.example/shop.wasm:wasm-function[3]:0xdc.
type wasmPlace struct {
	url string // wasm://wasm/HASH for a module that was not loaded from an address
	// address is the offset in the module, else that of the function's number.
	address uint64
	offset  bool
}

// wasmFunction begins the number of a function.
const wasmFunction = "wasm-function["

// wasmPlaceOf reads the place of a frame. Clients cut V8's text at colons as they cut the places of
// scripts, so that the offset may stand where the column does; engines before 2020 wrote line 1 and
// the offset plus 1.
func wasmPlaceOf(f *report.Frame) (p wasmPlace, ok bool) {
	if !strings.Contains(f.Path, "wasm") && !strings.Contains(f.Library, "wasm") && !strings.Contains(f.Function, wasmFunction) {
		return p, false // nearly all
	}
	numbered := false
	for _, text := range [...]string{f.Path, f.Library, f.Function} {
		url, rest, found := strings.Cut(text, wasmFunction)
		if url = strings.TrimRight(url, ":@"); url != "" && p.url == "" && isWasm(url) {
			p.url = url
		}
		if !found {
			continue
		}
		number, rest, closed := strings.Cut(rest, "]")
		if n, err := strconv.ParseUint(number, 10, 32); err == nil && closed && !numbered {
			p.address, numbered = wasm.IndexAddress(uint32(n)), true
		}
		if offset, err := strconv.ParseUint(strings.TrimPrefix(rest, ":0x"), 16, 32); err == nil && strings.HasPrefix(rest, ":0x") {
			p.address, p.offset = offset, true
			break
		}
	}
	if p.url == "" {
		return p, false
	}
	if p.offset {
		return p, true
	}
	address, hasAddress := number(f.Address)
	switch {
	case hasAddress && address > 0 && address <= 1<<32:
		p.address, p.offset = address, true
	case f.Line <= 0 && f.Column > 0:
		p.address, p.offset = uint64(f.Column), true
	case f.Line == 1 && f.Column > 1:
		p.address, p.offset = uint64(f.Column-1), true
	}
	return p, p.offset || numbered
}

// isWasm reports whether an address is that of a module.
func isWasm(url string) bool {
	plain, _, _ := strings.Cut(url, "?")
	return strings.HasPrefix(url, "wasm://") || strings.HasSuffix(plain, ".wasm")
}

// wantsWasm reports whether a frame lies in a module of WebAssembly.
func (r *reading) wantsWasm() bool {
	if r.Report.Symbolication != "" && r.Report.Symbolication != "sourcemap" {
		return false
	}
	return r.anyFrame(func(f *report.Frame) bool {
		_, ok := wasmPlaceOf(f)
		return ok
	})
}

// readWasm looks up the frames in modules: by the module itself, which has DWARF or names, else by
// its source map.
func (r *reading) readWasm(ctx context.Context) error {
	s := r.newScripts()
	modules := map[string]*opened{}
	for _, t := range r.threads() {
		for i := range t.Frames {
			place, ok := wasmPlaceOf(&t.Frames[i])
			if !ok || !r.take() {
				continue
			}
			if err := r.readWasmFrame(ctx, s, modules, t, i, place); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reading) readWasmFrame(ctx context.Context, s *scripts, modules map[string]*opened, t *report.Thread, index int,
	place wasmPlace) error {
	f := &t.Frames[index]
	o, err := r.openWasm(ctx, s, modules, place.url, f.DebugIdentifier)
	if err != nil {
		return err
	}
	named := f.Function != "" && !strings.Contains(f.Function, wasmFunction)
	if o.native != nil {
		found, err := o.native.Lookup(place.address)
		if err != nil {
			return r.unread(err)
		}
		if len(found) > 0 && !(named && found[0].Public) {
			p := symbolication.Replacement{Index: index, File: o.file}
			for _, n := range found[:min(len(found), maxInlines)] {
				p.Frames = append(p.Frames, nativeFrame(n))
			}
			r.replace(t.ID, p)
			return nil
		}
	}
	if mapped, err := r.mapWasm(ctx, s, t, index, place); mapped || err != nil {
		return err
	}
	if o.native == nil {
		r.lack(t.ID, index, o, named)
	}
	return nil
}

// openWasm looks for the module of an address.
func (r *reading) openWasm(ctx context.Context, s *scripts, modules map[string]*opened, url, debugID string) (*opened, error) {
	if debugID == "" {
		debugID = s.debugIDs[url]
	}
	if o := modules[url+"\x00"+debugID]; o != nil {
		return o, nil
	}
	o := &opened{}
	if len(r.opened) < maxFiles {
		w := &want{kind: "native", name: path.Base(slashes(url)), arch: wasm.Arch, announced: true}
		if debugID != "" {
			w.ids = slices.Clone(r.part.identifiersOf(debugID))
		}
		for i := range r.Report.Modules {
			if m := &r.Report.Modules[i]; m.CodeFile == url && m.DebugIdentifier != "" {
				w.ids = union(w.ids, r.part.identifiersOf(m.DebugIdentifier))
			}
		}
		w.ids = union(w.ids, s.urls(scriptCandidates(url)))
		if len(s.releases) > 0 {
			w.version = s.releases[0]
		}
		var err error
		o, err = r.openNative(ctx, w)
		if err != nil {
			return nil, err
		}
	}
	modules[url+"\x00"+debugID] = o
	return o, nil
}

// mapWasm looks a frame up in the source map of its module, whose columns are offsets in it. A map
// that is not there is no need of its own: the module is.
func (r *reading) mapWasm(ctx context.Context, s *scripts, t *report.Thread, index int, place wasmPlace) (bool, error) {
	if !place.offset || strings.HasPrefix(place.url, "wasm://") {
		return false, nil
	}
	w := &want{kind: "sourcemap", name: path.Base(slashes(place.url)), ids: s.urls(mapCandidates(place.url, ""))}
	if len(r.opened) >= maxFiles || len(w.ids) == 0 {
		return false, nil
	}
	o, err := r.open(w, r.part.locate(r.Place, w, func(q Query, l *located) (file symbolication.File, err error) {
		l.script, file, err = r.part.session.SourceMap(ctx, q)
		return file, err
	}))
	if err != nil || o.script == nil {
		return false, err
	}
	at := ScriptPlace{Line: 1, Column: int(min(place.address+1, 1<<31-1)), Function: t.Frames[index].Function}
	found, err := o.script.Frames(at, nil, nil)
	if err != nil {
		return false, r.unread(err)
	}
	if len(found) == 0 {
		return false, nil
	}
	p := symbolication.Replacement{Index: index, File: o.file}
	for _, one := range found[:min(len(found), maxInlines)] {
		if err := r.uploadedSource(ctx, s, &one); err != nil {
			return false, err
		}
		p.Frames = append(p.Frames, cleanFrame(one))
	}
	r.replace(t.ID, p)
	return true, nil
}
