package symbolication

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// fill sets every member of a value; lists get two items, of which the second is zero.
func fill(v reflect.Value, text string, number int64) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(number)
	case reflect.Bool:
		v.SetBool(number%2 != 0)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, number)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), text, number)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text, number)
			}
		}
	default:
		panic("a kind of member that AppendJSON may not know: " + v.Kind().String())
	}
}

// FuzzAppendJSON compares with encoding/json: a member that AppendJSON lacks is seen.
func FuzzAppendJSON(f *testing.F) {
	f.Add("main\x00\"\\\n é\xff😀", int64(7))
	f.Add("", int64(0))
	f.Add("x", int64(-2))
	f.Fuzz(func(t *testing.T, text string, number int64) {
		var d Document
		fill(reflect.ValueOf(&d).Elem(), text, number)
		for _, d := range []Document{d, {}, {Threads: []Thread{{Replaced: []Replacement{}}}}} {
			want, err := json.Marshal(d)
			require.NoError(t, err)
			got := d.AppendJSON(nil)
			require.True(t, json.Valid(got), "%q", got)
			require.JSONEq(t, string(want), string(got))
			for i := range d.Missing {
				d.Missing[i].Encode()
			}
			require.Equal(t, string(got), string(d.AppendJSON(nil)), "with what was written before")
		}
	})
}
