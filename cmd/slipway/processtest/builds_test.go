package processtest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// TestBuilds tells the story of a CI job and a tester, on the folder of objects
// and on MinIO.
func TestBuilds(t *testing.T) {
	t.Parallel()
	for name, variables := range map[string]func(t *testing.T) []string{
		"folder": func(*testing.T) []string { return nil },
		"minio":  func(t *testing.T) []string { return []string{"SLIPWAY_OBJECTS_URL=" + servicetest.Minio(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := installed(t, dir, time.Now(), start(t, append(variables(t), "SLIPWAY_LOG_LEVEL=debug"),
				"up", "--data-dir", dir, "--listen", "127.0.0.1:0"))
			s := &buildStory{installation: in, t: t}
			s.groups()
			s.uploadsOfClients()
			s.realPackages()
			s.machine()
			s.versionThree()
			s.readings()
			s.browser()
			s.mail()
			s.changes()
			s.crashesOfBuilds()
			s.deletion()
			s.refusals()
			require.Zero(t, in.signal(t, os.Interrupt))
			checkNoSecrets(t, in)
		})
	}
}

// buildStory goes through one installation; its steps build on one another.
type buildStory struct {
	*installation
	t      *testing.T
	first  uploaded
	second uploaded
	ipa    []byte
}

// uploaded is the answer to an upload.
type uploaded struct {
	Status         string `json:"status"`
	BuildID        string `json:"build_id"`
	ProjectID      string `json:"project_id"`
	AppName        string `json:"app_name"`
	AppVersion     string `json:"app_version"`
	FileSize       int64  `json:"file_size"`
	BuildURL       string `json:"build_url"`
	AppURL         string `json:"app_url"`
	IconURL        string `json:"icon_url"`
	Platform       string `json:"platform"`
	LandingPageURL string `json:"landing_page_url"`
	TaskID         string `json:"task_id"`
}

// field is a part of a form, in order; a file when it has a file name.
type field struct{ name, file, value string }

// form writes a multipart body.
func form(t *testing.T, fields ...field) (body *bytes.Buffer, contentType string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for _, f := range fields {
		header := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name="%s"`, f.name)
		if f.file != "" {
			disposition += fmt.Sprintf(`; filename="%s"`, f.file)
			header.Set("Content-Type", "application/octet-stream")
		}
		header.Set("Content-Disposition", disposition)
		part, err := w.CreatePart(header)
		require.NoError(t, err)
		_, err = io.WriteString(part, f.value)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return body, w.FormDataContentType()
}

// submit posts a form without any header of authentication but the one given.
func (s *buildStory) submit(path, key string, fields ...field) (int, []byte) {
	s.t.Helper()
	body, contentType := form(s.t, fields...)
	res, text := caller{base: s.base, key: key}.do(s.t, http.MethodPost, path, body.Bytes(), func(r *http.Request) {
		r.Header.Set("Content-Type", contentType)
	})
	return res.StatusCode, text
}

func (s *buildStory) uploadForm(fields ...field) uploaded {
	s.t.Helper()
	status, text := s.submit("/api/upload/", "", fields...)
	require.Equal(s.t, http.StatusOK, status, "%s", text)
	var up uploaded
	require.NoError(s.t, json.Unmarshal(text, &up))
	require.Equal(s.t, "ok", up.Status)
	return up
}

// newIPA packs an app for iOS.
func newIPA(t *testing.T, bundle, version, code string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	f, err := z.Create("Payload/Shop.app/Info.plist")
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>CFBundleIdentifier</key><string>%s</string><key>CFBundleDisplayName</key><string>Shop</string>
<key>CFBundleShortVersionString</key><string>%s</string><key>CFBundleVersion</key><string>%s</string>
<key>MinimumOSVersion</key><string>15.0</string><key>CFBundleSupportedPlatforms</key><array><string>iPhoneOS</string></array>
</dict></plist>`, bundle, version, code)
	require.NoError(t, err)
	f, err = z.Create("Payload/Shop.app/Shop")
	require.NoError(t, err)
	_, err = f.Write(bytes.Repeat([]byte{0xfe, 0xed}, 50_000))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return buf.Bytes()
}

func (s *buildStory) groups() {
	for _, args := range [][]string{
		{"group", "create", s.boot.Organization.Slug, "QA Team"}, {"group", "create", s.boot.Organization.Slug, "Beta"},
		{"group", "add", s.boot.Organization.Slug, "qa team", "ann@example.com", "ben@example.com"},
		{"group", "add", s.boot.Organization.Slug, "Beta", "ann@example.com", "cid@example.com"},
	} {
		r := command(s.t, s.variables(s.t), append([]string{"admin"}, args...)...)
		require.Zero(s.t, r.code, r.stderr)
	}
}

// uploadsOfClients are requests in the shape in which clients send them.
func (s *buildStory) uploadsOfClients() {
	t := s.t
	s.ipa = newIPA(t, "com.example.shop", "1.0", "10")
	key := s.boot.Owner.APIKey

	// The shell script: curl, the file first; sed takes the link out.
	path := filepath.Join(t.TempDir(), "Shop.ipa")
	require.NoError(t, os.WriteFile(path, s.ipa, 0o600))
	out := shell(t,
		fmt.Sprintf(`curl -sS -f %s/api/upload -F file=@'%s' -F groups='QA Team' -F notify=on -F comment='First **build**' -F tags=ci,nightly \
		-F metadata.commit=abc123 -F auto-update=off -F video=off -F symbols_file= -F api_key=%s`, s.base, path, key))
	require.NoError(t, json.Unmarshal(out, &s.first))
	require.Equal(t, uploaded{Status: "ok", BuildID: s.first.BuildID, ProjectID: s.first.ProjectID, AppName: "Shop", AppVersion: "1.0",
		FileSize: int64(len(s.ipa)), BuildURL: s.first.BuildURL, AppURL: s.first.AppURL, IconURL: s.first.IconURL, Platform: "iOS",
		LandingPageURL: s.first.LandingPageURL, TaskID: s.first.TaskID}, s.first)
	link := regexp.MustCompile(`"build_url"\s*:\s*"([^"]*)"`).FindSubmatch(out)
	require.NotNil(t, link)
	require.Equal(t, s.first.BuildURL, string(link[1]))
	require.NotEmpty(t, s.first.TaskID, "the notification can be followed")
	// Whoever has a grant when the task runs is told: the next upload changes that.
	s.awaitTasks("build:notify")

	// A fastlane-like client: the key first, old names, empty parts, a path as the file's name.
	s.second = s.uploadForm(field{name: "api_key", value: key}, field{"apk_file", `C:\builds\Shop.ipa`,
		string(newIPA(t, "com.example.shop", "1.1", "11"))},
		field{name: "symbols_file"}, field{name: "testers_groups", value: "Beta, nobody"}, field{name: "notify", value: "off"},
		field{name: "auto_update", value: "on"}, field{name: "changelog", value: "Second build"},
		field{name: "options", value: "shake,anonymous"},
		field{name: "metrics", value: "cpu,memory"}, field{name: "ipa", value: "/builds/Shop.ipa"})
	require.Equal(t, s.first.ProjectID, s.second.ProjectID)

	// A Bitrise-like step: quoted names, the key between, release notes of several lines.
	third := s.uploadForm(field{name: "comment", value: "line 1\r\nline 2"}, field{name: "api_key", value: key},
		field{"file", "Shop.ipa", string(newIPA(t, "com.example.shop", "1.2", "12"))}, field{name: "notify", value: "off"},
		field{name: "folder_name", value: "Mobile"})
	require.NotEqual(t, s.first.ProjectID, third.ProjectID, "an app of its own in the folder")

	// Version 3.
	status, text := s.submit("/api/v3/builds/upload", key, field{name: "project_id", value: s.first.ProjectID},
		field{"file", "Shop.ipa", string(newIPA(t, "com.example.shop", "2.0", "20"))}, field{name: "groups", value: "Beta,unknown"},
		field{name: "landing_page_slug", value: "the-shop"}, field{name: "release_notes", value: "v3"},
		field{name: "version_code", value: "2001"})
	require.Equal(t, http.StatusCreated, status, "%s", text)
	var v3 struct {
		Status string `json:"status"`
		Build  struct {
			ID          int64  `json:"id"`
			VersionCode string `json:"version_code"`
			SHA256      string `json:"sha256"`
		} `json:"build"`
		InvalidGroups []string `json:"invalid_groups"`
	}
	require.NoError(t, json.Unmarshal(text, &v3))
	require.Equal(t, "ok", v3.Status)
	require.Equal(t, "2001", v3.Build.VersionCode)
	require.Equal(t, []string{"unknown"}, v3.InvalidGroups)

	// A retry with the same key is the same build.
	var ids []string
	for range 2 {
		body, contentType := form(t, field{"file", "Shop.ipa", string(newIPA(t, "com.example.shop", "2.1", "21"))})
		res, text := s.do(t, http.MethodPost, "/api/upload", body.Bytes(), func(r *http.Request) {
			r.Header.Set("Content-Type", contentType)
			r.Header.Set("Idempotency-Key", "job-7")
		})
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
		var up uploaded
		require.NoError(t, json.Unmarshal(text, &up))
		ids = append(ids, up.BuildID)
	}
	require.Equal(t, ids[0], ids[1])
}

// realPackages uploads the APKs of npm packages, where npm has brought them.
func (s *buildStory) realPackages() {
	cache, err := os.UserCacheDir()
	require.NoError(s.t, err)
	modules := filepath.Join(cache, "slipway", "npm", "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "io.appium.settings")); err != nil {
		s.t.Log("no real packages: npm is not installed")
		return
	}
	for _, p := range []struct{ path, name, version, pkg string }{
		{"io.appium.settings/apks/settings_apk-debug.apk", "Appium Settings", "8.0.10", "io.appium.settings"},
		{"appium-uiautomator2-server/apks/appium-uiautomator2-server-v10.6.6.apk", "io.appium.uiautomator2.server",
			"10.6.6", "io.appium.uiautomator2.server"},
		{"android-apidemos/apks/ApiDemos-debug.apk", "API Demos", "5.0.0", "io.appium.android.apis"},
	} {
		raw, err := os.ReadFile(filepath.Join(modules, p.path))
		require.NoError(s.t, err)
		up := s.uploadForm(field{"file", filepath.Base(p.path), string(raw)}, field{name: "api_key", value: s.boot.Owner.APIKey})
		require.Equal(s.t, []string{p.name, p.version, "Android"}, []string{up.AppName, up.AppVersion, up.Platform})
		res, icon := caller{}.do(s.t, http.MethodGet, up.IconURL, nil, nil)
		require.Equal(s.t, http.StatusOK, res.StatusCode)
		require.True(s.t, bytes.HasPrefix(icon, []byte("\x89PNG")))
		var one struct {
			Build struct {
				PackageName string `json:"package_name"`
				Signer      struct {
					SHA256 string `json:"sha256"`
				} `json:"signer"`
			} `json:"build"`
		}
		s.get(s.t, "/api/v3/builds/"+up.BuildID, &one)
		require.Equal(s.t, p.pkg, one.Build.PackageName)
		require.Len(s.t, one.Build.Signer.SHA256, 64)
		require.Equal(s.t, digest(raw), digest(s.bytes("/api/1/projects/"+up.ProjectID+"/builds/"+up.BuildID+"/download/")))
	}
}

// machine: the service account of the README uploads with its key.
func (s *buildStory) machine() {
	t := s.t
	res, text := s.do(t, http.MethodPost, "/api/v3/service-accounts", []byte(`{"username":"acme-ci"}`), asCurl)
	require.Equal(t, http.StatusCreated, res.StatusCode, "%s", text)
	var made struct{ Secret string }
	require.NoError(t, json.Unmarshal(text, &made))
	up := s.uploadForm(field{"file", "Shop.ipa", string(newIPA(t, "com.example.machine", "1.0", "1"))},
		field{name: "api_key", value: made.Secret})
	robot := caller{base: s.base, key: made.Secret}
	require.Equal(t, http.StatusOK, robot.status(t, "/api/v3/builds/"+up.BuildID))
	res, text = robot.do(t, http.MethodDelete, "/api/v3/builds/"+up.BuildID, nil, nil)
	require.Equal(t, http.StatusForbidden, res.StatusCode, "deleting is for admins: %s", text)
	res, text = robot.do(t, http.MethodDelete, "/api/1/projects/"+up.ProjectID+"/builds/"+up.BuildID, nil, nil)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
}

// asCurl is what curl -d calls a body.
func asCurl(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }

func asJSON(r *http.Request) { r.Header.Set("Content-Type", "application/json") }

// versionThree goes through the operations of version 3 on an app of their own,
// with a Bearer token.
func (s *buildStory) versionThree() {
	t := s.t
	res, text := s.do(t, http.MethodPost, "/api/v3/auth/token", nil, nil)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	var token struct{ Token string }
	require.NoError(t, json.Unmarshal(text, &token))
	do := func(want int, method, path, body string, into any) {
		t.Helper()
		res, text := caller{base: s.base}.do(t, method, path, []byte(body), func(r *http.Request) {
			asJSON(r)
			r.Header.Set("Authorization", "Bearer "+token.Token)
		})
		require.Equal(t, want, res.StatusCode, "%s %s: %s", method, path, text)
		if into != nil {
			require.NoError(t, json.Unmarshal(text, into), "%s", text)
		}
	}
	type project struct {
		ID         int64
		Name       string
		FolderName string `json:"folder_name"`
	}
	var one struct{ Project project }
	do(201, "POST", "/api/v3/projects", `{"name":"Fresh","package_name":"com.example.fresh","platform":"iOS"}`, &one)
	id := one.Project.ID
	do(409, "POST", "/api/v3/projects", `{"name":"Fresh","package_name":"com.example.fresh","platform":"iOS"}`, nil)
	do(200, "PUT", fmt.Sprintf("/api/3/projects/%d/", id), `{"name":"Renamed","folder_name":"Lab"}`, &one)
	require.Equal(t, project{ID: id, Name: "Renamed", FolderName: "Lab"}, one.Project)
	do(200, "GET", fmt.Sprintf("/api/v3/projects/%d", id), "", &one)
	require.Equal(t, "Renamed", one.Project.Name)

	status, text := s.submit("/api/v3/builds/upload", s.boot.Owner.APIKey, field{name: "project_id", value: fmt.Sprint(id)},
		field{"file", "Fresh.ipa", string(newIPA(t, "com.example.fresh", "1.0", "1"))}, field{"symbols_file", "broken.zip", "no symbols"})
	require.Equal(t, http.StatusCreated, status, "%s", text)
	var up struct{ Build struct{ ID int64 } }
	require.NoError(t, json.Unmarshal(text, &up))
	path := fmt.Sprintf("/api/v3/builds/%d", up.Build.ID)
	do(404, "GET", path+"/symbols/download", "", nil)
	var build struct {
		Build struct {
			ID           int64
			ReleaseNotes string `json:"release_notes"`
			Tags         []string
		}
	}
	do(200, "PUT", path, `{"release_notes":"why","tags":["a"],"landing_page_slug":"fresh-app"}`, &build)
	require.Equal(t, "why", build.Build.ReleaseNotes)
	do(409, "PUT", path, `{"landing_page_slug":"the-shop"}`, nil)
	do(201, "POST", path+"/copy", "", &build)
	require.NotEqual(t, up.Build.ID, build.Build.ID)
	var list struct {
		Builds     []struct{ ID int64 }
		Pagination struct{ Total int }
	}
	do(200, "GET", fmt.Sprintf("/api/v3/projects/%d/builds?tag=a", id), "", &list)
	require.Equal(t, 2, list.Pagination.Total)
	do(200, "GET", fmt.Sprintf("/api/2/projects/%d", id), "", nil)
	do(200, "GET", fmt.Sprintf("/api/1/projects/%d/builds/%d", id, up.Build.ID), "", nil)
	do(400, "PATCH", fmt.Sprintf("/api/1/projects/%d/builds/", id), `{"comment":"x"}`, nil)
	do(202, "POST", path+"/notify-testers", "", nil)
	do(200, "PUT", path, `{"status":"disabled"}`, nil)
	do(409, "POST", path+"/notify-testers", "", nil)
	do(409, "GET", path+"/download", "", nil)
	var copied struct{ Project project }
	do(201, "POST", fmt.Sprintf("/api/v3/projects/%d/copy", id), `{"name":"Twin"}`, &copied)
	require.Equal(t, "Twin", copied.Project.Name)
	do(403, "POST", "/api/v3/me/keys", `{}`, nil)
	for _, project := range []int64{id, copied.Project.ID} {
		do(204, "DELETE", fmt.Sprintf("/api/v3/projects/%d", project), "", nil)
		do(404, "GET", fmt.Sprintf("/api/v3/projects/%d", project), "", nil)
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (s *buildStory) bytes(path string) []byte {
	s.t.Helper()
	res, text := s.do(s.t, http.MethodGet, path, nil, nil)
	require.Equal(s.t, http.StatusOK, res.StatusCode, "%s", path)
	return text
}

// readings are the three versions over the same builds.
func (s *buildStory) readings() {
	t := s.t
	var v1 struct {
		Status   string `json:"status"`
		Projects []struct{ ID, Self, Name, PackageName, Platform, LandingPageMode string }
	}
	s.get(t, "/api/1/projects/", &v1)
	require.Equal(t, "ok", v1.Status)
	require.GreaterOrEqual(t, len(v1.Projects), 2)
	var builds struct {
		Builds []map[string]any `json:"builds"`
	}
	s.get(t, "/api/1/projects/"+s.first.ProjectID+"-shop/builds/", &builds)
	require.Len(t, builds.Builds, 4)
	require.Contains(t, builds.Builds[0], "hasSlipwaySdk")
	var v2 struct {
		Builds []struct {
			ID         int64  `json:"id"`
			AppVersion string `json:"appVersion"`
		} `json:"builds"`
		Pagination struct{ Total int } `json:"pagination"`
	}
	s.get(t, "/api/2/projects/"+s.first.ProjectID+"/builds?per_page=1", &v2)
	require.Len(t, v2.Builds, 1)
	require.Equal(t, 4, v2.Pagination.Total)
	var link struct{ URL string }
	s.get(t, "/api/v3/builds/"+s.first.BuildID+"/download", &link)
	require.Equal(t, digest(s.ipa), digest(caller{}.fetch(t, link.URL)))
	require.Equal(t, digest(s.ipa), digest(s.bytes("/api/1/projects/"+s.first.ProjectID+"/builds/"+s.first.BuildID+"/download")))
	for _, query := range []string{"per_page=0", "per_page=-1", "page=0", "per_page=x"} {
		require.Equal(t, http.StatusBadRequest, s.status(t, "/api/2/projects?"+query), query)
		require.Equal(t, http.StatusBadRequest, s.status(t, "/api/v3/projects?"+query), query)
	}
	require.Equal(t, http.StatusOK, s.status(t, "/api/v3/projects?per_page=99999"))
}

// fetch reads an address without credentials.
func (a caller) fetch(t *testing.T, address string) []byte {
	t.Helper()
	res, text := a.do(t, http.MethodGet, address, nil, nil)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s: %s", address, text)
	return text
}

// mail: both members of the group that was notified have one mail each, which
// leads to the build.
func (s *buildStory) mail() {
	t := s.t
	operator := caller{base: s.base}
	var list struct {
		Mails []struct{ Recipient, Subject, Text, Kind, State string } `json:"mails"`
	}
	eventually(t, "two mails are kept", func() bool {
		res, text := operator.do(t, http.MethodGet, "/ops/mail?format=json", nil, func(r *http.Request) {
			r.SetBasicAuth(s.boot.Operator.Username, s.boot.Operator.Password)
		})
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
		require.NoError(t, json.Unmarshal(text, &list))
		kept := 0
		for _, m := range list.Mails {
			if m.State == "kept" {
				kept++
			}
		}
		return kept == 2
	})
	var to []string
	for _, m := range list.Mails {
		to = append(to, m.Recipient)
		require.Contains(t, m.Text, s.base+"/invite/slp_inv_", "a personal link")
	}
	require.ElementsMatch(t, []string{"ann@example.com", "ben@example.com"}, to)
	require.Equal(t, http.StatusUnauthorized, operator.status(t, "/ops/mail"))
	require.Equal(t, http.StatusForbidden, s.status(t, "/ops/mail"), "not for members")
}

// changes are PATCH, copy and update.
func (s *buildStory) changes() {
	t := s.t
	path := "/api/1/projects/" + s.second.ProjectID + "/builds/" + s.second.BuildID
	res, text := s.do(t, http.MethodPatch, path+"/", []byte(url.Values{"comment": {"Patched"}, "tags": {"a,b"},
		"groups": {"QA Team"}, "metadata_run": {"9"}}.Encode()),
		func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") })
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	var patched struct {
		Changelog string
		Tags      []string
		Groups    []string
		Metadata  map[string]string
	}
	require.NoError(t, json.Unmarshal(text, &patched))
	require.Equal(t, "Patched", patched.Changelog)
	require.Equal(t, []string{"QA Team"}, patched.Groups)
	require.Equal(t, "9", patched.Metadata["run"])

	res, text = s.do(t, http.MethodPost, path+"/copy", []byte(`{"folder_name":"Archive","app_name":"Shop kept"}`),
		asJSON)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	var copied struct {
		BuildID    string `json:"build_id"`
		FolderPath string `json:"folder_path"`
	}
	require.NoError(t, json.Unmarshal(text, &copied))
	require.Equal(t, "Archive", copied.FolderPath)
	// The copy outlives the original, whose file it shares.
	res, text = s.do(t, http.MethodDelete, path, nil, nil)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	s.awaitTasks("build:delete")
	var link struct{ URL string }
	s.get(t, "/api/v3/builds/"+copied.BuildID+"/download", &link)
	require.Equal(t, digest(newIPA(t, "com.example.shop", "1.1", "11")), digest(caller{}.fetch(t, link.URL)))
}

// awaitTasks waits until no task of the type is open.
func (s *buildStory) awaitTasks(kind string) {
	s.t.Helper()
	eventually(s.t, "tasks of "+kind+" end", func() bool {
		var list struct {
			Tasks []struct{ State, Error string }
		}
		s.get(s.t, "/api/v3/tasks?type="+kind, &list)
		for _, task := range list.Tasks {
			require.NotEqual(s.t, "dead", task.State, task.Error)
			if task.State != "succeeded" {
				return false
			}
		}
		return len(list.Tasks) > 0
	})
}

// crashesOfBuilds: a crash finds its build, and goes with it.
func (s *buildStory) crashesOfBuilds() {
	t := s.t
	res, text := s.do(t, http.MethodPut, fmt.Sprintf("/api/v3/crash-projects/%d", s.boot.Crash.Project),
		fmt.Appendf(nil, `{"project_id":%s}`, s.first.ProjectID), asCurl)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	s.post(t, s.boot.Crash.Token, sample(uuid.New(), "ShopError", "buy")) // version 1.0
	s.awaitGroup(t, "ShopError", 1)
	var one struct {
		Build struct{ Crashes int } `json:"build"`
	}
	s.get(t, "/api/v3/builds/"+s.first.BuildID, &one)
	require.Equal(t, 1, one.Build.Crashes)
	res, text = s.do(t, http.MethodDelete, "/api/v3/builds/"+s.first.BuildID, nil, nil)
	require.Equal(t, http.StatusNoContent, res.StatusCode, "%s", text)
	require.Equal(t, http.StatusNotFound, s.status(t, "/api/v3/builds/"+s.first.BuildID))
	s.awaitTasks("build:delete")
	for _, g := range s.caller.groups(t, "") {
		require.False(t, strings.HasPrefix(g.Title, "ShopError"), "the build's crashes went with it")
	}
	require.Equal(t, http.StatusNotFound, caller{}.status(t, s.first.AppURL))
}

// deletion: an app without builds is no longer listed by version 1, and its
// objects are gone.
func (s *buildStory) deletion() {
	t := s.t
	var builds struct {
		Builds []struct{ ID string } `json:"builds"`
	}
	s.get(t, "/api/1/projects/"+s.first.ProjectID+"/builds", &builds)
	require.NotEmpty(t, builds.Builds)
	for _, b := range builds.Builds {
		res, text := s.do(t, http.MethodDelete, "/api/1/projects/"+s.first.ProjectID+"/builds/"+b.ID, nil, nil)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
		require.JSONEq(t, `{"status":"ok"}`, string(text))
	}
	var v1 struct{ Projects []struct{ ID string } }
	s.get(t, "/api/1/projects", &v1)
	for _, p := range v1.Projects {
		require.NotEqual(t, s.first.ProjectID, p.ID)
	}
	require.Equal(t, http.StatusOK, s.status(t, "/api/v3/projects/"+s.first.ProjectID), "the app itself is there")
	res, text := s.do(t, http.MethodDelete, "/api/v3/projects/"+s.first.ProjectID, nil, nil)
	require.Equal(t, http.StatusNoContent, res.StatusCode, "%s", text)
	s.awaitTasks("build:delete")
	s.awaitTasks("project:delete")
}

// refusals have their codes, and leave nothing.
func (s *buildStory) refusals() {
	t := s.t
	for name, c := range map[string]struct {
		status, code int
		fields       []field
	}{
		"no key": {400, 1, []field{{"file", "a.ipa", string(s.ipa)}}},
		"wrong key": {401, 5, []field{{"file", "a.ipa", string(s.ipa)}, {name: "api_key", value: "slp_local_api_" +
			strings.Repeat("a", 40)}}},
		"no file":    {400, 1, []field{{name: "api_key", value: s.boot.Owner.APIKey}}},
		"empty file": {400, 112, []field{{"file", "a.ipa", ""}, {name: "api_key", value: s.boot.Owner.APIKey}}},
		"no package": {400, 105, []field{{"file", "a.ipa", "PK\x03\x04 not really"}, {name: "api_key", value: s.boot.Owner.APIKey}}},
		"bad mode": {400, 135, []field{{"file", "a.ipa", string(s.ipa)}, {name: "landing_page_mode", value: "ajar"},
			{name: "api_key", value: s.boot.Owner.APIKey}}},
		"other systems": {400, 121, []field{{"file", "a.exe", "MZ"}, {name: "platform", value: "windows"},
			{name: "api_key", value: s.boot.Owner.APIKey}}},
	} {
		status, text := s.submit("/api/upload", "", c.fields...)
		require.Equal(t, c.status, status, "%s: %s", name, text)
		var answer struct {
			Status, Message string
			Code            int
		}
		require.NoError(t, json.Unmarshal(text, &answer), name)
		require.Equal(t, "fail", answer.Status, name)
		require.Equal(t, c.code, answer.Code, "%s: %s", name, answer.Message)
	}
	status, text := s.submit("/api/v3/builds/upload", s.boot.Owner.APIKey, field{name: "file", value: "https://example.com/a.apk"})
	require.Equal(t, http.StatusBadRequest, status, "%s", text)
}
