package distribution

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
)

func TestCompared(t *testing.T) {
	t.Parallel()
	one := &distribution.Build{ID: 1, Version: "1", VersionCode: "1", Kind: artifact.APK, File: storedfile.File{Size: 100},
		MinOSVersion: "21",
		TargetOS:     "33", Signer: &artifact.Signer{SHA256: "aa"}, Permissions: []string{"CAMERA", "INTERNET"}}
	two := &distribution.Build{ID: 2, Version: "2", VersionCode: "1", Kind: artifact.APK, File: storedfile.File{Size: 70},
		MinOSVersion: "24",
		TargetOS:     "33", Signer: &artifact.Signer{SHA256: "bb"}, Metadata: map[string]string{"channel": "beta"},
		Permissions: []string{"CONTACTS", "INTERNET"}}
	got := compared(two, one)
	require.Equal(t, []changeView{{"version", "1", "2"}, {"channel", "", "beta"}, {"min_os_version", "21", "24"},
		{"signer", "aa", "bb"}}, got.Changes)
	require.Equal(t, int64(-30), got.SizeDifference)
	require.Equal(t, []string{"CONTACTS"}, got.PermissionsAdded)
	require.Equal(t, []string{"CAMERA"}, got.PermissionsRemoved)
	require.True(t, got.PermissionsKnown)

	one.Permissions = nil
	got = compared(two, one)
	require.False(t, got.PermissionsKnown, "of one that nobody read, nothing was removed")
	require.Empty(t, got.PermissionsAdded)
	require.Nil(t, compared(one, nil).WithID)

	apple := func(team string) *distribution.Build {
		return &distribution.Build{Provisioning: &artifact.Provisioning{Team: team}}
	}
	require.Equal(t, []changeView{{"signer", "A", "B"}}, compared(apple("B"), apple("A")).Changes)
}

// What one of the two builds does not say is no difference; that a build has no signature is.
func TestComparedSkipsTheUnknown(t *testing.T) {
	t.Parallel()
	read := &distribution.Build{MinOSVersion: "24", TargetOS: "34", Signer: &artifact.Signer{SHA256: "aa"}}
	require.Empty(t, compared(read, &distribution.Build{}).Changes, "a build from before these were read")
	require.Empty(t, compared(&distribution.Build{}, read).Changes)
	unsigned := &distribution.Build{Signer: &artifact.Signer{Verification: artifact.NewVerification(artifact.Unsigned, "")}}
	require.Equal(t, []changeView{{"signer", "aa", ""}}, compared(unsigned, read).Changes)
}
