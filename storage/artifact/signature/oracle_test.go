package signature_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// oracleJar is the library of apksigner, as Debian's package of that name has it.
const oracleJar = "/usr/share/java/apksig.jar"

// TestVerifyAsApksigner compares verdicts, schemes and signers with those of
// apksigner: for the samples, and for each genuine one with bytes changed anywhere.
// One process verifies all of them.
func TestVerifyAsApksigner(t *testing.T) {
	t.Parallel()
	java, err := exec.LookPath("java")
	if _, missing := os.Stat(oracleJar); err != nil || missing != nil {
		t.Skip("apksigner is not installed (.ci/deps installs it)")
	}
	packages := map[string][]byte{}
	random := rand.New(rand.NewPCG(1, 2))
	all := samples(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		if c.young {
			continue
		}
		packages[name] = c.apk
		if c.signer == "" {
			continue
		}
		for n := range 6 {
			changed := bytes.Clone(c.apk)
			changed[random.IntN(len(changed))] ^= byte(1 + random.IntN(255))
			packages[fmt.Sprintf("%s, changed %d", name, n)] = changed
		}
	}
	folder, names := t.TempDir(), slices.Sorted(maps.Keys(packages))
	var paths strings.Builder
	for i, name := range names {
		path := filepath.Join(folder, fmt.Sprint(i))
		require.NoError(t, os.WriteFile(path, packages[name], 0o600))
		fmt.Fprintln(&paths, path)
	}
	oracle := exec.CommandContext(t.Context(), java, "-cp", oracleJar, "testdata/Oracle.java")
	oracle.Stdin, oracle.Stderr = strings.NewReader(paths.String()), os.Stderr
	out, err := oracle.Output()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	require.Len(t, lines, len(names))
	compared := 0
	for i, line := range lines {
		want := strings.Split(line, "\t")
		if want[1] == "unknown" {
			continue // this Java has no RSA-PSS under the name that apksigner asks for
		}
		compared++
		got := verified(t, packages[names[i]])
		why := fmt.Sprintf("%s: apksigner %s, ours %v", names[i], want[4], got.Failure)
		require.Equal(t, want[1] == "true", got.Failure == nil, why)
		if got.Failure == nil {
			require.Equal(t, want[2], strings.Join(got.Schemes, " "), why)
			theirs := strings.Fields(want[3])
			require.ElementsMatch(t, theirs, got.Certificates, why)
		}
	}
	require.Greater(t, compared, 100)
}
