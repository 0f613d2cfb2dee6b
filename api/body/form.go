package body

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// readForm parses the form, or takes what the authentication has parsed already
// while it looked for a key.
func readForm(r *http.Request, kind string, target reflect.Value, unknown Unknown) error {
	if kind == TypeMultipart {
		if err := r.ParseMultipartForm(formMemory); err != nil {
			return unreadable(err)
		}
		for name := range r.MultipartForm.File {
			return invalid(name, "must be a text field, not a file")
		}
		return fillChecked(target, r.MultipartForm.Value, unknown)
	}
	if err := parseForm(r); err != nil {
		return unreadable(err)
	}
	return fillChecked(target, r.PostForm, unknown)
}

func fillChecked(target reflect.Value, form url.Values, unknown Unknown) error {
	if err := fill(target, form); err != nil {
		return err
	}
	return checkForm(form, target.Type(), unknown)
}

// parseForm also reads the form of a DELETE, which net/http does not.
func parseForm(r *http.Request) error {
	if r.Method != http.MethodDelete || r.PostForm != nil {
		return r.ParseForm()
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.PostForm, err = url.ParseQuery(string(text))
	return err
}

// fill sets the fields that the form names.
func fill(target reflect.Value, form url.Values) error {
	for i := range target.NumField() {
		f := target.Type().Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if err := fill(target.Field(i), form); err != nil {
				return err
			}
			continue
		}
		name, ok := memberName(f)
		if !ok {
			continue
		}
		if err := setField(target.Field(i), name, form); err != nil {
			return err
		}
	}
	return nil
}

func setField(field reflect.Value, name string, form url.Values) error {
	if isMap(field.Type()) {
		return setMap(field, name, form)
	}
	values := slices.Concat(form[name], form[name+"[]"])
	if len(values) == 0 {
		return nil
	}
	if field.Kind() == reflect.Slice {
		if field.Type().Elem().Kind() != reflect.String {
			return invalid(name, "cannot be given by a form")
		}
		list := cleanList(strings.Split(strings.Join(values, ","), ","))
		field.Set(reflect.ValueOf(list).Convert(field.Type()))
		return nil
	}
	if field.Type() == reflect.TypeFor[Nullable]() && values[0] == "" {
		field.SetString(string(Null))
		return nil
	}
	kind := field.Type()
	if field.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if kind.Kind() != reflect.String && strings.TrimSpace(values[0]) == "" {
		return nil // a form cannot leave a number out otherwise
	}
	if field.Kind() == reflect.Pointer {
		value := reflect.New(field.Type().Elem())
		if err := setScalar(value.Elem(), name, values[0]); err != nil {
			return err
		}
		field.Set(value)
		return nil
	}
	return setScalar(field, name, values[0])
}

func setScalar(field reflect.Value, name, text string) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Bool:
		on, ok := parseSwitch(text)
		if !ok {
			return invalid(name, "must be 1, 0, true, false, on or off")
		}
		field.SetBool(on)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, field.Type().Bits())
		if err != nil {
			return invalid(name, "must be a whole number")
		}
		field.SetInt(n)
	default:
		return invalid(name, "cannot be given by a form")
	}
	return nil
}

func isMap(t reflect.Type) bool { return t == reflect.TypeFor[map[string]string]() }

// setMap takes NAME.KEY, NAME_KEY and NAME[KEY].
func setMap(field reflect.Value, name string, form url.Values) error {
	for _, member := range slices.Sorted(maps.Keys(form)) {
		key, ok := prefixed(member, name)
		if !ok {
			inner, found := strings.CutPrefix(member, name+"[")
			if key, ok = strings.CutSuffix(inner, "]"); !found || !ok || key == "" {
				continue
			}
		}
		if err := put(field, name, key, form.Get(member)); err != nil {
			return err
		}
	}
	return nil
}

// prefixed returns the key of NAME.KEY and NAME_KEY.
func prefixed(member, name string) (key string, ok bool) {
	rest, ok := strings.CutPrefix(member, name)
	if !ok || len(rest) < 2 || rest[0] != '.' && rest[0] != '_' {
		return "", false
	}
	return rest[1:], true
}

func put(field reflect.Value, name, key, value string) error {
	if field.IsNil() {
		field.Set(reflect.MakeMap(field.Type()))
	}
	field.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value))
	if field.Len() > maxElements {
		return invalid(name, fmt.Sprintf("has at most %d members", maxElements))
	}
	return nil
}

// readPrefixed takes NAME.KEY and NAME_KEY out of a JSON object for the maps of
// the struct.
func readPrefixed(text []byte, target reflect.Value) error {
	var members map[string]json.RawMessage
	for i := range target.NumField() {
		f := target.Type().Field(i)
		name, ok := memberName(f)
		if !ok || !isMap(f.Type) {
			continue
		}
		if members == nil {
			if err := json.Unmarshal(text, &members); err != nil {
				return jsonError(text, err)
			}
		}
		for _, member := range slices.Sorted(maps.Keys(members)) {
			key, ok := prefixed(member, name)
			if !ok {
				continue
			}
			var value string
			if err := json.Unmarshal(members[member], &value); err != nil {
				return invalid(member, "must be a string")
			}
			if err := put(target.Field(i), name, key, value); err != nil {
				return err
			}
		}
	}
	return nil
}
