package main

import (
	"reflect"
	"strings"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/account"
	"github.com/slipway-qa/slipway/api/agent"
	"github.com/slipway-qa/slipway/api/audit"
	"github.com/slipway-qa/slipway/api/authoring"
	"github.com/slipway-qa/slipway/api/baseline"
	"github.com/slipway-qa/slipway/api/commitstatus"
	"github.com/slipway-qa/slipway/api/crash"
	"github.com/slipway-qa/slipway/api/device"
	"github.com/slipway-qa/slipway/api/distribution"
	"github.com/slipway-qa/slipway/api/environment"
	"github.com/slipway-qa/slipway/api/gate"
	"github.com/slipway-qa/slipway/api/group"
	"github.com/slipway-qa/slipway/api/history"
	"github.com/slipway-qa/slipway/api/mail"
	"github.com/slipway-qa/slipway/api/oidc"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/api/overview"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/reference"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/search"
	"github.com/slipway-qa/slipway/api/session"
	"github.com/slipway-qa/slipway/api/stepgroup"
	"github.com/slipway-qa/slipway/api/symbol"
	"github.com/slipway-qa/slipway/api/task"
	"github.com/slipway-qa/slipway/api/tester"
	"github.com/slipway-qa/slipway/api/upload/resumable"
	"github.com/slipway-qa/slipway/api/webhook"
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
	return []route.Types{
		{Schemas: map[string]any{"pagination": pagination.Pagination{}}},
		account.Types(),
		agent.Types(),
		audit.Types(),
		authoring.Types(),
		history.Types(),
		baseline.Types(),
		commitstatus.Types(),
		crash.Types(),
		device.Types(),
		distribution.Types(),
		environment.Types(),
		gate.Types(),
		group.Types(),
		mail.Types(),
		oidc.Types(),
		ops.Types(),
		overview.Types(),
		resumable.Types(),
		search.Types(),
		session.Types(),
		stepgroup.Types(),
		symbol.Types(),
		task.Types(),
		tester.Types(),
		webhook.Types(),
	}
}
