package download

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromedriver"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

var driver chromedriver.Driver

func TestMain(m *testing.M) { driver.Main(m) }

func site(t testing.TB) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><link rel=icon href=data:,><a id=small href=/small>small</a><a id=large href=/large>large</a>")
	})
	attach := func(w http.ResponseWriter, name string) {
		w.Header().Set("Content-Type", "text/csv")
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	}
	mux.HandleFunc("/small", func(w http.ResponseWriter, _ *http.Request) {
		attach(w, "../../etc/small.csv")
		fmt.Fprint(w, "a,b\n")
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		attach(w, "large.csv")
		block := make([]byte, 64<<10)
		for r.Context().Err() == nil { // without end
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func click(t testing.TB, s *webdriver.Session, selector string) {
	t.Helper()
	ctx := chromedriver.Context(t)
	found, err := s.FindAll(ctx, webdriver.ByCSS, selector)
	require.NoError(t, err)
	require.NoError(t, s.Click(ctx, found[0]))
}

func ended(t testing.TB, d *Downloads, n int) []File {
	t.Helper()
	require.Eventually(t, func() bool {
		files := d.Files()
		return len(files) == n && files[n-1].Done
	}, 2*time.Minute, 10*time.Millisecond)
	return d.Files()
}

func TestDownloads(t *testing.T) {
	s, ctx := driver.Session(t, nil), chromedriver.Context(t)
	d, err := open(ctx, s, true, limits{file: 8 << 20, total: 16 << 20, files: 3})
	require.NoError(t, err)
	folder := d.folder.Name()
	require.NoError(t, s.Navigate(ctx, site(t)+"/"))
	click(t, s, "#small")
	f := ended(t, d, 1)[0]
	require.Empty(t, f.Failure)
	require.Equal(t, int64(4), f.Size)
	require.NotContains(t, f.path, "/")
	content, err := d.Content(f, 100)
	require.NoError(t, err)
	require.Equal(t, "a,b\n", string(content))

	// The second of a name is another file.
	click(t, s, "#small")
	second := ended(t, d, 2)[1]
	require.Empty(t, second.Failure)
	require.NotEqual(t, f.path, second.path)

	click(t, s, "#large")
	large := ended(t, d, 3)[2]
	require.Contains(t, large.Failure, "larger than 8 MiB")
	_, err = d.Content(large, 100)
	require.Error(t, err)

	click(t, s, "#large")
	many := ended(t, d, 4)[3]
	require.Contains(t, many.Failure, "3 files at most")
	d.Close(ctx)
	_, err = os.Stat(folder)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// What a page downloads above all that is kept fills no disk: it is cancelled too, and the
// browser begins no more.
func TestDownloadsWithoutEnd(t *testing.T) {
	s, ctx := driver.Session(t, nil), chromedriver.Context(t)
	d, err := open(ctx, s, true, limits{file: 8 << 20, total: 16 << 20, files: 1})
	require.NoError(t, err)
	defer d.Close(ctx)
	require.NoError(t, s.Navigate(ctx, site(t)+"/"))
	click(t, s, "#small")
	ended(t, d, 1)
	click(t, s, "#small")
	require.Contains(t, ended(t, d, 2)[1].Failure, "1 files at most", "also of one that has ended before it was looked at")
	click(t, s, "#large")
	require.Eventually(t, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.denied && len(d.surplus) == 0
	}, 2*time.Minute, 10*time.Millisecond)
	require.Len(t, d.Files(), 2)
	require.Eventually(t, func() bool { // what was cancelled is deleted by the browser
		list, err := os.ReadDir(d.folder.Name())
		return err == nil && len(list) == 1
	}, time.Minute, 10*time.Millisecond, "the file that is kept")
}

func TestWhereFilesCannotBeHad(t *testing.T) {
	ctx := chromedriver.Context(t)
	var unavailable *traffic.UnavailableError
	_, err := Open(ctx, nil, false)
	require.ErrorAs(t, err, &unavailable)
	require.Contains(t, unavailable.Text, "hub's machine")
	_, err = Open(ctx, driver.Session(t, map[string]any{"webSocketUrl": false}), true)
	require.ErrorAs(t, err, &unavailable)
}

func TestABrowserThatDies(t *testing.T) {
	s, ctx := driver.Session(t, nil), chromedriver.Context(t)
	d, err := Open(ctx, s, true)
	require.NoError(t, err)
	require.NoError(t, s.Navigate(ctx, site(t)+"/"))
	click(t, s, "#large")
	require.Eventually(t, func() bool { return len(d.Files()) == 1 }, time.Minute, 10*time.Millisecond)
	chromedriver.Kill(t, s)
	d.Close(ctx)
	_, err = os.Stat(d.folder.Name())
	require.ErrorIs(t, err, os.ErrNotExist)
}
