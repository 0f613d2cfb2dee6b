package body

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Switch is a bool that also comes as 1, 0, on, off, yes, no and as text.
type Switch bool

// UnmarshalJSON takes a bool, the numbers 1 and 0, and text.
func (s *Switch) UnmarshalJSON(text []byte) error {
	word := strings.Trim(string(text), `"`)
	if word == "null" {
		return nil
	}
	on, ok := parseSwitch(word)
	if !ok {
		return &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[bool]()}
	}
	*s = Switch(on)
	return nil
}

// Bool returns the switch as a pointer, nil when it was absent.
func (s *Switch) Bool() *bool {
	if s == nil {
		return nil
	}
	on := bool(*s)
	return &on
}

func parseSwitch(word string) (on, ok bool) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "1", "true", "on", "yes":
		return true, true
	case "0", "false", "off", "no":
		return false, true
	}
	return false, false
}

// List is an array of strings that also comes as one comma list. Elements are
// trimmed, empty ones and repetitions dropped. nil: absent.
type List []string

// UnmarshalJSON takes an array of strings or numbers (ids), or a comma list.
func (l *List) UnmarshalJSON(text []byte) error {
	var value any
	decode := json.NewDecoder(bytes.NewReader(text))
	decode.UseNumber()
	if err := decode.Decode(&value); err != nil {
		return err
	}
	wrong := &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[[]string]()}
	switch v := value.(type) {
	case nil:
	case string:
		*l = cleanList(strings.Split(v, ","))
	case []any:
		var elements []string
		for _, element := range v {
			switch e := element.(type) {
			case string:
				elements = append(elements, e)
			case json.Number:
				if _, err := e.Int64(); err != nil {
					return wrong
				}
				elements = append(elements, e.String())
			default:
				return wrong
			}
		}
		*l = cleanList(elements)
	default:
		return wrong
	}
	return nil
}

// LongList is a List of up to MaxLong elements, such as the mail addresses of everybody
// who is to test an app.
type LongList []string

// UnmarshalJSON takes what List takes.
func (l *LongList) UnmarshalJSON(text []byte) error { return (*List)(l).UnmarshalJSON(text) }

// most is how many elements a slice may have.
func most(t reflect.Type) int {
	if t == reflect.TypeFor[LongList]() {
		return MaxLong
	}
	return maxElements
}

// cleanList never gives nil: an empty list is one that was given.
func cleanList(elements []string) List {
	out, seen := List{}, map[string]bool{}
	for _, element := range elements {
		if element = strings.TrimSpace(element); element != "" && !seen[element] {
			seen[element] = true
			out = append(out, element)
		}
	}
	return out
}

// check walks what was read: strings must be text that the database keeps, lists
// and maps must have their bounds.
func check(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return check(v.Elem(), path)
	case reflect.String:
		return checkText(v.String(), path)
	case reflect.Slice:
		if n := most(v.Type()); v.Len() > n && v.Type().Elem().Kind() != reflect.Uint8 {
			return invalid(path, fmt.Sprintf("has at most %d elements", n))
		}
		for i := range v.Len() {
			if err := check(v.Index(i), path); err != nil {
				return err
			}
		}
	case reflect.Map:
		if v.Len() > maxElements {
			return invalid(path, fmt.Sprintf("has at most %d members", maxElements))
		}
		for _, key := range v.MapKeys() {
			if err := check(key, path); err != nil {
				return err
			}
			if err := check(v.MapIndex(key), path); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, ok := memberName(f)
			if !f.Anonymous && !ok {
				continue
			}
			if path != "" && !f.Anonymous {
				name = path + "." + name
			} else if f.Anonymous {
				name = path
			}
			if err := check(v.Field(i), name); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkText(s, path string) error {
	if !utf8.ValidString(s) {
		return invalid(path, "must be UTF-8 text")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return invalid(path, "must not hold the character NUL")
	}
	return nil
}

// memberName is how the body calls a field; false when it does not.
func memberName(f reflect.StructField) (string, bool) {
	if !f.IsExported() {
		return "", false
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch name {
	case "-":
		return "", false
	case "":
		return f.Name, true
	}
	return name, true
}
