package conventions

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A full run has the race detector in all that needs no servers, whatever is added.
func TestPackagesWithoutServersHaveTheRaceDetector(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(filepath.Join(".ci", "test"), "--list", "./tasks/...", "./worker/...", "./api/...", "./storage/ledger")
	cmd.Dir = moduleRoot
	out, err := cmd.Output()
	require.NoError(t, err)
	got := strings.Fields(string(out))
	const module = "github.com/slipway-qa/slipway/"
	for _, name := range []string{"api/pace", "tasks/child", "tasks/link", "worker/browser/egress", "worker/crash/symbolicate",
		"worker/symbols/walk"} {
		require.True(t, slices.Contains(got, module+name), "%s is not in %v", name, got)
	}
	for name, why := range map[string]string{"tasks/dispatch": "needs Redis", "storage/ledger": "needs PostgreSQL",
		"worker/crash/fingerprint/labelled": "takes long", "worker/browser/webdriver": "starts browsers", "api/auth": "is not watched"} {
		require.False(t, slices.Contains(got, module+name), "%s %s", name, why)
	}
}
