package symbol_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func (w *world) known(key, body string) (int, map[string]any) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/api/v3/symbols/known", strings.NewReader(body))
	require.NoError(w.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-API-Key", key)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	var out map[string]any
	require.NoError(w.t, json.Unmarshal(raw, &out), string(raw))
	return resp.StatusCode, out
}

func TestKnownSymbols(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.add(w.ours.Organization.ID, "libshop.so", []byte("elf"), nil)
	w.index(one.Upload.ID, elf("libshop.so", buildID))
	digest := strings.Repeat("0f", 32)
	_, err := w.db.ExecContext(t.Context(), `update symbols set sha256 = $1`, digest)
	require.NoError(t, err)
	ask := fmt.Sprintf(`{"identifiers":["zz",%q,"nothing"],"sha256":[%q,%q]}`, strings.ToUpper(buildID), strings.Repeat("a", 64),
		strings.ToUpper(digest))
	status, out := w.known(w.member, ask)
	require.Equal(t, 200, status, out)
	require.Equal(t, map[string]any{"known": []any{strings.ToUpper(buildID), strings.ToUpper(digest)},
		"unknown": []any{"zz", "nothing", strings.Repeat("a", 64)}}, out)
	status, out = w.known(w.theirs.Owner.APIKey, ask)
	require.Equal(t, 200, status)
	require.Equal(t, []any{}, out["known"])
	status, _ = w.known("none", ask)
	require.Equal(t, 401, status)

	// What is there for one project only is known to those who name it, by its id or name.
	project := w.ours.Crash.Project
	_, err = w.db.ExecContext(t.Context(), `update symbols set crash_project_id = $1`, project)
	require.NoError(t, err)
	var name string
	require.NoError(t, w.db.GetContext(t.Context(), &name, `select name from crash_projects where id = $1`, project))
	for body, want := range map[string]int{
		fmt.Sprintf(`{"sha256":[%q]}`, digest):                                0,
		fmt.Sprintf(`{"sha256":[%q],"crash_project_id":%d}`, digest, project): 1,
		fmt.Sprintf(`{"sha256":[%q],"crash_project":%q}`, digest, name):       1,
	} {
		status, out = w.known(w.member, body)
		require.Equal(t, 200, status, out)
		require.Len(t, out["known"], want, body)
	}

	many := `"` + strings.Repeat("x", 8)
	list := []string{}
	for i := range 1001 {
		list = append(list, fmt.Sprintf(`%s%d"`, many, i))
	}
	for name, body := range map[string]string{
		"none":     `{}`,
		"too many": `{"identifiers":[` + strings.Join(list[:600], ",") + `],"sha256":["` + digest + `",` + strings.Join(list[600:], ",") + `]}`,
		"too long": `{"identifiers":["` + strings.Repeat("x", 2049) + `"]}`,
		"digest":   `{"sha256":["abc"]}`,
		"project":  `{"identifiers":["a"],"crash_project_id":987654}`,
		"name":     `{"identifiers":["a"],"crash_project":"none"}`,
		"member":   `{"ids":["a"]}`,
	} {
		status, _ := w.known(w.member, body)
		require.Equal(t, 400, status, name)
	}
	status, out = w.known(w.member, `{"identifiers":[`+strings.Join(list[:1000], ",")+`]}`)
	require.Equal(t, 200, status, out)
	require.Len(t, out["unknown"], 1000)
}
