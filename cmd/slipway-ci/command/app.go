package command

import (
	"context"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// appOf finds the app that a name, a package or an id means. More than one, or none, is wrong
// use, with the names that there are.
func (s *Session) appOf(ctx context.Context, name string) (int64, error) {
	if id, err := strconv.ParseInt(name, 10, 64); err == nil && id > 0 {
		return id, nil
	}
	apps, err := s.Client.Apps(ctx, name)
	if err != nil {
		return 0, err
	}
	var exact []client.App
	for _, app := range apps {
		if strings.EqualFold(app.Name, name) || strings.EqualFold(app.PackageName, name) {
			exact = append(exact, app)
		}
	}
	switch {
	case len(exact) == 1:
		return exact[0].ID, nil
	case len(exact) > 1:
		return 0, outcome.Fail(outcome.Misused, "%d apps are called %q: name one by its id: %s", len(exact), name, list(exact))
	case len(apps) > 0:
		return 0, outcome.Fail(outcome.Misused, "no app is called %q; there is %s", name, list(apps))
	}
	return 0, outcome.Fail(outcome.Misused, "no app is called %q", name)
}

// list is some apps in a line.
func list(apps []client.App) string {
	const most = 5
	var names []string
	for _, app := range apps[:min(most, len(apps))] {
		names = append(names, app.Name+" ("+app.Platform+", id "+strconv.FormatInt(app.ID, 10)+")")
	}
	if len(apps) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// appFlag is the flag --app of commands that take one.
type appFlag struct {
	App string `aliases:"project" help:"Name, package or id of the app (app in slipway.yaml)." placeholder:"APP"`
}

// app returns the name of the app: of the flag, or of the settings; "" for none.
func (f appFlag) app(s *Session) string { return or(f.App, s.File.App) }
