package export

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// measurement compares where the dragged thing stands while the menu is open with where
// it stands when the menu has closed, and before and after what comes and goes.
const measurement = `<script>
  const at = () => JSON.stringify(document.getElementById('from').getBoundingClientRect());
  const before = at(), tip = document.getElementById('tip');
  tip.style.display = 'block';
  const open = at(), shown = tip.getBoundingClientRect().height > 0;
  tip.style.display = '';
  document.getElementById('late').innerHTML = '<p class="note">Order #12 (ready)</p>';
  document.getElementById('gone').remove();
  document.title = shown && before === open && open === at() ? 'stands still' : 'moves ' + before + open + at();
</script>`

// The page of the drag has the same geometry with any font: the pointer leaves the menu
// when a drag begins, and what is dragged must not move then.
func TestDragTargetStandsStill(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("testdata/shop/shop.html")
	require.NoError(t, err)
	browser := chromium(t)
	for name, style := range map[string]string{
		"small": "* { font: 7px monospace }", "usual": "", "large": "* { font: 31px/2.3 serif }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "page.html")
			text := strings.Replace(string(page), "<script>", "<style>"+style+"</style>"+measurement+"<script>", 1)
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
			defer cancel()
			args := append(strings.Fields(chromeArguments), "--user-data-dir="+filepath.Join(dir, "profile"), "--force-device-scale-factor=1.25",
				"--dump-dom", "file://"+file)
			dom, err := exec.CommandContext(ctx, browser, args...).Output()
			require.NoError(t, err)
			require.Contains(t, string(dom), "<title>stands still</title>")
		})
	}
}
