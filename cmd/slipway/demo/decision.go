package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// decisions does with groups what people do: resolve, assign, ignore, talk; and lets two of
// them come back.
func (f *filler) decisions(ctx context.Context) (string, error) {
	for i, r := range regressing {
		if err := f.regress(ctx, i, r.project, r.name, r.resolved, r.back); err != nil {
			return "", fmt.Errorf("%s: %w", r.name, err)
		}
	}
	me := "me"
	for _, d := range []struct {
		project, name string
		change        map[string]any
		comments      []string
	}{
		{androidCrashes, "Price.cents", map[string]any{"assignee": me, "issue_url": "https://issues.example.com/LAMPS-412"},
			[]string{"Happens when a discount takes the whole price.", "The server sends 0 cents since 2.2.0. I take it."}},
		{androidCrashes, "Loader.decode", map[string]any{"state": "resolved", "in_version": "2.2.1"},
			[]string{"Pictures are scaled while they are read now."}},
		{serverCrashes, "average", map[string]any{"state": "ignored", "until_count": 500}, []string{"Only the weekly report of an empty shop."}},
		{appleCrashes, "place", map[string]any{"assignee": me}, []string{"Only with the new camera view."}},
	} {
		g, err := f.group(ctx, d.project, d.name)
		if err != nil {
			return "", err
		}
		path := fmt.Sprintf("/api/v3/crash-groups/%d", g.ID)
		var known struct {
			Pagination pagination `json:"pagination"`
		}
		if err := f.get(ctx, path+"/comments", nil, &known); err != nil {
			return "", err
		}
		if known.Pagination.Total >= len(d.comments) {
			continue // of a filling that was interrupted
		}
		if err := f.call(ctx, http.MethodPatch, path, d.change, nil); err != nil {
			return "", err
		}
		for _, text := range d.comments[known.Pagination.Total:] {
			if err := f.call(ctx, http.MethodPost, path+"/comments", map[string]any{"text": text}, nil); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%d bugs came back after they were resolved; others are assigned, resolved, ignored, commented", len(regressing)), nil
}

// regress resolves a group in a version and sends reports of a later one. The server compares
// their time with its own, so they are of the seconds after it resolved the group.
func (f *filler) regress(ctx context.Context, i int, project, name, resolved, back string) error {
	g, err := f.group(ctx, project, name)
	if err != nil || g.Regressions > 0 {
		return err
	}
	path := fmt.Sprintf("/api/v3/crash-groups/%d", g.ID)
	var answer struct {
		Group crashGroup `json:"crash_group"`
	}
	if err := f.call(ctx, http.MethodPatch, path, map[string]any{"state": "resolved", "in_version": resolved}, &answer); err != nil {
		return err
	}
	const reports = 3
	for j := range faults {
		if faults[j].project != project || faults[j].name != name {
			continue
		}
		random := rand.New(rand.NewPCG(f.config.Seed, uint64(1000+i)))
		for n := range reports {
			at := answer.Group.ResolvedAt.Add(time.Duration(2+n) * time.Second)
			report := newReport(&faults[j], f.config.Seed, 100_000+100*i+n, back, at, random)
			body, err := json.Marshal(report)
			if err != nil {
				return err
			}
			if err := f.post(ctx, f.projects[project].token, body); err != nil {
				return err
			}
		}
	}
	return until(ctx, errNoRegression.Error(), func() (bool, error) {
		var answer struct {
			Group crashGroup `json:"crash_group"`
		}
		err := f.get(ctx, path, nil, &answer)
		return answer.Group.Regressions > 0, err
	})
}
