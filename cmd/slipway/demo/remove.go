package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Remove removes what Fill made, and nothing else: it knows all of it by name, and reports of
// crashes by an attribute. What is gone already is passed over, so that a removal that was
// interrupted is completed by the next one. What cannot be removed keeps nothing else: the
// errors of all steps are returned together.
func Remove(ctx context.Context, access Access, out io.Writer) error {
	if err := (Config{Access: access}).Validate(); err != nil {
		return err
	}
	c := newClient(access)
	var failed []error
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"saved search", c.removeSaved},
		{"tests", c.removeTests},
		{"webhook", c.removeWebhook},
		{"crashes", c.removeCrashes},
		{"apps", c.removeApps},
		{"people", c.removePeople},
	} {
		if err := step.do(ctx); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", step.name, err))
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	fmt.Fprintln(out, "The demo is removed. The audit log and the finished tasks keep that it was there.")
	return nil
}

// remove deletes what an address names; what is not there is no error.
func (c *client) remove(ctx context.Context, path string, body any) error {
	err := c.call(ctx, http.MethodDelete, path, body, nil)
	if status(err) == http.StatusNotFound {
		return nil
	}
	return err
}

func (c *client) removeSaved(ctx context.Context) error {
	id, err := c.saved(ctx)
	if err != nil || id == 0 {
		return err
	}
	return c.remove(ctx, fmt.Sprintf("/api/v3/saved-searches/%d", id), nil)
}

func (c *client) removeTests(ctx context.Context) error {
	schedule, err := c.authored(ctx, "test-schedules", morning)
	if err != nil {
		return err
	}
	if schedule != "" {
		if err := c.remove(ctx, "/v1/ai-authoring/test-schedules/"+schedule, nil); err != nil {
			return err
		}
	}
	suite, err := c.authored(ctx, "testsuites", suiteName)
	if err != nil {
		return err
	}
	if suite != "" {
		if err := c.remove(ctx, "/v1/ai-authoring/testsuites/"+suite, map[string]any{"deleteTestCases": false}); err != nil {
			return err
		}
	}
	for _, t := range testCases {
		id, err := c.authored(ctx, "testcases", t.name)
		if err != nil {
			return err
		}
		if id == "" {
			continue
		}
		if err := c.remove(ctx, "/v1/ai-authoring/testcases/"+id, nil); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) removeWebhook(ctx context.Context) error {
	id, err := c.webhookID(ctx)
	if err != nil || id == 0 {
		return err
	}
	return c.remove(ctx, fmt.Sprintf("/api/v3/webhooks/%d", id), nil)
}

// removeCrashes ends the tokens of the demo and removes the reports by their attribute, then the
// projects, which are empty unless somebody else sends to them: those stay.
func (c *client) removeCrashes(ctx context.Context) error {
	known, err := c.demoProjects(ctx)
	if err != nil {
		return err
	}
	var kept []error
	for _, name := range crashProjects {
		p, there := known[name]
		if !there {
			continue
		}
		if err := c.endTokens(ctx, p); err != nil {
			return err
		}
		var answer struct {
			Task string `json:"task_id"`
		}
		path := fmt.Sprintf("/api/v3/crashes?attribute.%s=%s&project=%d", marker, url.QueryEscape(markerValue), p.ID)
		if err := c.call(ctx, http.MethodDelete, path, nil, &answer); err != nil {
			return err
		}
		if err := c.taskEnds(ctx, answer.Task); err != nil {
			return err
		}
		err := c.remove(ctx, fmt.Sprintf("/api/v3/crash-projects/%d", p.ID), nil)
		if status(err) == http.StatusConflict {
			kept = append(kept, fmt.Errorf("crash project %s stays, for it has reports or tokens that are not of the demo: %w", p.Name, err))
			continue
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(kept...)
}

// endTokens ends the tokens that Fill made: the first of a project, without a name, and its own.
func (c *client) endTokens(ctx context.Context, p crashProject) error {
	path := fmt.Sprintf("/api/v3/crash-projects/%d/tokens", p.ID)
	var list struct {
		Tokens []struct {
			ID        int64   `json:"id"`
			Name      string  `json:"name"`
			RevokedAt *string `json:"revoked_at"`
		} `json:"crash_tokens"`
	}
	if err := c.get(ctx, path, nil, &list); err != nil {
		return err
	}
	for _, t := range list.Tokens {
		if t.RevokedAt != nil || t.Name != "" && t.Name != "demo" {
			continue
		}
		if err := c.remove(ctx, fmt.Sprintf("%s/%d", path, t.ID), nil); err != nil {
			return err
		}
	}
	return nil
}

// taskEnds waits until a task has succeeded.
func (c *client) taskEnds(ctx context.Context, id string) error {
	return until(ctx, "the end of task "+id, func() (bool, error) {
		var answer struct {
			Task struct {
				State string `json:"state"`
				Error string `json:"error"`
			} `json:"task"`
		}
		if err := c.get(ctx, "/api/v3/tasks/"+id, url.Values{"wait": {"30"}}, &answer); err != nil {
			return false, err
		}
		switch answer.Task.State {
		case "succeeded":
			return true, nil
		case "dead", "cancelled":
			return false, errors.New("the task ended as " + answer.Task.State + ": " + answer.Task.Error)
		}
		return false, nil
	})
}

// removeApps deletes the apps. Tasks remove their builds, with files, symbols, sessions and
// feedback: it waits for the symbols of the oldest one, after which the rest takes a moment.
func (c *client) removeApps(ctx context.Context) error {
	for _, pkg := range []string{lampsPackage, courierPackage} {
		id, err := c.project(ctx, pkg)
		if err != nil {
			return err
		}
		if id == 0 {
			continue
		}
		if err := c.remove(ctx, fmt.Sprintf("/api/v3/projects/%d", id), nil); err != nil {
			return err
		}
	}
	return until(ctx, "the removal of the builds", func() (bool, error) {
		var list struct {
			Pagination pagination `json:"pagination"`
		}
		// The last thing that a build leaves is the mapping that came with it.
		err := c.get(ctx, "/api/v3/symbols", url.Values{"identifier": {releases[0].mappingID()}, "per_page": {"1"}}, &list)
		return list.Pagination.Total == 0, err
	})
}

func (c *client) removePeople(ctx context.Context) error {
	for _, p := range people {
		id, err := c.testerID(ctx, p.email)
		if err != nil {
			return err
		}
		if id == 0 {
			continue
		}
		if err := c.remove(ctx, fmt.Sprintf("/api/v3/testers/%d", id), nil); err != nil {
			return err
		}
	}
	for _, name := range []string{betaGroup, officeGroup} {
		id, err := c.groupID(ctx, name)
		if err != nil {
			return err
		}
		if id == 0 {
			continue
		}
		if err := c.remove(ctx, fmt.Sprintf("/api/v3/groups/%d", id), nil); err != nil {
			return err
		}
	}
	return nil
}
