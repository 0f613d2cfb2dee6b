package upload

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nodeUpload sends a form in pieces, over seconds, and prints the status and the answer.
const nodeUpload = `
const http = require("http");
const [url, key] = process.argv.slice(2);
const r = http.request(url + "/upload/", {method: "POST", headers: {"X-API-Key": key,
  "Content-Type": "multipart/form-data; boundary=x", "Content-Length": 5000000}});
r.on("response", res => {
  let text = "";
  res.on("data", d => text += d);
  res.on("end", () => { console.log(res.statusCode + " " + text.trim()); process.exit(0); });
});
r.on("error", e => { console.log("broken: " + e.message); process.exit(1); });
r.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.apk"\r\n\r\n');
let left = 20;
const timer = setInterval(() => { r.write(Buffer.alloc(50000, 97)); if (--left == 0) clearInterval(timer); }, 100);
`

// TestClientsReadTheRefusal: clients that send slowly print what the service says, and not
// that their connection broke.
func TestClientsReadTheRefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.apk"), noise(5<<20, 1), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "upload.js"), []byte(nodeUpload), 0o600))
	for name, args := range map[string][]string{
		"curl": {"curl", "-sS", "--limit-rate", "500k", "-H", "Expect:", "-H", "X-API-Key: wrong", "-F",
			"file=@a.apk", "-w", "\n%{http_code}", w.url + "/upload/"},
		"curl, chunked": {"curl", "-sS", "--limit-rate", "500k", "-H", "Expect:", "-H", "Transfer-Encoding: chunked",
			"-H", "X-API-Key: wrong", "-F", "file=@a.apk", "-w", "\n%{http_code}", w.url + "/upload/"},
		"node": {"node", "upload.js", w.url, "wrong"},
	} {
		path, err := exec.LookPath(args[0])
		if err != nil {
			t.Logf("%s is not installed", args[0])
			continue
		}
		cmd := exec.CommandContext(t.Context(), path, args[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		require.Contains(t, string(out), "401", name)
		var answer map[string]any
		text := string(out)
		require.NoError(t, json.Unmarshal([]byte(text[strings.Index(text, "{"):strings.LastIndex(text, "}")+1]), &answer), "%s: %s", name, out)
		require.Contains(t, answer["message"], "invalid API key", name)
	}
}
