package command

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

const (
	// recentCrashes is how old the last crash that lacks a file may be: what only older ones lack
	// belongs to versions that are gone, whose build folders are gone too.
	recentCrashes = 14 * 24 * time.Hour
	// shownMissing bounds the lines about files that are still missing; --json has them all.
	shownMissing = 20
)

// missing reports which files recent crashes still lack, without those that were just sent: reading
// the crashes again takes the server some seconds. What was sent stays sent when this cannot be
// told: it is a warning then.
func (c *symbolsUploadCommand) missing(ctx context.Context, s *Session, files []*symbolView) []client.MissingSymbol {
	id, name := c.project()
	all, more, err := s.Client.MissingSymbols(ctx, id, name, time.Now().Add(-recentCrashes))
	if err != nil {
		s.Out.Warn("which symbols recent crashes still lack cannot be told: %v", err)
		return nil
	}
	left := slices.DeleteFunc(all, func(m client.MissingSymbol) bool { return c.served(m, files) })
	slices.SortStableFunc(left, func(a, b client.MissingSymbol) int { return cmp.Compare(b.Crashes, a.Crashes) })
	if len(left) == 0 && !more {
		s.Result("no crash of the last 14 days lacks symbols of another file")
		return []client.MissingSymbol{}
	}
	s.Result("crashes of the last 14 days still lack the symbols of %d modules:", len(left))
	for _, m := range left[:min(len(left), shownMissing)] {
		s.Result("%-9s  %s  %d crashes  %s", m.Kind, strings.Join(strings.Fields(m.Name+" "+m.Version+" "+m.Arch), " "), m.Crashes, lookedFor(m))
	}
	if n := len(left) - shownMissing; n > 0 {
		s.Result("and %d more", n)
	}
	return left
}

// lookedFor is the name that a missing file was looked for under first.
func lookedFor(m client.MissingSymbol) string {
	if len(m.LookedFor) == 0 {
		return ""
	}
	return m.LookedFor[0].Type + " " + m.LookedFor[0].Value
}

// served reports whether one of the files that were sent is the one that crashes lack. Those that the
// server had before do not count: the crashes lack what they do not have.
func (c *symbolsUploadCommand) served(m client.MissingSymbol, files []*symbolView) bool {
	for _, f := range files {
		if f.State == "known" {
			continue
		}
		// A script is looked for under its addresses, which begin with what the server is told.
		if script := path.Base(m.Name); m.Kind == "sourcemap" && f.file.Web() && strings.TrimSuffix(path.Base(f.Name), ".map") == script {
			return true
		}
		for _, id := range m.LookedFor {
			if c.ID != "" && m.Kind == "proguard" && strings.EqualFold(id.Value, c.ID) || containsFold(f.Identifiers, id.Value) {
				return true
			}
		}
	}
	return false
}

func containsFold(list []string, text string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return strings.EqualFold(one, text) })
}
