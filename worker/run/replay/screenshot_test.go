package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// colour returns what fills a screenshot of a page of one colour.
func colour(t *testing.T, data []byte) string {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	red, green, _, _ := img.At(img.Bounds().Dx()/2, img.Bounds().Dy()/2).RGBA()
	switch {
	case red > 0xc000 && green > 0xc000:
		return "white"
	case red > green:
		return "red"
	}
	return "green"
}

// What a click shows at once is in one screenshot, which is that of the click and of
// the assertion after it.
func TestAssertionSharesScreenshot(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<p id=p>no</p><button id=b
		onclick="document.body.style.background = '#080'; p.textContent = 'done'">b</button>`})
	shots := map[int][]byte{}
	r := play(t, replay.Config{TestURL: base, Screenshots: true,
		Steps: []step.Step{click("#b"), is("#p", step.TextIs, "done"), is("#b", step.TextIs, "b"), click("#p")},
		Capture: func(_ context.Context, a replay.Artifact) string {
			shots[a.Step] = a.Data
			return fmt.Sprint("shot", a.Step)
		}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Len(t, shots, 4)
	for i := range 3 {
		require.Equal(t, "green", colour(t, shots[i]), i)
		require.Equal(t, shots[0], shots[i], "one screenshot")
		require.Equal(t, fmt.Sprint("shot", i), r.Records[i].ScreenshotID, "a file for each step")
	}
}

// The page of this test changes only after the click's screenshot has been taken: an
// assertion that has to wait does not hold that up.
func TestScreenshotBeforeAssertionIsTrue(t *testing.T) {
	t.Parallel()
	for _, masked := range []bool{false, true} {
		taken := make(chan struct{})
		base := site(t, map[string]string{"/": `<p id=p>no</p><input id=i><button id=b onclick="document.body.style.background = '#f00';
			fetch('/taken').then(() => { document.body.style.background = '#080'; p.textContent = 'done' })">b</button>`},
			func(mux *http.ServeMux) {
				mux.HandleFunc("/taken", func(_ http.ResponseWriter, r *http.Request) {
					select {
					case <-taken:
					case <-r.Context().Done():
					}
				})
			})
		var colours []string
		r := play(t, replay.Config{TestURL: base, Screenshots: true,
			Steps:  []step.Step{input("#i", "{{v}}"), click("#b"), is("#p", step.TextIs, "done")},
			Lookup: func(step.Reference) (string, bool, bool) { return "hunter22", masked, true },
			Capture: func(_ context.Context, a replay.Artifact) string {
				colours = append(colours, colour(t, a.Data))
				if a.Step == 1 {
					close(taken)
				}
				return "id"
			}})
		require.Equal(t, "PASSED", r.Status, r.Message)
		require.Equal(t, []string{"white", "red", "green"}, colours)
	}
}

// A screenshot that waits for an assertion is taken when that fails.
func TestScreenshotsOfFailedAssertion(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<iframe srcdoc="<p id=p>no</p>"></iframe>`})
	inFrame := step.Step{Tool: step.Tool{Type: step.InFrame, Args: step.Args{
		Selector: &step.Selector{Type: step.CSS, Value: "iframe"}, Tool: new(step.Tool)}}}
	*inFrame.Tool.Args.Tool = is("#p", step.TextIs, "done").Tool
	var at []int
	inFrame.TimeoutMS = 300
	r := play(t, replay.Config{Screenshots: true,
		Steps: []step.Step{open(base), inFrame, click("#none")},
		Capture: func(_ context.Context, a replay.Artifact) string {
			if strings.HasPrefix(a.ContentType, "image/") {
				at = append(at, a.Step)
			}
			return "id"
		}})
	require.Equal(t, "FAILED", r.Status)
	require.Equal(t, []int{0, 1}, at)
	require.Equal(t, "id", r.Records[0].ScreenshotID)
	require.Equal(t, "id", r.Records[1].ScreenshotID)
}
