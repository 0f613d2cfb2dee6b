package body

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Member is a member of a body that the value it is read into does not have.
type Member struct {
	Path string // with the places in arrays: steps[2].tool.args.matcher.not
	// Top is true at the top of the body.
	Top bool
	// Known are the members that there are in its place.
	Known []string
}

// Unknown decides what becomes of a member that is not known: an error refuses the
// body, nil takes it, and then what is inside of the member is not looked at.
type Unknown func(Member) error

// Refuse is the Unknown of an interface that drops nothing: a member that was misspelt
// would otherwise be lost, and the caller be told that all is well. It names the member that
// may have been meant.
func Refuse(m Member) error {
	if len(m.Known) == 0 {
		return invalid(m.Path, "is no member of this request, which has none")
	}
	text := "is unknown here: there are " + strings.Join(m.Known, ", ")
	if meant := nearest(m.Path, m.Known); meant != "" {
		text += "; was " + meant + " meant?"
	}
	return invalid(m.Path, text)
}

// IgnoreUnknown is the Unknown of interfaces whose clients send members of their own:
// versions 1 and 2, upload, submission and what the SDKs call.
func IgnoreUnknown(Member) error { return nil }

// AlsoReads is implemented by types that read themselves from members that are no
// fields of theirs.
type AlsoReads interface{ OtherMembers() []string }

// maxShown bounds what a failure repeats of an unknown name, in bytes.
const maxShown = 200

// Check walks a JSON text, which has been decoded into a value of the type, and asks
// unknown about each member that the type does not have, in the order of the text. A
// type that reads itself and has no exported fields takes any members: who decodes it
// later checks it then. Time and memory are linear in the text, whose depth the caller
// has bounded.
func Check(text []byte, of reflect.Type, unknown Unknown) error {
	return walkMembers(text, of, unknown, false)
}

// walkMembers is Check. At the top of a body, and nowhere else, the members of a map may
// also stand beside it (NAME.KEY).
func walkMembers(text []byte, of reflect.Type, unknown Unknown, topOfBody bool) error {
	f := finder{prefixes: topOfBody, decoder: json.NewDecoder(bytes.NewReader(text)), unknown: unknown, known: map[reflect.Type]*fields{}}
	f.decoder.UseNumber()
	return f.value(of)
}

// finder is a walk over a text, beside the type that it was decoded into.
type finder struct {
	decoder  *json.Decoder
	at       walk
	unknown  Unknown
	known    map[reflect.Type]*fields
	prefixes bool // are read at the top
}

func (f *finder) token() (json.Token, error) {
	token, err := f.decoder.Token()
	if err == nil {
		f.at.read(token)
	}
	return token, err
}

