package agent

import (
	"crypto/sha256"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUpload(t *testing.T) {
	t.Parallel()
	outside, dir, more := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(path, content string) string {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	write(filepath.Join(dir, "build", "app.apk"), "a package")
	write(filepath.Join(dir, "empty.apk"), "")
	write(filepath.Join(dir, ".env"), "KEY=1")
	allowed := write(filepath.Join(more, "app.ipa"), "another")
	secret := write(filepath.Join(outside, "secret.apk"), "secret")
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link.apk")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "folder")))
	require.NoError(t, os.Symlink(filepath.Join(dir, ".env"), filepath.Join(dir, "env.apk")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir.apk"), 0o700))

	w := newWorld(t, func(c *Config) { c.Writes, c.Folders = []Write{Builds}, []string{dir, more} })
	answer := func(content string) {
		w.answers["POST /api/upload"] = fmt.Sprintf(`{"status":"ok","build_id":"3","app_version":"1.0","warnings":["w"],"sha256":"%x"}`,
			sha256.Sum256([]byte(content)))
	}
	answer("a package")
	const elsewhere = "outside of the working directory"
	for path, want := range map[string]string{
		"../" + filepath.Base(outside) + "/secret.apk":     elsewhere,
		"build/../../" + filepath.Base(outside) + "/x.apk": elsewhere,
		secret:              elsewhere,
		"link.apk":          elsewhere,
		"folder/secret.apk": elsewhere,
		"/etc/passwd":       elsewhere,
		"/etc/none":         elsewhere,
		"dir.apk":           "is a folder",
		"none.apk":          "no such file",
		"empty.apk":         "is empty",
		".env":              "only packages",
		"env.apk":           "only packages",
		"build":             "only packages",
	} {
		w.fails("upload_build", object{"path": path}, want)
	}
	require.Empty(t, w.seen, "nothing was sent")

	text := w.works("upload_build", object{"path": "build/app.apk", "release_notes": "new", "app_id": 4, "tags": []string{"a", "b"},
		"metadata": object{"commit": "c0ffee"}})
	require.Contains(t, text, `"build_id":"3"`)
	body := w.bodies["POST /api/upload"]
	_, parameters, err := mime.ParseMediaType("multipart/form-data; boundary=" + strings.TrimPrefix(strings.SplitN(body, "\r\n", 2)[0], "--"))
	require.NoError(t, err)
	form, err := multipart.NewReader(strings.NewReader(body), parameters["boundary"]).ReadForm(1 << 20)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"release_notes": {"new"}, "project_id": {"4"}, "tags": {"a,b"},
		"metadata.commit": {"c0ffee"}}, form.Value)
	sent, err := form.File["file"][0].Open()
	require.NoError(t, err)
	content, err := io.ReadAll(sent)
	require.NoError(t, err)
	require.Equal(t, "a package", string(content))
	require.Equal(t, "app.apk", form.File["file"][0].Filename)
	answer("another")
	w.works("upload_build", object{"path": allowed})
	answer("something else")
	w.fails("upload_build", object{"path": allowed}, "the server has another file")
}
