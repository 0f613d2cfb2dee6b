//go:build soak

package storage_test

import "testing"

// TestUpgradeFromEvery upgrades each schema that ever landed.
func TestUpgradeFromEvery(t *testing.T) {
	t.Parallel()
	for _, l := range readLanded(t) {
		t.Run(l.commit, func(t *testing.T) {
			t.Parallel()
			upgradeFrom(t, l, false)
		})
	}
}
