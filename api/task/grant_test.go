package task

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks"
)

// Who may retry and cancel which kind: o owner, a admin, m member, O operator. A
// new kind fails the test until it stands here.
func TestPermitByKind(t *testing.T) {
	t.Parallel()
	want := map[string]struct{ retry, cancel string }{
		tasks.CrashProcess.Name:       {"oaO", "O"},
		tasks.CrashPurge.Name:         {"oaO", "oaO"},
		tasks.CrashSplit.Name:         {"oamO", "oaO"},
		tasks.CrashChange.Name:        {"oamO", "oamO"},
		tasks.CrashRegroup.Name:       {"oaO", "oaO"},
		tasks.CrashRules.Name:         {"oamO", "oamO"},
		tasks.CrashRekey.Name:         {"O", "O"},
		tasks.CrashFunctions.Name:     {"O", "O"},
		tasks.CrashSymbolicate.Name:   {"oamO", "oamO"},
		tasks.CrashResymbolicate.Name: {"oamO", "oamO"},
		tasks.CrashRetention.Name:     {"O", "O"},
		tasks.LedgerRetention.Name:    {"O", "O"},
		tasks.AuditRetention.Name:     {"O", "O"},
		tasks.ObjectSweep.Name:        {"O", "O"},
		tasks.ObjectRemoval.Name:      {"O", "O"},
		tasks.QuotaMaintenance.Name:   {"O", "O"},
		tasks.BuildNotify.Name:        {"oamO", "oamO"},
		tasks.TesterWelcome.Name:      {"oamO", "oamO"},
		tasks.BuildInvite.Name:        {"oamO", "oamO"},
		tasks.BuildVerify.Name:        {"oamO", "oaO"},
		tasks.BuildSync.Name:          {"oamO", "oamO"},
		tasks.BuildDelete.Name:        {"oaO", "O"},
		tasks.ProjectDelete.Name:      {"oaO", "O"},
		tasks.BuildMaintenance.Name:   {"O", "O"},
		tasks.MailSend.Name:           {"oaO", "oaO"},
		tasks.MailUrgent.Name:         {"oaO", "oaO"},
		tasks.MailDigest.Name:         {"O", "O"},
		tasks.TestJob.Name:            {"O", "O"},
		tasks.SuiteRun.Name:           {"O", "O"},
		tasks.RunRows.Name:            {"O", "O"},
		tasks.SuiteDeadline.Name:      {"O", "O"},
		tasks.RunMaintenance.Name:     {"O", "O"},
		tasks.ScheduleTick.Name:       {"O", "O"},

		tasks.SymbolIndex.Name:        {"oamO", "oamO"},
		tasks.SymbolMaintenance.Name:  {"O", "O"},
		tasks.SessionMaintenance.Name: {"O", "O"},

		tasks.WebhookDeliver.Name:     {"O", "O"},
		tasks.WebhookReplay.Name:      {"oaO", "oaO"},
		tasks.WebhookMaintenance.Name: {"O", "O"},

		tasks.TestGenerate.Name:          {"O", "O"},
		tasks.GenerationMaintenance.Name: {"O", "O"},
		tasks.GenerationRetention.Name:   {"O", "O"},

		tasks.UploadExpiry.Name: {"O", "O"},
		tasks.GateEvaluate.Name: {"O", "O"},
		tasks.GateStart.Name:    {"oamO", "oamO"},
		tasks.CommitStatus.Name: {"oamO", "oaO"},
	}
	who := func(needs tasks.Grant, verb, kind string) (through string) {
		for _, c := range []struct {
			letter string
			caller auth.Caller
		}{
			{"o", auth.Caller{Role: account.Owner}}, {"a", auth.Caller{Role: account.Admin}},
			{"m", auth.Caller{Role: account.Member}}, {"O", auth.Caller{Operator: true}},
		} {
			err := permit(&c.caller, needs, verb, kind)
			if err == nil {
				through += c.letter
				continue
			}
			var p *respond.Problem
			require.True(t, errors.As(err, &p))
			require.Equal(t, 403, p.Status)
			require.Contains(t, p.Text, "to "+verb+" a task of type "+kind+" takes ")
		}
		return through
	}
	kinds := tasks.Kinds()
	require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(kinds)),
		"each kind stands above with who may retry and cancel it")
	for name, kind := range kinds {
		require.Equal(t, want[name].retry, who(kind.Retry, "retry", name), "retry of %s", name)
		require.Equal(t, want[name].cancel, who(kind.Cancel, "cancel", name), "cancel of %s", name)
	}
	require.Equal(t, "oamO", who(tasks.GrantMember, "retry", "x"))
	require.Equal(t, "O", who(tasks.GrantOperator+1, "retry", "x"), "a grant that nobody knows lets nobody of an organization through")
}
