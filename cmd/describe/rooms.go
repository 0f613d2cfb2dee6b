package main

import (
	"reflect"
	"strings"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/reference"
	"github.com/slipway-qa/slipway/api/route"
)

// modulePath begins the import paths of the module.
const modulePath = "github.com/slipway-qa/slipway/"

// newRooms are rooms whose handlers cannot be called.
func newRooms() *api.Rooms {
	rooms := new(api.Rooms)
	v := reflect.ValueOf(rooms).Elem()
	for i := range v.NumField() {
		if field := v.Field(i); field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
		}
	}
	return rooms
}

// owners are the folders of the packages that list the routes, by the routes' names.
func owners(rooms *api.Rooms) map[string]string {
	folders := map[string]string{}
	own := func(folder string, routes []route.Route) {
		for i := range routes {
			folders[nameOf(&routes[i])] = folder
		}
	}
	own("api", rooms.Routes())
	own("api/reference", reference.Routes())
	v := reflect.ValueOf(rooms).Elem()
	for i := range v.NumField() {
		if room, ok := v.Field(i).Interface().(interface{ Routes() []route.Route }); ok {
			own(strings.TrimPrefix(v.Field(i).Type().Elem().PkgPath(), modulePath), room.Routes())
		}
	}
	return folders
}

// allTypes are those of the rooms.
func allTypes() []route.Types {
	return []route.Types{}
}
