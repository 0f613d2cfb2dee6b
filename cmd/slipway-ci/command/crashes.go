package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testsync"
)

// crashesCommand is `crashes`: what is new and what came back in a version.
type crashesCommand struct {
	AppVersion string   `required:"" help:"The version, as apps report it." placeholder:"VERSION"`
	Project    string   `help:"Crash project, by name or id. Default: that of --app, else all." placeholder:"NAME"`
	App        string   `help:"App whose crashes they are: name, package or id (app in slipway.yaml; takes an admin)." placeholder:"APP"`
	Since      instant  `help:"Only what was seen since a date, a time, or so long ago: 2026-01-31, 24h." placeholder:"TIME"`
	All        bool     `help:"With groups that are resolved or ignored."`
	FailOn     []string `help:"Exit with 1 when there is one of these: new, regressed." enum:"new,regressed" placeholder:"KINDS"`
	Markdown   string   `help:"Write the table as Markdown to a file; - is standard output." placeholder:"FILE"`
}

// crashView is a group in the document of --json.
type crashView struct {
	client.CrashGroup
	Kind      string `json:"kind"` // new or regressed
	InVersion int64  `json:"crashes_in_version"`
	URL       string `json:"url"`
}

// Run lists the groups.
func (c *crashesCommand) Run(ctx context.Context, s *Session) error {
	groups, err := c.groups(ctx, s)
	if err != nil {
		return err
	}
	if c.Markdown == "-" && (s.JSON || s.Quiet) {
		return outcome.Fail(outcome.Misused, "--markdown - has no place beside --json and --quiet")
	}
	if err := c.write(s, groups); err != nil {
		return err
	}
	var bad []string
	for _, kind := range []string{"new", "regressed"} {
		n := 0
		for _, g := range groups {
			if g.Kind == kind {
				n++
			}
		}
		if n > 0 && slices.Contains(c.FailOn, kind) {
			bad = append(bad, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(bad) > 0 {
		return outcome.Fail(outcome.Failed, "version %s has %s crash groups", c.AppVersion, strings.Join(bad, " and "))
	}
	return nil
}

func (c *crashesCommand) groups(ctx context.Context, s *Session) ([]crashView, error) {
	filter := client.CrashFilter{Version: c.AppVersion, Since: time.Time(c.Since)}
	if !c.All {
		filter.States = []string{"open"}
	}
	id, name, err := c.project(ctx, s)
	if err != nil {
		return nil, err
	}
	filter.Project = id
	all, more, err := s.Client.CrashGroups(ctx, filter)
	if err != nil {
		return nil, err
	}
	if more {
		s.Out.Warn("only the newest %d groups of version %s were looked at", len(all), c.AppVersion)
	}
	groups := []crashView{}
	for _, g := range all {
		if name != "" && !strings.EqualFold(g.Project.Name, name) {
			continue
		}
		view := crashView{CrashGroup: g, InVersion: g.In(c.AppVersion), URL: s.Client.URL("/console/crashes/groups/" + itoa(g.ID))}
		switch {
		case g.RegressedTo(c.AppVersion) && (filter.Since.IsZero() || g.ReopenedAt != nil && !g.ReopenedAt.Before(filter.Since)):
			view.Kind = "regressed"
		case g.NewIn(c.AppVersion) && !g.FirstSeen.Before(filter.Since):
			view.Kind = "new"
		default:
			continue
		}
		groups = append(groups, view)
	}
	slices.SortStableFunc(groups, func(a, b crashView) int { return int(b.Count - a.Count) })
	return groups, nil
}

// project is the crash project: its id, or its name, by which groups are selected as they come:
// only an admin may list crash projects.
func (c *crashesCommand) project(ctx context.Context, s *Session) (id int64, name string, err error) {
	if c.Project != "" {
		if id, err := strconv.ParseInt(c.Project, 10, 64); err == nil && id > 0 {
			return id, "", nil
		}
		return 0, c.Project, nil
	}
	app := or(c.App, s.File.App)
	if app == "" {
		return 0, "", nil
	}
	of, err := s.appOf(ctx, app)
	if err != nil {
		return 0, "", err
	}
	id, err = s.Client.CrashProjectOf(ctx, of)
	switch {
	case client.Is(err, client.Refused):
		return 0, "", outcome.Fail(outcome.Refused, "to find the crashes of an app takes an admin: name the crash project by --project")
	case err == nil && id == 0:
		return 0, "", outcome.Fail(outcome.Misused, "the app %s has no crash project", app)
	}
	return id, "", err
}

// write prints the groups in the forms that were asked for.
func (c *crashesCommand) write(s *Session, groups []crashView) error {
	switch {
	case c.Markdown == "-":
		return c.markdown(s.World.Out, groups)
	case c.Markdown != "":
		var text bytes.Buffer
		if err := c.markdown(&text, groups); err != nil {
			return err
		}
		if err := testsync.WriteFile(s.Path(c.Markdown), text.Bytes()); err != nil {
			return outcome.Fail(outcome.Failed, "%w", err)
		}
	}
	if s.JSON {
		return s.Document(map[string]any{"version": c.AppVersion, "crash_groups": groups})
	}
	if s.Quiet {
		return nil
	}
	if len(groups) == 0 {
		s.Result("version %s has neither new nor regressed crash groups", c.AppVersion)
		return nil
	}
	w := tabwriter.NewWriter(s.World.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tCRASHES\tGROUP\tTITLE\tWHERE")
	for _, g := range groups {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", g.Kind, g.Count, g.ID, short(g.Title, 80), short(g.Culprit, 60))
	}
	return w.Flush()
}

func (c *crashesCommand) markdown(w io.Writer, groups []crashView) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Crashes of version %s\n\n", plain(c.AppVersion))
	if len(groups) == 0 {
		b.WriteString("Neither new nor regressed crash groups.\n")
	} else {
		b.WriteString("| | Crashes | Group | Where |\n|---|---|---|---|\n")
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "| %s | %d | [%s](%s) | %s |\n", g.Kind, g.Count, plain(short(g.Title, 120)), g.URL, plain(short(g.Culprit, 80)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plain is a text in Markdown that means nothing but itself: crashes come from devices.
func plain(text string) string {
	var b strings.Builder
	for _, r := range progress.Printable(text) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_{}[]()#+-.!|~>@:", r):
			b.WriteRune('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// short is a text in one line, cut to a number of characters.
func short(text string, most int) string {
	text = progress.Printable(text)
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// instant is a time in a flag: a date, a time (RFC 3339), or how long ago.
type instant time.Time

// UnmarshalText reads an instant.
func (i *instant) UnmarshalText(text []byte) error {
	if d, err := time.ParseDuration(string(text)); err == nil && d > 0 {
		*i = instant(time.Now().Add(-d))
		return nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, string(text)); err == nil {
			*i = instant(at)
			return nil
		}
	}
	return fmt.Errorf("%q is no time, such as 2026-01-31, 2026-01-31T12:00:00Z or 24h", text)
}
