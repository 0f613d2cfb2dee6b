package reason

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

const host = "shop.example.com"

func own(status int, failed string) failure.Seen {
	return failure.Seen{Method: "GET", Host: host, Path: "/api/cart", Own: true, Status: status, Failure: failed}
}

// situation is a failure with what can be changed of it.
type situation struct {
	code, message string
	seen          []failure.Seen // now
	before        []failure.Seen
	noGood        bool
	otherSteps    bool
	build         string // then; now it is 2
	otherHost     bool
	suggested     float64
	console       []string
	tool          string
	page, was     []string
	unplayed      bool
	blind         bool // the requests are not known
	// recent are the runs before, newest first: a build, and P, F or B for both.
	recent string
}

func (s situation) facts() Facts {
	f := Facts{Code: s.code, Message: s.message, Console: s.console}
	tool := s.tool
	if tool == "" {
		tool = step.Click
	}
	switch f.Code {
	case run.CodeStepFailed, run.CodeAssertionFailed, run.CodeDrifted, run.CodeUnreachable:
		f.Step = &playback.Record{StepID: "s1", Status: playback.Failed,
			Tool: step.Tool{Type: tool, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#buy"}}}}
		if s.suggested > 0 {
			f.Step.Suggested = &playback.Healed{Score: s.suggested}
		}
	}
	digest := func(lines []string) *failure.Digest {
		d := &failure.Digest{Steps: "a", Host: host, Network: !s.blind, Played: []failure.Played{{ID: "s1"}}, Lines: lines}
		if lines != nil {
			d.Played[0].Page = []int{}
			for i := range lines {
				d.Played[0].Page = append(d.Played[0].Page, i)
			}
		}
		return d
	}
	if !s.unplayed {
		f.Seen = digest(s.page)
		f.Seen.Requests = s.seen
	}
	if s.noGood {
		return f
	}
	f.Good = &failure.Good{Digest: digest(s.was), Now: failure.BuildNamed{Name: "2"}}
	f.Good.Digest.Requests, f.Good.Digest.Build = s.before, failure.BuildNamed{Name: s.build}
	for _, one := range strings.Fields(s.recent) {
		build, end, _ := strings.Cut(one, ":")
		f.Good.Recent = append(f.Good.Recent, failure.Ended{Build: build, Passed: end != "F", Failed: end != "P"})
	}
	if s.otherSteps {
		f.Good.Digest.Steps = "b"
	}
	if s.otherHost {
		f.Good.Digest.Host = "elsewhere.example.com"
	}
	return f
}

// Each rule with what makes it hold, and with the nearest that does not.
func TestRules(t *testing.T) {
	t.Parallel()
	good := []failure.Seen{own(200, "")}
	bad := []failure.Seen{own(503, "")}
	lost := []failure.Seen{own(0, "net::ERR_CONNECTION_REFUSED")}
	many := strings.Fields("a b c d e f g h i j k l")
	ads := func(status int) []failure.Seen {
		return []failure.Seen{{Method: "GET", Host: "ads", Path: "/", Status: status}}
	}
	other := func(status int, failed string) failure.Seen {
		return failure.Seen{Method: "GET", Host: host, Path: "/b", Own: true, Status: status, Failure: failed}
	}
	for name, test := range map[string]struct {
		situation
		want failure.Reason
		why  string // is said
	}{
		"no session":                {situation{code: run.CodeNoSession, noGood: true, unplayed: true}, failure.Environment, "no browser"},
		"browser lost":              {situation{code: run.CodeBrowserLost}, failure.Environment, "browser was lost"},
		"worker lost":               {situation{code: run.CodeWorkerLost, noGood: true, unplayed: true}, failure.Environment, "workers"},
		"environment refused":       {situation{code: run.CodeEnvironment, noGood: true, unplayed: true}, failure.Environment, "environment"},
		"no tunnel":                 {situation{code: run.CodeTunnel, noGood: true, unplayed: true}, failure.Environment, "tunnel"},
		"no app":                    {situation{code: run.CodeApp, noGood: true, unplayed: true}, failure.Environment, "app"},
		"fault of the installation": {situation{code: run.CodeInternal, noGood: true, unplayed: true}, failure.Environment, "installation"},
		"no name": {situation{code: run.CodeUnreachable, message: "x: net::ERR_NAME_NOT_RESOLVED", noGood: true},
			failure.Environment, "ERR_NAME_NOT_RESOLVED"},
		"no certificate": {situation{code: run.CodeUnreachable, message: "x: net::ERR_CERT_DATE_INVALID", noGood: true},
			failure.Environment, "ERR_CERT_DATE_INVALID"},
		"Firefox finds no name": {situation{code: run.CodeUnreachable, message: "about:neterror?e=dnsNotFound", noGood: true},
			failure.Environment, "dnsNotFound"},
		"slow to load": {situation{code: run.CodeUnreachable, message: "the page did not load within 30s", noGood: true},
			failure.Unknown, "No earlier run"},
		"a step says ERR_NAME": {situation{code: run.CodeStepFailed, message: "net::ERR_NAME_NOT_RESOLVED", noGood: true},
			failure.Unknown, "No earlier run"},
		"host lost": {situation{code: run.CodeStepFailed, seen: lost, before: good, build: "2"}, failure.Environment,
			"ERR_CONNECTION_REFUSED"},
		"host lost, as before": {situation{code: run.CodeStepFailed, seen: lost, before: lost, build: "2"}, failure.Unknown, "same build"},
		"a request was given up": {situation{code: run.CodeStepFailed, seen: []failure.Seen{own(0, "net::ERR_ABORTED")},
			before: good, build: "2"},
			failure.Unknown, "same build"},
		"value gone":                   {situation{code: run.CodeVariable}, failure.Environment, "passed when it had one"},
		"value never there":            {situation{code: run.CodeVariable, otherSteps: true}, failure.Test, "have changed"},
		"no value, nothing to compare": {situation{code: run.CodeVariable, noGood: true}, failure.Unknown, "No earlier run"},
		"no value, not played":         {situation{code: run.CodeVariable, unplayed: true}, failure.Unknown, "not played"},
		"no group":                     {situation{code: run.CodeNoGroup, noGood: true, unplayed: true}, failure.Test, "not there"},
		"group that does not fit":      {situation{code: run.CodeGroup, noGood: true, unplayed: true}, failure.Test, "step group"},
		"server error": {situation{code: run.CodeStepFailed, seen: bad, before: good, build: "2"},
			failure.Product, "/api/cart answered 503; in the last run that passed it answered 200"},
		"server error, of an assertion": {situation{code: run.CodeAssertionFailed, seen: bad, before: good, build: "1"},
			failure.Product, "503"},
		"server error, as before": {situation{code: run.CodeStepFailed, seen: bad, before: bad, build: "2"},
			failure.Unknown, "same build"},
		"server error, not sent before":    {situation{code: run.CodeStepFailed, seen: bad, build: "2"}, failure.Unknown, "it was not sent"},
		"server error, nothing to compare": {situation{code: run.CodeStepFailed, seen: bad, noGood: true}, failure.Unknown, "No earlier run"},
		"server error, then elsewhere": {situation{code: run.CodeStepFailed, seen: bad, before: good, otherHost: true},
			failure.Unknown, "another host"},
		"server error, requests unknown": {situation{code: run.CodeStepFailed, seen: bad, before: good, build: "2", blind: true},
			failure.Unknown, "same build"},
		"server error of another host": {situation{code: run.CodeStepFailed, before: ads(200), seen: ads(503), build: "2"},
			failure.Unknown, "ads/ answered 503"},
		"not found now": {situation{code: run.CodeStepFailed, seen: []failure.Seen{own(404, "")}, before: good, build: "2"},
			failure.Unknown, "answered 404"},
		"another build": {situation{code: run.CodeAssertionFailed, build: "1"}, failure.Product, "another build"},
		"another build, never failed": {situation{code: run.CodeAssertionFailed, build: "1", recent: "1:P 0:P 9:P"},
			failure.Product, "another build"},
		"another build, failed since": {situation{code: run.CodeAssertionFailed, build: "1", recent: "8:F 7:F 1:P 0:P"},
			failure.Product, "another build"},
		"another build, mended once": {situation{code: run.CodeAssertionFailed, build: "1", recent: "1:P 6:P 5:F 4:F 3:P"},
			failure.Product, "another build"},
		"another build, mended, broken": {situation{code: run.CodeAssertionFailed, build: "1", recent: "7:F 1:P 5:F 4:F 3:P"},
			failure.Product, "another build"},
		"another build, now and then": {situation{code: run.CodeAssertionFailed, build: "1", recent: "1:P 6:F 5:P 4:P 3:F 2:F 0:P"},
			failure.Unknown, "It failed now and then before: 3 of the last 7 runs."},
		"another build, both on one": {situation{code: run.CodeAssertionFailed, build: "1", recent: "1:P 5:P 5:F 4:P"},
			failure.Unknown, "1 of the last 4 runs"},
		"another build, passed after it failed": {situation{code: run.CodeAssertionFailed, build: "1", recent: "1:P 5:B 4:P"},
			failure.Unknown, "1 of the last 3 runs"},
		"both without a build": {situation{code: run.CodeAssertionFailed, build: "1", recent: ":P :F :P"},
			failure.Product, "another build"},
		"now and then, and a server error": {situation{code: run.CodeAssertionFailed, seen: bad, before: good, build: "1", recent: "1:P 5:P 5:F"},
			failure.Product, "503"},
		"now and then, and a lost host": {situation{code: run.CodeAssertionFailed, seen: lost, before: good, build: "1", recent: "1:P 5:P 5:F"},
			failure.Environment, "ERR_CONNECTION_REFUSED"},
		"the same build": {situation{code: run.CodeAssertionFailed, build: "2"}, failure.Unknown, "same build"},
		"no build":       {situation{code: run.CodeAssertionFailed}, failure.Unknown, "not known whether"},
		"another build and other steps": {situation{code: run.CodeAssertionFailed, build: "1", otherSteps: true},
			failure.Unknown, "Other steps passed then"},
		"another build, an action":   {situation{code: run.CodeStepFailed, build: "1"}, failure.Unknown, "Another build"},
		"another build elsewhere":    {situation{code: run.CodeAssertionFailed, build: "1", otherHost: true}, failure.Unknown, "another host"},
		"element moved":              {situation{code: run.CodeStepFailed, suggested: 0.7, build: "1"}, failure.Test, "70 %"},
		"element hardly known again": {situation{code: run.CodeStepFailed, suggested: 0.69, build: "1"}, failure.Unknown, "Another build"},
		"element moved on a new page": {situation{code: run.CodeStepFailed, suggested: 0.9, build: "1", page: many, was: []string{"x"}},
			failure.Unknown, "The page has changed"},
		"element moved, console errors": {situation{code: run.CodeStepFailed, suggested: 0.9, build: "1", console: []string{"no"}},
			failure.Unknown, "console"},
		"element moved, request fails": {situation{code: run.CodeStepFailed, suggested: 0.9, build: "1", before: ads(200), seen: ads(404)},
			failure.Unknown, "answered 404"},
		"case changed": {situation{code: run.CodeStepFailed, otherSteps: true, build: "2"}, failure.Test, "nothing else"},
		"case and page changed": {situation{code: run.CodeStepFailed, otherSteps: true, build: "2", page: many, was: []string{"x"}},
			failure.Unknown, "The page has changed"},
		"case changed, build not known": {situation{code: run.CodeStepFailed, otherSteps: true}, failure.Unknown, "not known whether"},
		"out of time":                   {situation{code: run.CodeTimeout, build: "1"}, failure.Unknown, "Another build"},
		"address refused":               {situation{code: run.CodeForbidden, build: "2"}, failure.Unknown, "same build"},
		"another build and a lost host": {situation{code: run.CodeAssertionFailed, seen: lost, before: good, build: "1"},
			failure.Unknown, "more than one reason"},
		"server error and a lost host": {situation{code: run.CodeStepFailed, build: "2", before: []failure.Seen{own(200, ""), other(200, "")},
			seen: []failure.Seen{own(503, ""), other(0, "net::ERR_CONNECTION_RESET")}}, failure.Unknown, "(product)"},
		"drifted, with a server's error": {situation{code: run.CodeDrifted, seen: bad, before: good, build: "2"}, failure.Product, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Diagnose(test.facts())
			require.Equal(t, test.want, d.Reason, "%q", d.Why)
			require.Contains(t, strings.Join(d.Why, "\n"), test.why)
			require.LessOrEqual(t, len(d.Why), maxWhy)
		})
	}
}

// The page for readers has the rules as they are here.
func TestRulesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/failing.md")
	require.NoError(t, err)
	var documented, here []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z]+-[a-z-]+) \|.*\| (\w+) \|$`).FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, row[1]+" "+row[2])
	}
	for _, r := range rules() {
		here = append(here, r.name+" "+string(r.reason))
	}
	require.Equal(t, here, documented)
}

func TestCause(t *testing.T) {
	t.Parallel()
	good, bad := []failure.Seen{own(200, "")}, []failure.Seen{own(503, "")}
	cart := Diagnose(situation{code: run.CodeStepFailed, seen: bad, noGood: true}.facts())
	require.Equal(t, "503 of /api/cart", cart.Subject)
	other := Diagnose(situation{code: run.CodeAssertionFailed, seen: bad, before: good, build: "1", message: "x"}.facts())
	require.Equal(t, cart.Key, other.Key, "one cause, whichever step it shows in")
	before := Diagnose(situation{code: run.CodeStepFailed, seen: bad, before: bad, message: `css #buy was not found`}.facts())
	require.Equal(t, "css #buy was not found", before.Subject, "it failed before as well")

	say := func(message string) string {
		return Diagnose(situation{code: run.CodeStepFailed, noGood: true, message: message}.facts()).Key
	}
	require.Equal(t, say(`row "ann", order 17: no`), say(`row "bob", order 4711: no`))
	require.NotEqual(t, say(`no such element`), say(`it is not visible`))
	typed := situation{code: run.CodeStepFailed, noGood: true, tool: step.InputText}
	require.NotEqual(t, say(""), Diagnose(typed.facts()).Key)
	require.LessOrEqual(t, len(say(strings.Repeat("long ", 1000))), maxKey)
}

