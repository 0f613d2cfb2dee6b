package gate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

func TestPolicyCheck(t *testing.T) {
	t.Parallel()
	suite := uuid.New()
	one := func(c Condition) Policy {
		c.Name = "one"
		return Policy{Conditions: []Condition{c}}
	}
	many := Policy{}
	for i := range MaxConditions + 1 {
		many.Conditions = append(many.Conditions, Condition{Name: fmt.Sprint(i), Type: Signature})
	}
	runs := func(url string, allowed ...string) Policy {
		return Policy{RunSuites: []SuiteToRun{{SuiteID: suite, URL: url}}, AllowedHosts: allowed}
	}
	for field, list := range map[string][]Policy{
		"": {one(Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}}), one(Condition{Type: CrashGroups}),
			one(Condition{Type: CrashFree, MinPercent: ptr(99.5)}),
			one(Condition{Type: Signature}), one(Condition{Type: Size, MaxBytes: ptr(int64(1))}), one(Condition{Type: Symbols}),
			one(Condition{Type: Testers}),
			runs(""), runs("https://{{metadata.host}}/shop?v={{version}}", "*.Example.com"), runs("http://x.example.com:8080/{{ build_id }}"),
			runs("https://pr-{{metadata.pr}}.example.com/"), runs("https://ann:word@{{metadata.pr}}.preview.internal:8443?v={{version}}")},
		"conditions": {{}, many, {HoldNotifications: true, RunSuites: []SuiteToRun{{SuiteID: suite}}}},
		"conditions[0].name": {{Conditions: []Condition{{Type: Signature}}},
			{Conditions: []Condition{{Name: strings.Repeat("n", 61), Type: Signature}}}},
		"conditions[1].name": {{Conditions: []Condition{{Name: "a", Type: Signature}, {Name: " a ", Type: Symbols}}}},
		"conditions[0].type": {one(Condition{}), one(Condition{Type: "moon"})},
		"conditions[0].hours": {one(Condition{Type: Size, MaxBytes: ptr(int64(1)), Hours: ptr(int64(2))}),
			one(Condition{Type: CrashGroups, Hours: ptr(int64(0))})},
		"conditions[0].max_reports": {one(Condition{Type: Testers, MaxReports: ptr(int64(1))}),
			one(Condition{Type: CrashGroups, MaxReports: ptr(int64(-1))})},
		"conditions[0].max_users":    {one(Condition{Type: CrashGroups, MaxUsers: ptr(int64(maxUsers + 1))})},
		"conditions[0].suite_ids":    {one(Condition{Type: Suites})},
		"conditions[0].suite_ids[1]": {one(Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite, suite}})},
		"conditions[0].flaky":        {one(Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}, Flaky: "maybe"})},
		"conditions[0].min_share": {one(Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}, MinShare: ptr(0.0)}),
			one(Condition{Type: Suites, SuiteIDs: []uuid.UUID{suite}, MinShare: ptr(1.01)})},
		"conditions[0].kinds[1]": {one(Condition{Type: CrashGroups, Kinds: []string{"new", "new"}})},
		"conditions[0].kinds":    {one(Condition{Type: CrashGroups, Kinds: []string{}})},
		"conditions[0]": {one(Condition{Type: CrashFree}), one(Condition{Type: Size}),
			one(Condition{Type: Signature, Verified: ptr(false)})},
		"conditions[0].min_percent": {one(Condition{Type: CrashFree, MinPercent: ptr(100.5)})},
		"channels[0]":               {{Conditions: []Condition{{Name: "a", Type: Signature}}, Channels: []string{"a\nb"}}},
		"run_suites[0].url": {runs("ftp://x"), runs("{{metadata.host}}"), runs("https://{{secret}}/"),
			runs("https://{{metadata.host"), runs("https://" + strings.Repeat("x", maxURL)),
			runs("https://x.example.com/{{org:password}}"), runs("https://{{version}}@x.example.com/"),
			runs("https://x.example.com:{{version}}/"), runs("https:///{{version}}"),
			runs(`https://evil.example\@{{version}}.example.com/`), runs("https://[{{version}}]/"), runs("https://x.example.com/../{{version}}")},
		"allowed_hosts": {runs("https://{{metadata.host}}/"), runs("https://{{metadata.host}}:8443/"),
			runs("https://a.{{metadata.host}}"), runs("https://{{metadata.host}}.com"),
			runs("https://{{metadata.host}}.co.uk"), runs("https://{{metadata.branch}}.vercel.app/"), runs("https://{{metadata.host}}example.com/"),
			runs("https://{{version}}.0.0.1/"), runs("https://x.example.com", strings.Split(strings.Repeat("a.example.com ", maxHosts), " ")...)},
		"allowed_hosts[1]": {runs("", "example.com", "*"), runs("", "example.com", "*.com"), runs("", "example.com", "*.co.uk"),
			runs("", "example.com", "a.*.com"),
			runs("", "example.com", "https://example.com"), runs("", "example.com", "example.com:8080"), runs("", "example.com", "")},
		"run_suites[0].suite_id": {{RunSuites: []SuiteToRun{{}}}},
		"run_suites[1].suite_id": {{RunSuites: []SuiteToRun{{SuiteID: suite}, {SuiteID: suite}}}},
	} {
		for i := range list {
			err := list[i].Check()
			if field == "" {
				require.NoError(t, err)
				continue
			}
			var invalid *storage.InvalidError
			require.True(t, errors.As(err, &invalid), "%s %d: %v", field, i, err)
			require.Equal(t, field, invalid.Field, invalid.Msg)
		}
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	p := Policy{Conditions: []Condition{{Type: CrashGroups}, {Type: CrashGroups, Hours: ptr(int64(2))},
		{Type: CrashGroups, Hours: ptr(int64(24))}, {Type: Testers, Hours: ptr(int64(7))}}}
	require.Equal(t, []int64{2, 24}, p.windows())
	require.False(t, p.countsUsers())
	require.True(t, p.countsSessions(), "whether somebody used the build")
	require.False(t, (&Policy{Conditions: p.Conditions[3:]}).countsSessions())
}
