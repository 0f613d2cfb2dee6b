//go:build soak

package replay_test

import "testing"

// Each widget case is played twice and looked at, where every run has a sample.
func TestEveryWidgetIsPlayedAgain(t *testing.T) { playWidgets(t, whole) }

func TestEveryWidgetIsSeen(t *testing.T) { seeWidgets(t, whole) }
