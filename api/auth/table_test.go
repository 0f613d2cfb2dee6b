package auth

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/account"
)

// The table once more, written as who gets through: o owner, a admin, m member,
// l member who leads a team, t tester, O operator. A new action fails the test until it stands here.
func TestTable(t *testing.T) {
	t.Parallel()
	want := map[Action]string{
		ReadTasks:     "oamlO",
		ChangeTasks:   "oamlO",
		ReadCrashes:   "oaml",
		ChangeCrashes: "oaml",
		PurgeCrashes:  "oa",
		SaveSearches:  "oaml",
		ReadSymbols:   "oaml",
		UploadSymbols: "oaml",
		DeleteSymbols: "oa",
		ReadQueues:    "O",
		ReadMetrics:   "O",
		ReadMail:      "O",
		ReceiveMail:   "O",

		ExchangeToken:         "oaml",
		ManageOwnKeys:         "oaml",
		ReadSelf:              "oaml",
		ManageServiceAccounts: "oa",
		ManageCrashProjects:   "oa",
		ManageSettings:        "oa",

		ReadProjects:   "oaml",
		ChangeProjects: "oaml",
		DeleteProjects: "oal",
		ReadBuilds:     "oaml",
		UploadBuilds:   "oaml",
		ChangeBuilds:   "oaml",
		DeleteBuilds:   "oal",
		NotifyTesters:  "oal",
		ManageGates:    "oal",
		OverrideGate:   "oal",

		ReadTesters:     "oaml",
		InviteTesters:   "oal",
		ManageTesters:   "oa",
		ReadGroups:      "oaml",
		ManageGroups:    "oal",
		ReadTeams:       "oaml",
		CreateTeams:     "oa",
		ManageTeams:     "oal",
		DeleteTeams:     "oa",
		ReadDevices:     "oal",
		ManageDevices:   "oa",
		ReadWebhooks:    "oaml",
		ManageWebhooks:  "oal",
		ManageOIDC:      "oa",
		ReadAudits:      "oa",
		ReadSites:       "oa",
		CreateSites:     "o",
		ReadPermissions: "oa",
		ReadMembers:     "oa",
		ManageMembers:   "oa",
		ManageMail:      "oa",
		ReadSessions:    "oaml",
		ReadFeedbacks:   "oaml",
		ManageFeedbacks: "oal",
		ManageSDKTokens: "oal",

		ReadTests:       "oaml",
		ChangeTests:     "oaml",
		ReviewLooks:     "oaml",
		DeleteTests:     "oaml",
		ManageSchedules: "oaml",
		RunTests:        "oaml",
		ChangeVariables: "oaml",
		ManageTunnels:   "oa",

		ManageCommitStatus: "oal",
		UseAgentTools:      "oaml",
	}
	callers := []struct {
		letter string
		caller Caller
	}{
		{"o", Caller{Role: account.Owner}}, {"a", Caller{Role: account.Admin}}, {"m", Caller{Role: account.Member}},
		{"t", Caller{Role: account.Tester}}, {"l", Caller{Role: account.Member, Teams: []account.TeamPlace{{ID: 1, Admin: true}}}},
		{"O", Caller{Operator: true}}, {"?", Caller{}}, {"!", Caller{Role: "root"}},
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

// What keys with scopes get through, of an owner, who gets through everywhere: r who has
// agent:read, t agent:tests, x agent:runs, b agent:builds, c agent:crashes.
func TestScopes(t *testing.T) {
	t.Parallel()
	want := map[Action]string{ReadSelf: "rtxbc", ReadTasks: "rtxbc", ReadCrashes: "rtxbc", ReadSymbols: "rtxbc", ReadProjects: "rtxbc",
		ReadBuilds: "rtxbc", ReadTests: "rtxbc", UseAgentTools: "rtxbc",
		ChangeTests: "t", RunTests: "x", UploadBuilds: "b", UploadSymbols: "b", ChangeCrashes: "c"}
	letters := map[account.Scope]string{account.ScopeRead: "r", account.ScopeTests: "t", account.ScopeRuns: "x",
		account.ScopeBuilds: "b", account.ScopeCrashes: "c"}
	require.Len(t, account.Scopes(), len(letters))
	for action, rule := range Table() {
		got := ""
		for _, scope := range account.Scopes() {
			for _, role := range []account.Role{account.Owner, account.Member} {
				err := rule.Allow(&Caller{Role: role, scopes: []account.Scope{scope}})
				if err == nil && role == account.Owner {
					got += letters[scope]
				}
				if rule.Allow(&Caller{Role: role}) != nil {
					require.Error(t, err, "a scope allows %s nothing more: %s", role, action)
				}
			}
			tester := &Caller{Role: account.Tester, scopes: []account.Scope{scope}}
			require.Error(t, rule.Allow(tester), "%s", action)
		}
		require.Equal(t, want[action], got, "%s", action)
	}
	open := &Caller{Role: account.Member}
	require.Nil(t, open.Scopes())
	restricted := open.Restricted(account.ScopeRead)
	require.Nil(t, open.Scopes(), "the caller stays as it is")
	require.Error(t, Table()[ChangeTests].Allow(restricted))
	scoped := &Caller{Role: account.Member, scopes: []account.Scope{account.ScopeTests}}
	require.NoError(t, Table()[ChangeTests].Allow(scoped.Restricted(account.ScopeRead)), "scopes stay as they are")
	require.Error(t, Table()[ReadTests].Allow(&Caller{Role: account.Member, scopes: []account.Scope{account.ScopeRead}, blocked: true}))
}

func TestTeamRules(t *testing.T) {
	t.Parallel()
	teams := func(c Caller, action Action) (list []int64) {
		c.rule = Table()[action]
		w := c.Writer(account.Actor{})
		require.Equal(t, c.Admin(), w.AllTeams)
		return w.Teams
	}
	both := []account.TeamPlace{{ID: 1, Admin: true}, {ID: 2}}
	lead := &Caller{Role: account.Member, Teams: []account.TeamPlace{{ID: 1, Admin: true}, {ID: 2}}}
	for action, want := range map[Action][]int64{UploadBuilds: {1, 2}, ChangeBuilds: {1, 2}, ChangeProjects: {1, 2},
		ChangeTests: {1, 2}, DeleteTests: {1, 2}, ManageSchedules: {1, 2}, RunTests: {1, 2}, ChangeVariables: {1, 2},
		ReadTests: nil, ManageTunnels: nil,
		DeleteBuilds: {1}, DeleteProjects: {1}, NotifyTesters: {1}, ReadBuilds: nil, ReadProjects: nil, ManageSettings: nil} {
		require.Equal(t, want, teams(Caller{Role: account.Member, Teams: both}, action), "%s", action)
		require.Empty(t, teams(Caller{Role: account.Tester, Teams: both}, action), "%s", action)
	}
	require.True(t, lead.TeamAdmin(1) && !lead.TeamAdmin(2) && !lead.TeamAdmin(3))
	admin := &Caller{Role: account.Admin}
	require.True(t, admin.TeamAdmin(9))
	tester := &Caller{Role: account.Tester, Teams: lead.Teams}
	require.False(t, tester.TeamAdmin(1))
	rule := Rule{Least: account.Admin, TeamAdmin: true}
	require.NoError(t, rule.Allow(lead))
	require.Error(t, rule.Allow(&Caller{Role: account.Member, Teams: []account.TeamPlace{{ID: 2}}}))
	require.Error(t, rule.Allow(tester))
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