// value walks one value of the type; nil is any.
func (f *finder) value(of reflect.Type) error {
	token, err := f.token()
	if err != nil {
		return unreadable(err) // it was decoded before
	}
	switch token {
	case json.Delim('['):
		of = elementOf(of)
		for f.decoder.More() {
			if err := f.value(of); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		if err := f.object(of); err != nil {
			return err
		}
	default:
		return nil
	}
	_, err = f.token()
	return err
}

// object walks the members of one that has begun.
func (f *finder) object(of reflect.Type) error {
	known := f.fieldsOf(of)
	for f.decoder.More() {
		token, err := f.token()
		if err != nil {
			return unreadable(err)
		}
		name, _ := token.(string)
		top := len(f.at.open) == 1
		below, ok := known.find(name)
		if !ok && !(top && f.prefixes && known.hasPrefixOf(name)) {
			m := Member{Path: shown(f.at.path(), name), Top: top, Known: known.names}
			if err := f.unknown(m); err != nil {
				return err
			}
		}
		if err := f.value(below); err != nil {
			return err
		}
	}
	return nil
}

// shown is a path as a failure repeats it.
func shown(path, name string) string {
	if name == "" {
		path += `""`
	}
	if len(path) > maxShown {
		path = path[:maxShown] + "..."
	}
	return strings.ToValidUTF8(path, string(utf8.RuneError))
}

// fields are the members of a type.
type fields struct {
	any   bool         // all names are known, and have values of the type of
	of    reflect.Type // of all
	names []string     // in the order of the struct
	types map[string]reflect.Type
	lower map[string]reflect.Type // the same by their names in lower case
	// prefixes begin the names of members that are put into a map.
	prefixes []string
}

// find returns the type of a member's value, nil for any; false when the name is not
// known. encoding/json takes names in any case, and so does find.
func (f *fields) find(name string) (reflect.Type, bool) {
	if f.any {
		return f.of, true
	}
	if of, ok := f.types[name]; ok {
		return of, true
	}
	if of, ok := f.lower[strings.ToLower(name)]; ok {
		return of, true
	}
	return nil, false
}

// hasPrefixOf reports whether a name is that of a map's member that stands beside it.
func (f *fields) hasPrefixOf(name string) bool {
	return slices.ContainsFunc(f.prefixes, func(prefix string) bool {
		_, ok := prefixed(name, prefix)
		return ok
	})
}

func (f *finder) fieldsOf(of reflect.Type) *fields {
	known, ok := f.known[of]
	if !ok {
		known = newFields(of)
		f.known[of] = known
	}
	return known
}

// elementOf is the type of an array's elements, nil for any.
func elementOf(of reflect.Type) reflect.Type {
	if of = pointed(of); of == nil || of.Kind() != reflect.Slice && of.Kind() != reflect.Array || readsItself(of) {
		return nil
	}
	return of.Elem()
}

// newFields are the members of a value of the type; nil is any.
func newFields(of reflect.Type) *fields {
	of = pointed(of)
	switch {
	case of == nil:
		return &fields{any: true}
	case of.Kind() == reflect.Map && !readsItself(of):
		return &fields{any: true, of: of.Elem()}
	case of.Kind() != reflect.Struct:
		return &fields{any: true}
	}
	f := &fields{types: map[string]reflect.Type{}, lower: map[string]reflect.Type{}}
	f.add(of)
	if also, ok := reflect.Zero(of).Interface().(AlsoReads); ok {
		for _, name := range also.OtherMembers() {
			f.put(name, nil)
		}
	}
	f.any = len(f.names) == 0 && readsItself(of)
	return f
}

// add puts in the fields of a struct, and of those that it embeds.
func (f *fields) add(of reflect.Type) {
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Anonymous && field.Tag.Get("json") == "" && pointed(field.Type).Kind() == reflect.Struct {
			f.add(pointed(field.Type))
			continue
		}
		name, ok := memberName(field)
		if !ok {
			continue
		}
		f.put(name, field.Type)
		if isMap(field.Type) {
			f.prefixes = append(f.prefixes, name)
		}
	}
}

func (f *fields) put(name string, of reflect.Type) {
	f.names = append(f.names, name)
	f.types[name], f.lower[strings.ToLower(name)] = of, of
}

func pointed(of reflect.Type) reflect.Type {
	for of != nil && of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of
}

// readsItself reports whether a type decodes its own JSON.
func readsItself(of reflect.Type) bool {
	return reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// keyField is the field of a form that has the key, which authentication reads.
const keyField = "api_key"

// checkForm asks unknown about the fields of a form that a struct does not have, in the
// order of the alphabet.
func checkForm(form url.Values, of reflect.Type, unknown Unknown) error {
	known := newFields(of)
	for _, field := range slices.Sorted(maps.Keys(form)) {
		if field == keyField || known.hasField(field) {
			continue
		}
		m := Member{Path: shown(field, field), Top: true, Known: known.names}
		if slices.Contains(known.prefixes, field) {
			m.Known = []string{field + ".KEY"} // a form has no objects
		}
		if err := unknown(m); err != nil {
			return err
		}
	}
	return nil
}

// hasField reports whether a field of a form is read: NAME or NAME[], and for a map
// NAME.KEY, NAME_KEY or NAME[KEY].
func (f *fields) hasField(field string) bool {
	if of, ok := f.types[strings.TrimSuffix(field, "[]")]; ok {
		return !isMap(of)
	}
	return slices.ContainsFunc(f.prefixes, func(name string) bool {
		if _, ok := prefixed(field, name); ok {
			return true
		}
		inner, found := strings.CutPrefix(field, name+"[")
		return found && len(inner) > 1 && strings.HasSuffix(inner, "]")
	})
}
