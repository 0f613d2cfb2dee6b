package native

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Points are whole pixels within the box, whatever their shares.
func TestPlace(t *testing.T) {
	t.Parallel()
	box := webdriver.Box{X: 10, Y: 20, Width: 100, Height: 50}
	for point, want := range map[step.Point][2]int{
		{X: 0, Y: 0}: {10, 20}, {X: 1, Y: 1}: {109, 69}, {X: 0.5, Y: 0.5}: {60, 45}, {X: 0.999, Y: 0.001}: {109, 20},
	} {
		x, y := place(box, point)
		require.Equal(t, want, [2]int{x, y})
	}
	x, y := place(webdriver.Box{X: 3.7, Y: 4.2, Width: 0.5, Height: 1}, centre)
	require.Equal(t, [2]int{3, 4}, [2]int{x, y})
}

func TestAlong(t *testing.T) {
	t.Parallel()
	for direction, ways := range map[string][2]float64{"up": {0, -0.5}, "down": {0, 0.5}, "left": {-0.5, 0}, "right": {0.5, 0},
		"": {0, -0.5}} {
		from, to := along(direction)
		require.Equal(t, ways, [2]float64{to.X - from.X, to.Y - from.Y}, direction)
	}
}

func TestAndroidPermission(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"camera": "android.permission.CAMERA", "read-sms": "android.permission.READ_SMS",
		"Record_Audio": "android.permission.RECORD_AUDIO", "com.example.X": "com.example.X"} {
		require.Equal(t, want, androidPermission(name))
	}
}
