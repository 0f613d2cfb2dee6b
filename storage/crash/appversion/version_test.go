package appversion

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each line is in ascending order.
func TestVersionsAscend(t *testing.T) {
	t.Parallel()
	for _, line := range [][]string{
		// The example of semver.org.
		{"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
			"1.0.0", "2.0.0", "2.1.0", "2.1.1"},
		{"1.2.9", "1.2.10", "1.10.0", "1.10.0.1", "2", "10", "99999999999999999999", "100000000000000000000"},
		{"1.2.3 (9)", "1.2.3 (10)", "1.2.4 (1)"},
		{"1.2.3", "1.2.3 (1)", "1.2.3+2", "1.2.3 build 3", "1.2.3-build.4", "1.2.3 (Build 5)"},
		{"v1.2", "V1.2.1", "version 1.3", "release-1.4", "r1.5", "app@1.6.0+1", "@scope/app@1.7"},
		{"1.0.dev1", "1.0a1", "1.0a2", "1.0b1", "1.0rc1", "1.0", "1.0.post1"},
		{"1.0.2", "1.0.2a", "1.0.2k", "1.0.3"},
		{"1.8.0_9", "1.8.0_292", "1.9"},
		{"6, 0, 0, 9", "6,0,0,10"},
		{"2025-12-31", "2026-01-02", "2026.1.10", "2026-11-01"},
		{"20251231", "20260102"},
		{"1.0-SNAPSHOT", "1.0", "1.0-patch2", "1.0-patch10"},
		{"1.0.0-rc1", "1.0.0-rc2", "1.0.0-rc10", "1.0.0-RC.11"},
		{"", "3f9a1c2d", "main", "nightly-2", "nightly-10", "0.0.1"},
		{"debug", "\xff", "0"},
	} {
		for i := range line {
			for j := range line {
				want := 0
				if i < j {
					want = -1
				} else if i > j {
					want = 1
				}
				require.Equal(t, want, Compare(line[i], line[j]), "%q and %q", line[i], line[j])
			}
		}
	}
}

func TestVersionsThatAreTheSame(t *testing.T) {
	t.Parallel()
	for _, line := range [][]string{
		{"1.2", "1.2.0", "v1.2", "01.2.0.0", " 1.2 ", "app@1.2", "1.2.Final", "1.2-release", "1.2+abcdef"},
		{"1.2.3 (456)", "1.2.3+456", "1.2.3 build 456", "1.2.3 (build 0456)"},
		{"1.0rc1", "1.0-rc.1", "1.0 RC 1"},
		{"2026-01-31", "2026.1.31"},
		{"0", "0.0.0"},
	} {
		for _, other := range line[1:] {
			require.Zero(t, Compare(line[0], other), "%q and %q", line[0], other)
		}
	}
}

func TestOrderedVersions(t *testing.T) {
	t.Parallel()
	require.True(t, Ordered("1.2", "v1.3-rc.1"))
	require.True(t, Ordered("20260131", "1.0"))
	for _, text := range []string{"", "main", "3f9a1c2", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "unknown"} {
		require.False(t, Ordered("1.2", text), text)
		require.False(t, Ordered(text, text), text)
	}
}

// The order is total: antisymmetric and transitive.
func FuzzCompareVersions(f *testing.F) {
	for _, seed := range [][3]string{{"1.2.3", "1.2.3-rc.1", "1.2.3 (4)"}, {"v1", "", "main"}, {"1.0a1", "1.0.dev1", "1_2,3"},
		{"2026-01-31", "1.2+a", "app@1"}, {"1.", "1.-", "-1"}, {strings.Repeat("1.", 400), "(", "+"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		ab, bc, ac := Compare(a, b), Compare(b, c), Compare(a, c)
		if Compare(a, a) != 0 || Compare(b, a) != -ab {
			t.Fatalf("%q and %q: %d and %d", a, b, ab, Compare(b, a))
		}
		if ab <= 0 && bc <= 0 && (ac > 0 || ac == 0 && (ab != 0 || bc != 0)) {
			t.Fatalf("%q, %q, %q: %d, %d, %d", a, b, c, ab, bc, ac)
		}
	})
}
