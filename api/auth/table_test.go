package auth

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/account"
)

// The table once more, written as who gets through: o owner, a admin, m member,
// t tester, O operator. A new action fails the test until it stands here.
func TestTable(t *testing.T) {
	t.Parallel()
	want := map[Action]string{
		ReadTasks:     "oamO",
		ChangeTasks:   "oamO",
		ReadCrashes:   "oam",
		ChangeCrashes: "oam",
		PurgeCrashes:  "oa",
		ReadQueues:    "O",
		ReadMetrics:   "O",
	}
	callers := []struct {
		letter string
		caller Caller
	}{
		{"o", Caller{Role: account.Owner}}, {"a", Caller{Role: account.Admin}}, {"m", Caller{Role: account.Member}},
		{"t", Caller{Role: account.Tester}}, {"O", Caller{Operator: true}}, {"?", Caller{}}, {"!", Caller{Role: "root"}},
	}
	table := Table()
	require.Len(t, table, len(want))
	for action, rule := range table {
		got := ""
		for _, c := range callers {
			err := rule.Allow(&c.caller)
			if err == nil {
				got += c.letter
				continue
			}
			var p *respond.Problem
			require.True(t, errors.As(err, &p))
			require.Equal(t, 403, p.Status)
			if c.letter == "t" && rule.Operators != OperatorsOnly {
				require.Equal(t, 133, p.Legacy)
			}
		}
		require.Equal(t, want[action], got, "%s", action)
		for _, c := range callers {
			if !c.caller.Operator {
				c.caller.blocked = true
				require.Error(t, rule.Allow(&c.caller), "a blocked %s must not pass %s", c.letter, action)
			}
		}
	}
}

func TestTeamRules(t *testing.T) {
	t.Parallel()
	lead := &Caller{Role: account.Member, Teams: []account.TeamPlace{{ID: 1, Admin: true}, {ID: 2}}}
	require.True(t, lead.InTeam(1) && lead.InTeam(2) && !lead.InTeam(3))
	require.True(t, lead.TeamAdmin(1) && !lead.TeamAdmin(2) && !lead.TeamAdmin(3))
	admin := &Caller{Role: account.Admin}
	require.True(t, admin.InTeam(9) && admin.TeamAdmin(9))
	tester := &Caller{Role: account.Tester, Teams: lead.Teams}
	require.False(t, tester.InTeam(1) || tester.TeamAdmin(1))
	rule := Rule{Least: account.Admin, TeamAdmin: true}
	require.NoError(t, rule.Allow(lead))
	require.Error(t, rule.Allow(&Caller{Role: account.Member, Teams: []account.TeamPlace{{ID: 2}}}))
	require.Error(t, rule.Allow(tester))
}

func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	f := newFailures(1, func() time.Time { return time.Unix(0, 0) })
	for i := range maxAddresses + 500 {
		f.count(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
	}
	require.Len(t, f.byAddr, maxAddresses)
	require.Equal(t, maxAddresses, f.ordered.Len())
	require.Positive(t, f.count(fmt.Sprintf("10.0.%d.%d", (maxAddresses+499)>>8&255, (maxAddresses+499)&255)), "a recent one is remembered")
	require.Zero(t, f.count("10.0.0.0"), "the oldest was forgotten")
	// One customer's IPv6 addresses count together.
	require.Zero(t, f.count("2001:db8::1"))
	require.Positive(t, f.count("2001:db8::ffff:2"))
	require.Zero(t, f.count("2001:db8:0:1::1"))
	require.Zero(t, f.count("not an address"))
	require.Positive(t, f.count(""))
	// An IPv4 address that came over IPv6 is the same address.
	require.Zero(t, f.count("192.0.2.9"))
	require.Positive(t, f.count("::ffff:192.0.2.9"))
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"org.base.test", "org.base.test:80", "[::1]:8080", ".base.test", "base.test", ":", "..:", "x.y.base.test"} {
		f.Add(s)
	}
	h := newHosts("base.test", "www.base.test")
	f.Fuzz(func(t *testing.T, host string) {
		slug := h.organization(host)
		if slug == "" {
			return
		}
		if h.allow(host, &Caller{OrganizationSlug: "another." + slug}) == nil {
			t.Fatalf("%q lets another organization in", host)
		}
		if h.allow(host, &Caller{OrganizationSlug: slug}) != nil {
			t.Fatalf("%q refuses its own organization", host)
		}
	})
}
