package reading

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// Every condition of a filter narrows what a search or an attribute has named: one that GroupFilter
// does not count among these would be left out of the number of groups.
func TestEveryConditionNarrows(t *testing.T) {
	t.Parallel()
	values := map[reflect.Type]reflect.Value{
		reflect.TypeFor[time.Time](): reflect.ValueOf(time.Unix(1, 0)),
		reflect.TypeFor[Window]():    reflect.ValueOf(Window{From: time.Unix(1, 0), To: time.Unix(2, 0)}),
		reflect.TypeFor[string]():    reflect.ValueOf("x"),
	}
	kinds := reflect.TypeFor[GroupFilter]()
	for i := range kinds.NumField() {
		field := kinds.Field(i)
		if field.Tag.Get("json") == "-" {
			continue // no condition of a filter that is kept
		}
		var f GroupFilter
		value, known := values[field.Type]
		if field.Type.Kind() == reflect.Slice {
			value, known = reflect.MakeSlice(field.Type, 1, 1), true
		}
		require.True(t, known, "%s: a value for %s", field.Name, field.Type)
		reflect.ValueOf(&f).Elem().Field(i).Set(value)
		names := field.Name == "Search" || field.Type == reflect.TypeFor[[]condition.Attribute]()
		require.Equal(t, !names, f.narrowed(), field.Name)
	}
}
