package account_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

const auditTableHead = "| Number | Action | Label | Event type of version 1 | Trail |\n|---|---|---|---|---|\n"

// The published table is the one of the code. With UPDATE_DOCS=1 the test writes it.
func TestAuditTableIsPublished(t *testing.T) {
	t.Parallel()
	const path = "../../docs/audit.md"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var table strings.Builder
	table.WriteString(auditTableHead)
	for _, e := range account.AuditTypes() {
		fmt.Fprintf(&table, "| %d | `%s` | %s | `%s` | %s |\n", e.Number, e.Action, e.Label, e.EventType(), e.Number.Trail())
	}
	before, _, found := strings.Cut(string(text), auditTableHead)
	if os.Getenv("UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(path, []byte(before+table.String()), 0o644))
		return
	}
	require.True(t, found, "the table of %s", path)
	require.Equal(t, before+table.String(), string(text), "UPDATE_DOCS=1 go test -run %s writes it", t.Name())
}

func TestTrails(t *testing.T) {
	t.Parallel()
	for of, types := range map[account.Trail][]account.AuditType{
		account.AdminTrail: {account.SecurityChanged, account.TeamCreated, account.TeamMemberRemoved, account.WebhookUpdated,
			account.ConnectionChanged, account.KeyCreated, account.UserRoleChanged, account.CrashTokenRevoked, account.SiteCreated},
		account.TesterTrail: {account.TestersInvited, account.TesterRemoved, account.GroupMemberAdded, account.DistributionChanged,
			account.BuildInvited},
		account.NoTrail: {account.BuildUploaded, account.BuildDownloaded, account.TestRunStarted, account.CrashGroupMerged,
			account.TaskRetried},
	} {
		for _, one := range types {
			require.Equal(t, of, one.Trail(), one)
			require.Contains(t, account.AuditTrailTypes(of), one)
		}
	}
	line, ok := account.AuditTypeOf("testers_invited")
	require.True(t, ok)
	require.Equal(t, account.TestersInvited, line.Number)
	_, ok = account.AuditTypeOf("")
	require.False(t, ok)
	events := map[string]bool{}
	for _, e := range account.AuditTypes() {
		require.Regexp(t, `^[a-z_]+$`, e.EventType())
		require.False(t, events[e.EventType()], e.EventType())
		events[e.EventType()] = true
	}
	require.True(t, events["download_app"])
}
