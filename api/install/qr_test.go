package install

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var run = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)

// TestQRDrawing paints the path again and compares it with the code.
func TestQRDrawing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"https://qa.example.com/install/harbour", "https://qa.example.com/install/" + strings.Repeat("x", 128)} {
		code, err := qrOf(text)
		require.NoError(t, err)
		drawn := qrSVG(code)
		require.NoError(t, xml.Unmarshal([]byte(drawn), new(struct{})))
		side := code.Size + 2*quiet
		require.Contains(t, drawn, `viewBox="0 0 `+strconv.Itoa(side)+" "+strconv.Itoa(side)+`"`)
		painted := map[[2]int]bool{}
		for _, m := range run.FindAllStringSubmatch(drawn, -1) {
			x, _ := strconv.Atoi(m[1])
			y, _ := strconv.Atoi(m[2])
			n, _ := strconv.Atoi(m[3])
			require.Equal(t, m[3], m[4])
			for i := range n {
				painted[[2]int{x + i, y}] = true
			}
		}
		for y := range side {
			for x := range side {
				require.Equal(t, code.Black(x-quiet, y-quiet), painted[[2]int{x, y}], "module %d %d", x, y)
			}
		}
		require.Less(t, len(drawn), 16<<10)
	}
}
