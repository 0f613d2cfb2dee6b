package sentence_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/sentence"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// recorded is a step of a solution, with what it is done to in the snapshot before it.
type recorded struct {
	N    int       `json:"n"` // N.json is the snapshot before it
	Tool step.Tool `json:"tool"`
	// Ref is the element that its selector finds, Near the innermost one around it that is
	// a node of the snapshot; Target the same of the element that it is dragged to.
	Ref    string `json:"ref,omitempty"`
	Near   string `json:"near,omitempty"`
	Target string `json:"target,omitempty"`
	Found  int    `json:"found"`
	Failed string `json:"failed,omitempty"`
}

// TestRecord records what a generation sees of the pages of open development sets: with
// RECORD_SNAPSHOTS=folder each page as it opens (SET/PAGE.json), and each pair before every
// step of its solution and after the last (SET/PAIR/N.json with steps.json). RECORD_PAIRS is
// a regular expression of names; what is there already is left alone.
func TestRecord(t *testing.T) {
	out := os.Getenv("RECORD_SNAPSHOTS")
	if out == "" {
		t.Skip("RECORD_SNAPSHOTS is not set")
	}
	only := regexp.MustCompile(os.Getenv("RECORD_PAIRS"))
	folders, err := filepath.Glob("foreign/*/open")
	require.NoError(t, err)
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	if os.Getenv("RECORD_OWN") != "" {
		recordOwn(t, out)
		return
	}
	for _, pagesOnly := range []bool{true, false} {
		for _, folder := range folders {
			name := filepath.Base(filepath.Dir(folder))
			modules := filepath.Join(cache, "slipway", "foreign", name, "node_modules")
			if _, err := os.Stat(modules); err != nil {
				t.Logf("%s: its packages are not installed", name)
				continue
			}
			set, err := sentence.Load(os.DirFS(folder))
			require.NoError(t, err)
			site, err := set.Start(modules)
			require.NoError(t, err)
			for i := range set.Pairs {
				p := &set.Pairs[i]
				r := recorder{site: site, pair: p, folder: filepath.Join(out, name, p.Name)}
				if pagesOnly {
					r.folder, r.page = filepath.Join(out, name), pageName(p.Page)
				}
				if !only.MatchString(p.Name) || r.done() || (len(p.Solution) == 0 && !pagesOnly) {
					continue
				}
				if err := r.record(t.Context()); err != nil {
					t.Logf("%s/%s: %v", name, p.Name, err)
				}
			}
			require.NoError(t, site.Close())
		}
	}
}

// recordOwn records the pages of the set of this package, as they open.
func recordOwn(t *testing.T, out string) {
	t.Helper()
	set, err := sentence.Own()
	require.NoError(t, err)
	site, err := set.Start(servicetest.NodeModules(t, "jquery-ui"))
	require.NoError(t, err)
	defer site.Close()
	for i := range set.Pairs {
		p := &set.Pairs[i]
		r := recorder{site: site, pair: p, folder: filepath.Join(out, "own"), page: pageName(p.Page)}
		if strings.HasPrefix(p.Page, "tls:") || len(p.Codes) > 0 || r.done() {
			continue
		}
		if err := r.record(t.Context()); err != nil {
			t.Logf("%s: %v", p.Name, err)
		}
	}
}

// pageName returns the name of the file of a page.
func pageName(path string) string {
	name := strings.Trim(strings.TrimSuffix(strings.TrimSuffix(path, "/"), "index.html"), "/")
	return regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(name, "_")
}

// recorder records one pair, or only its page.
type recorder struct {
	site         *sentence.Site
	pair         *sentence.Pair
	folder, page string
}

func (r *recorder) done() bool {
	name := "steps.json"
	if r.page != "" {
		name = r.page + ".json"
	}
	_, err := os.Stat(filepath.Join(r.folder, name))
	return err == nil
}

func (r *recorder) record(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	r.site.Change(sentence.Plain, r.pair)
	lease, err := stationed.Acquire(ctx, browser.Request{Target: step.Target{Capabilities: step.Capabilities{"browserName": "chrome"}}})
	if err != nil {
		return err
	}
	live, err := replay.Open(ctx, replay.Config{Lease: lease, TestURL: r.site.Address(r.pair), StepTimeout: 5 * time.Second, Grace: time.Minute,
		Log: slog.New(slog.DiscardHandler)})
	defer func() { lease.Release(context.WithoutCancel(ctx), live.Close()) }()
	if err != nil {
		return err
	}
	s, err := live.Snapshot(ctx)
	if err != nil {
		return err
	}
	if r.page != "" {
		return write(filepath.Join(r.folder, r.page+".json"), s)
	}
	return r.steps(ctx, live, s)
}

func (r *recorder) steps(ctx context.Context, live *replay.Live, s *snapshot.Snapshot) error {
	list := []recorded{}
	for i, one := range r.pair.Solution {
		if err := write(filepath.Join(r.folder, fmt.Sprintf("%d.json", i)), s); err != nil {
			return err
		}
		note := recorded{N: i, Tool: one.Tool}
		if found, err := live.Find(ctx, one.Tool); err == nil && len(found) > 0 && len(found[0]) > 0 {
			note.Ref, note.Near, note.Found = found[0][0], near(s, found[0]), len(found)
		}
		if one.Tool.Args.Target != nil {
			aim := one.Tool
			aim.Args.Selector = one.Tool.Args.Target
			if found, err := live.Find(ctx, aim); err == nil && len(found) > 0 {
				note.Target = near(s, found[0])
			}
		}
		one.ID = fmt.Sprintf("s%d", i)
		did, err := live.Do(ctx, one)
		if err == nil && did.Status != step.Passed {
			note.Failed = did.Status + ": " + did.Result.Message
		}
		list = append(list, note)
		if err != nil {
			return err
		}
		if s, err = live.Snapshot(ctx); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(r.folder, fmt.Sprintf("%d.json", len(list))), s); err != nil {
		return err
	}
	return write(filepath.Join(r.folder, "steps.json"), list)
}

// near returns the first of some refs that is a node of a snapshot.
func near(s *snapshot.Snapshot, refs []string) string {
	x := snapshot.NewIndex(s)
	for _, ref := range refs {
		if x.ByRef(ref) >= 0 {
			return ref
		}
	}
	return ""
}

func write(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
