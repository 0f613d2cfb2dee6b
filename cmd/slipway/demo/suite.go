package demo

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Names of the suite, which has the tests, and of its schedules.
const (
	suiteName = "Demo: lamp shop"
	morning   = "Demo: every morning"
)

// row is a test, a suite or a schedule.
type row struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// authored returns what a list of tests has under a name; "": nothing.
func (c *client) authored(ctx context.Context, list, name string) (string, error) {
	var answer struct {
		Data struct {
			Items []row `json:"items"`
		} `json:"data"`
	}
	if err := c.get(ctx, "/v1/ai-authoring/"+list, url.Values{"search": {name}}, &answer); err != nil {
		return "", err
	}
	for _, r := range answer.Data.Items {
		if r.Name == name {
			return r.ID, nil
		}
	}
	return "", nil
}

// testCase is a test of the suite.
type testCase struct {
	name, path string
	tags       []string
	steps      []any
}

func css(value string) map[string]any { return map[string]any{"type": "css", "value": value} }

func click(selector string) any {
	return map[string]any{"tool": map[string]any{"type": "click", "args": map[string]any{"selector": css(selector)}}}
}

func says(selector, text string) any {
	return map[string]any{"tool": map[string]any{"type": "assert", "args": map[string]any{"selector": css(selector),
		"matcher": map[string]any{"name": "text", "args": map[string]any{"value": text, "mode": "equals"}}}}}
}

var testCases = []testCase{
	{"Demo: the shop opens", "/", []string{"smoke"}, []any{says("h1", "Lamps"), says("#cart", "Your cart is empty")}},
	{"Demo: put the blue lamp into the cart", "/", []string{"smoke", "cart"}, []any{click("#add-blue"), says("#cart", "1 Blue lamp")}},
	{"Demo: order a lamp", "/order", []string{"checkout"}, []any{says("#result", "Thank you for your order")}},
	{"Demo: find blue lamps", "/search?q=blue", []string{"search"}, []any{says("#found", "2 lamps are blue")}},
}

// tests makes the suite, its tests and a schedule, and runs it.
func (f *filler) tests(ctx context.Context) (string, error) {
	suite, err := f.authored(ctx, "testsuites", suiteName)
	if err != nil {
		return "", err
	}
	if suite == "" {
		var answer struct {
			Data row `json:"data"`
		}
		if err := f.call(ctx, http.MethodPost, "/v1/ai-authoring/testsuites", map[string]any{"name": suiteName,
			"tags": []string{"demo"}}, &answer); err != nil {
			return "", err
		}
		suite = answer.Data.ID
	}
	for _, t := range testCases {
		if err := f.testCase(ctx, suite, t); err != nil {
			return "", fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if err := f.schedule(ctx, suite); err != nil {
		return "", err
	}
	done, err := f.runs(ctx, suite)
	return fmt.Sprintf("%d tests in a suite with a schedule; %d runs of the suite", len(testCases), done), err
}

// testCase makes a test, or lets one of an interrupted filling look at this process's shop.
func (f *filler) testCase(ctx context.Context, suite string, t testCase) error {
	id, err := f.authored(ctx, "testcases", t.name)
	if err != nil {
		return err
	}
	settings := map[string]any{"testUrl": f.shop.url() + t.path, "healing": "apply",
		"target": map[string]any{"capabilities": map[string]any{"browserName": "chrome"}}}
	if id != "" {
		return f.call(ctx, http.MethodPost, "/v1/ai-authoring/testcases/"+id,
			map[string]any{"runSettings": map[string]any{"testUrl": f.shop.url() + t.path}}, nil)
	}
	return f.call(ctx, http.MethodPost, "/v1/ai-authoring/testcases", map[string]any{"name": t.name, "testSuiteId": suite, "tags": t.tags,
		"runSettings": settings, "steps": t.steps}, nil)
}

// schedule makes a schedule that is switched off: the shop ends with this process, and each
// morning's run would fail.
func (f *filler) schedule(ctx context.Context, suite string) error {
	if f.access.UserID == "" {
		f.note("no schedule: the settings name no user that it could run as")
		return nil
	}
	id, err := f.authored(ctx, "test-schedules", morning)
	if err != nil || id != "" {
		return err
	}
	return f.call(ctx, http.MethodPost, "/v1/ai-authoring/test-schedules", map[string]any{"name": morning, "testSuiteIds": []string{suite},
		"stateName": "DISABLED", "settings": map[string]any{"cron": "0 6 * * *", "timezone": "Europe/Berlin",
			"runningUserId": f.access.UserID}}, nil)
}

// suiteRun is a run of the suite.
type suiteRun struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Error  string `json:"error"`
	Counts struct {
		Total int `json:"total"`
		Error int `json:"error"`
	} `json:"counts"`
}

func (r suiteRun) ended() bool { return r.Status != "QUEUED" && r.Status != "RUNNING" }

// runs runs the suite so often as is asked for and was not yet, one run after the other.
func (f *filler) runs(ctx context.Context, suite string) (int, error) {
	if f.config.Runs == 0 {
		return 0, nil
	}
	if !f.local {
		f.note("no runs: the shop that the tests look at is on this machine, where the server does not run")
		return 0, nil
	}
	path := "/v1/ai-authoring/testsuites/" + suite
	var known struct {
		Data struct {
			Total int `json:"total"`
		} `json:"data"`
	}
	if err := f.get(ctx, path+"/runs", nil, &known); err != nil {
		return 0, err
	}
	f.shop.runs.Store(int64(f.config.Runs))
	for n := known.Data.Total + 1; n <= f.config.Runs; n++ {
		f.shop.run.Store(int64(n))
		r, err := f.run(ctx, path, n)
		if err != nil {
			return n - 1, err
		}
		if r.Status == "ERROR" && r.Counts.Error == r.Counts.Total {
			f.note("no further runs: none of the tests got a browser (`slipway doctor` says what is missing)")
			return n, nil
		}
	}
	return f.config.Runs, nil
}

func (f *filler) run(ctx context.Context, path string, n int) (suiteRun, error) {
	var answer struct {
		Data suiteRun `json:"data"`
	}
	if err := f.call(ctx, http.MethodPost, path+"/run", map[string]any{"buildName": fmt.Sprintf("2.3.0-rc.%d", n)}, &answer); err != nil {
		return suiteRun{}, err
	}
	id := answer.Data.ID
	// Each request waits for half a minute; a run of four tests on a busy machine takes some.
	for range 20 {
		if err := f.get(ctx, path+"/runs/"+id, url.Values{"wait": {"30"}}, &answer); err != nil {
			return suiteRun{}, err
		}
		if answer.Data.ended() {
			return answer.Data, nil
		}
	}
	return suiteRun{}, fmt.Errorf("run %s of the suite did not end", id)
}
