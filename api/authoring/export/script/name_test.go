package script

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, id, kebab, pascal string }{
		{"Sign in works", "", "sign-in-works", "SignInWorks"},
		{"", "64f0", "case-64f0", "Case64f0"},
		{"日本語", "", "case", "Case"},
		{"../../etc/passwd", "", "etc-passwd", "EtcPasswd"},
		{"2 factors", "", "case-2-factors", "Case2Factors"},
		{"NUL", "", "case-nul", "CaseNul"},
		{strings.Repeat("long ", 100), "", strings.TrimSuffix(strings.Repeat("long-", 15), "-"), strings.Repeat("Long", 15)},
		{strings.Repeat("x", 1_000_000), "", strings.Repeat("x", 60), "X" + strings.Repeat("x", 59)},
	} {
		n := newTitle(test.name, test.id)
		require.Equal(t, test.kebab, n.Kebab(), "%.50q", test.name)
		require.Equal(t, test.pascal, n.Pascal())
	}
}
