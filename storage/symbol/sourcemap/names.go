package sourcemap

import "github.com/slipway-qa/slipway/storage/symbol/javascript"

// Method says where the name of a function is from.
type Method string

// The methods, the surest first.
const (
	// FromScopes: the scopes of the map.
	FromScopes Method = "scopes"
	// FromFunctionMap: the function map of the source that Metro wrote (x_facebook_sources).
	FromFunctionMap Method = "function_map"
	// FromSource: the text of the source, which has the function around the position.
	FromSource Method = "source"
	// FromNames: the name of a mapping: where the minified function is declared, or called.
	FromNames Method = "names"
	// None: no function is known, or the code is in none.
	None Method = ""
)

// Call is what is known of the call of a function besides the position in it. All is
// optional.
type Call struct {
	// Script is the generated script, to find where the minified function is declared.
	Script *Script
	// Name is that of the mapping at the call, in the frame of the caller; Exact that the
	// mapping begins there.
	Name  string
	Exact bool
}

// Frame is a function at a position in a source.
type Frame struct {
	Position
	// Function is the name of the function; "" when none is known, "<anonymous>" for one
	// that has none.
	Function string
	// Method is where Function is from.
	Method Method
	// Inlined: the function was inlined into that of the next frame.
	Inlined bool
	// Hidden: the function is one that a compiler made of a part of another one.
	Hidden bool
}

// Frames returns the frames of a generated position, counted from 1, the innermost first:
// several when functions were inlined there, which only scopes tell; none when the
// position has no source.
func (m *Map) Frames(line, column int, call Call) ([]Frame, error) {
	p, ok, err := m.Original(line, column)
	if err != nil || !ok {
		return nil, err
	}
	if column > 0 && m.info.Ranges > 0 {
		frames, err := m.scopeFrames(p, javascript.Place{Line: uint32(line - 1), Column: uint32(column - 1)})
		if err != nil || len(frames) > 0 {
			return frames, err
		}
	}
	f := Frame{Position: p}
	if p.Column < 1 {
		return []Frame{f}, nil
	}
	for _, way := range []func(*Frame) (bool, error){m.fromScopes, m.fromFunctionMap, m.fromSource} {
		if done, err := way(&f); err != nil || done {
			return []Frame{f}, err
		}
	}
	if err := m.fromNames(&f, line, column, call); err != nil {
		return nil, err
	}
	return []Frame{f}, nil
}

// fromSource finds the function in the text of the source; false when that is not there,
// or is not understood.
func (m *Map) fromSource(f *Frame) (bool, error) {
	if !f.Content {
		return false, nil
	}
	list, err := m.found.get(f.Index, func() (*javascript.List, error) {
		file, err := m.file(f.Index)
		if err != nil {
			return nil, err
		}
		text, ok, err := (&textReader{pieces: &m.pieces, text: &m.text}).all(file, javascript.MaxText)
		if err != nil || !ok {
			return &javascript.List{}, err
		}
		return javascript.Functions(text, cutQuery(f.Listed)), nil
	})
	if err != nil || !list.Known {
		return false, err
	}
	if found := list.Find(javascript.Place{Line: uint32(f.Line - 1), Column: uint32(f.Column - 1)}); found != nil && !found.Unknown {
		f.Function, f.Method = found.Name, FromSource
	}
	return true, nil
}

// fromNames finds the name of the function among the names of mappings.
func (m *Map) fromNames(f *Frame, line, column int, call Call) error {
	if call.Script != nil {
		at, ok, err := call.Script.declared(line, column)
		if err != nil {
			return err
		}
		if ok {
			p, found, err := m.Lookup(int(at.Line)+1, int(at.Column)+1, Equal)
			if err != nil {
				return err
			}
			if found && p.Name != "" && p.Index == f.Index {
				f.Function, f.Method = p.Name, FromNames
				return nil
			}
		}
	}
	if call.Exact && call.Name != "" {
		f.Function, f.Method = call.Name, FromNames
	}
	return nil
}
