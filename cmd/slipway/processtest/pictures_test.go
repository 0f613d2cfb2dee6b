package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
)

// pictureFolder names where TestPictures writes the pictures; without it, it takes none.
const pictureFolder = "DEMO_PICTURES"

// picture is one of README and docs/console.md.
type picture struct {
	name   string
	place  string // in places, which the example data has
	themes []string
	width  int64
	height int64
}

var pictures = []picture{
	{"overview", "overview", []string{"light", "dark"}, 1280, 900},
	{"crashes", "crashes", []string{"light", "dark"}, 1280, 900},
	{"group", "group", []string{"light", "dark"}, 1280, 900},
	{"build", "build", []string{"light", "dark"}, 1280, 900},
	{"run", "run", []string{"light"}, 1280, 900},
	{"operate", "operate", []string{"light"}, 1280, 900},
	{"overview-phone", "overview", []string{"light"}, 390, 844},
}

// file is what a picture of a theme is called; the light one has the plain name.
func (p picture) file(theme string) string {
	if theme == "light" {
		return p.name + ".png"
	}
	return p.name + "-" + theme + ".png"
}

// Each picture of README and of docs/ is there, and the page that it shows answers. With
// DEMO_PICTURES=DIR they are taken anew (make pictures). The data is what `slipway demo` makes
// beside a running installation.
func TestPictures(t *testing.T) {
	in := startUp(t, t.TempDir())
	folder, runs := os.Getenv(pictureFolder), "0"
	if folder != "" {
		runs = "4" // the pictures show the history; for its page alone, a run need not end
	}
	filled := command(t, nil, "demo", "--data-dir", in.dir, "--runs", runs)
	require.Zero(t, filled.code, "%s%s", filled.stdout, filled.stderr)
	require.NotContains(t, filled.stdout, "not done")
	t.Log(filled.stdout)
	link := printedLink.FindStringSubmatch(in.stdout.String())
	require.NotNil(t, link)
	tab := chromium.Start(t, 10*time.Minute, chromedp.WindowSize(1280, 900))
	p := &person{t: t, tab: tab, base: in.base}
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate(link[1])))
	p.press("Open the console")
	places := in.places(t)
	for _, picture := range pictures {
		path := places[picture.place]
		require.NotEmpty(t, path, picture.place)
		status := p.text(fmt.Sprintf(`(() => { const q = new XMLHttpRequest(); q.open("GET", %q, false); q.send(); return String(q.status); })()`,
			in.base+path))
		require.Equal(t, fmt.Sprint(http.StatusOK), status, "%s shows %s", picture.name, path)
		for _, theme := range picture.themes {
			if folder == "" {
				_, err := os.Stat(filepath.Join("..", "..", "..", "docs", "pictures", picture.file(theme)))
				require.NoError(t, err, "make pictures takes it")
				continue
			}
			p.take(picture, theme, path, folder)
		}
	}
	removed := command(t, nil, "demo", "--data-dir", in.dir, "--remove")
	require.Zero(t, removed.code, "%s%s", removed.stdout, removed.stderr)
	checkNoSecrets(t, in)
}

// take writes a picture.
func (p *person) take(picture picture, theme, path, folder string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.tab, chromedp.EmulateViewport(picture.width, picture.height)))
	p.goTo(path)
	p.text(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
	png, err := chromedp.Run(p.tab, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(folder, picture.file(theme)), png, 0o644))
}

// places are the pages of the console that pictures show, by what is in the example data.
func (in *installation) places(t *testing.T) map[string]string {
	t.Helper()
	read := func(path string, out any) {
		require.NoError(t, json.Unmarshal(in.fetch(t, path), out), path)
	}
	var groups struct {
		List []struct {
			ID int64 `json:"id"`
		} `json:"crash_groups"`
	}
	read("/api/v3/crash-groups?search=Price.cents", &groups)
	require.Len(t, groups.List, 1)
	var apps struct {
		List []struct {
			Latest struct {
				ID int64 `json:"id"`
			} `json:"latest_build"`
			Package string `json:"package_name"`
		} `json:"projects"`
	}
	read("/api/v3/projects?search=org.slipway.demo.lamps", &apps)
	require.Len(t, apps.List, 1)
	if os.Getenv(pictureFolder) == "" {
		in.startRun(t)
	}
	var runs struct {
		Items []struct {
			ID   string `json:"id"`
			Case string `json:"testCaseId"`
			Name string `json:"testCaseName"`
		} `json:"items"`
	}
	newTester(in).ok(t, http.StatusOK, http.MethodGet, "/runs", nil, &runs)
	places := map[string]string{"overview": "/console", "crashes": "/console/crashes", "operate": "/console/operate",
		"group": fmt.Sprintf("/console/crashes/groups/%d", groups.List[0].ID), "build": fmt.Sprintf("/console/builds/builds/%d",
			apps.List[0].Latest.ID)}
	for _, r := range runs.Items {
		if strings.Contains(r.Name, "blue lamp into") && places["run"] == "" {
			places["run"] = "/console/tests/cases/" + r.Case + "/runs/" + r.ID
		}
	}
	return places
}

// startRun starts a run of a test of the example data.
func (in *installation) startRun(t *testing.T) {
	t.Helper()
	var cases struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	newTester(in).ok(t, http.StatusOK, http.MethodGet, "/testcases?search=blue+lamp+into", nil, &cases)
	require.Len(t, cases.Items, 1)
	newTester(in).ok(t, http.StatusOK, http.MethodPost, "/testcases/"+cases.Items[0].ID+"/run", nil, nil)
}