func TestChangedPage(t *testing.T) {
	t.Parallel()
	was := []string{`h1 "Shop"`, `p "1"`, `button#buy "Buy"`, `p "2"`, `footer "A"`}
	is := []string{`h1 "Shop"`, `p "1"`, `a#buy "Buy"`, `p "2"`, `footer "B"`}
	buy := &playback.Record{Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#buy"}}}}
	require.Equal(t, 2, anchor(was, buy))
	page := changed(was, is, 2)
	require.Equal(t, &failure.Page{Removed: []string{`button#buy "Buy"`, `footer "A"`}, Added: []string{`a#buy "Buy"`, `footer "B"`}}, page)
	require.Equal(t, &failure.Page{Removed: []string{}, Added: []string{}}, changed(was, was, 0))
	var long []string
	for range 30 {
		long = append(long, "p")
	}
	page = changed(nil, long, 0)
	require.Len(t, page.Added, maxLines)
	require.Equal(t, 20, page.More)
}

func TestDurations(t *testing.T) {
	t.Parallel()
	played := func(ms ...int64) *failure.Digest {
		d := &failure.Digest{}
		for i, took := range ms {
			d.Played = append(d.Played, failure.Played{ID: string(rune('a' + i)), TookMS: took})
			d.TookMS += took
		}
		return d
	}
	list := slowerSteps(played(100, 1000, 10, 100), played(700, 2900, 400, 9000), &playback.Record{StepID: "d", TookMS: 9000})
	require.Equal(t, []failure.Slower{{Step: "", BeforeMS: 1210, NowMS: 4000}, {Step: "a", BeforeMS: 100, NowMS: 700}}, list)
}

func TestNewErrors(t *testing.T) {
	t.Parallel()
	then := &failure.Digest{Console: []string{ConsoleForm("cart 17 failed")}}
	require.Equal(t, []string{"no price"}, newErrors(then, []string{"cart 4 failed", "no price", "no price"}))
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`order 17 of "ann" is  late`:              `order # of "…" is late`,
		`9f8e7d6c-1b2a-4c3d-8e7f-001122334455 no`: `#-#-#-#-# no`,
		`an open " quote`:                         `an open " quote`,
		`"a" "b"`:                                 `"…" "…"`,
		"":                                        "",
		"größer als 3,5":                          "größer als #,#",
	} {
		require.Equal(t, want, Normalize(text), text)
	}
	for path, want := range map[string]string{
		"/api/cart": "/api/cart", "/orders/17/items/3": "/orders/{id}/items/{id}", "/u/9f8e7d6c-1b2a-4c3d-8e7f-001122334455": "/u/{id}",
		"/v1/step2": "/v1/step2", "/deadbeef01": "/{id}", "": "/", "x": "/x", "/assets/index-D4k9.js": "/assets/index-D4k9.js",
	} {
		require.Equal(t, want, PathPattern(path), path)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{`order 17 of "ann"`, `"`, `""""`, "\xff9", strings.Repeat(`"1`, 3000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := Normalize(text)
		require.LessOrEqual(t, len(once), 4*len(text)+4)
		require.NotRegexp(t, `[0-9]`, once)
		require.LessOrEqual(t, len(PathPattern(text)), 4*200+1)
		require.True(t, strings.HasPrefix(PathPattern(text), "/"))
	})
}
