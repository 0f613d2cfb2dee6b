package setting

import (
	"fmt"
	"net/url"
	"reflect"

	"github.com/slipway-qa/slipway/api/ops"
)

// List returns the settings in force by their variables, in the order of the table; secrets
// are redacted.
func (s *Settings) List() []ops.Setting {
	return listed(reflect.ValueOf(s).Elem())
}

func listed(of reflect.Value) []ops.Setting {
	list := []ops.Setting{}
	for i := range of.NumField() {
		field := of.Type().Field(i)
		name := field.Tag.Get("env")
		switch {
		case name != "":
			list = append(list, ops.Setting{Name: name, Value: redacted(fmt.Sprint(of.Field(i).Interface()))})
		case field.Anonymous:
			list = append(list, listed(of.Field(i))...)
		}
	}
	return list
}

// redacted is a value without the password of an address.
func redacted(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		return u.Redacted()
	}
	return text
}
