package agent

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

func (s *server) addBuilds() {
	add(s, tool{name: "list_apps", title: "List apps",
		description: "Apps that builds are uploaded of, with their latest build."}, s.listApps)
	add(s, tool{name: "list_builds", title: "List builds",
		description: "Builds of an app, newest first."}, s.listBuilds)
	add(s, tool{name: "get_build", title: "Read a build",
		description: "A build: version, size, signature, what is odd about it, installs, crashes, sessions, release notes."}, s.getBuild)
	add(s, tool{name: "get_gate", title: "Ask the gate",
		description: "Whether a build may go out: pass, fail or unknown, with each condition, what was measured and what is missing."}, s.getGate)
}

type appsArguments struct {
	Search string `json:"search,omitempty" jsonschema:"part of the name or package"`
	paged
}

type app struct {
	ID          int64  `json:"id"`
	Name        line   `json:"name"`
	PackageName line   `json:"package_name,omitempty"`
	Platform    string `json:"platform"`
	BuildCount  int64  `json:"build_count"`
	Latest      *struct {
		ID        int64  `json:"id"`
		Version   line   `json:"version,omitempty"`
		Code      line   `json:"version_code,omitempty"`
		Status    string `json:"status,omitempty"`
		CreatedAt string `json:"created_at,omitempty"`
	} `json:"latest_build,omitempty"`
}

func (s *server) listApps(ctx context.Context, in appsArguments) (any, error) {
	at, err := in.place()
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	set(q, "search", in.Search)
	at.byPage(q, "per_page")
	var found struct {
		Projects   []app      `json:"projects"`
		Pagination pagination `json:"pagination"`
	}
	if err := s.cfg.Client.Get(ctx, client.Path("api", "v3", "projects"), q, &found); err != nil {
		return nil, err
	}
	return list[app]{Items: found.Projects, Next: at.next(found.Pagination.more())}, nil
}

type buildsArguments struct {
	App     int64  `json:"app_id" jsonschema:"id of the app, from list_apps"`
	Version string `json:"version,omitempty" jsonschema:"only this version"`
	Tag     string `json:"tag,omitempty" jsonschema:"only builds with this tag"`
	Search  string `json:"search,omitempty" jsonschema:"part of version, notes or file name"`
	paged
}

// build is a build in a list.
type build struct {
	ID          int64  `json:"id"`
	ProjectID   int64  `json:"project_id"`
	AppName     line   `json:"app_name,omitempty"`
	Version     line   `json:"version"`
	VersionCode line   `json:"version_code,omitempty"`
	Platform    string `json:"platform"`
	Status      string `json:"status"`
	Reason      line   `json:"status_reason,omitempty"`
	Tags        []line `json:"tags,omitempty"`
	FileName    line   `json:"file_name,omitempty"`
	FileSize    int64  `json:"file_size"`
	Installs    int64  `json:"installs"`
	Crashes     int64  `json:"crashes"`
	Sessions    int64  `json:"sessions"`
	CreatedAt   string `json:"created_at"`
}

// wholeBuild is a build as get_build answers it.
type wholeBuild struct {
	build
	PackageName  line     `json:"package_name,omitempty"`
	Kind         string   `json:"kind"`
	ReleaseNotes text     `json:"release_notes,omitempty"`
	Metadata     document `json:"metadata"`
	MinOS        line     `json:"min_os_version,omitempty"`
	SHA256       string   `json:"sha256"`
	Verification string   `json:"verification,omitempty"`
	HasSymbols   bool     `json:"has_symbols"`
	Warnings     []line   `json:"warnings,omitempty"`
	Cautions     []struct {
		Code string `json:"code"`
		Text line   `json:"text"`
	} `json:"cautions,omitempty"`
	UploadedBy line   `json:"uploaded_by,omitempty"`
	URL        string `json:"url"`
}

func (s *server) listBuilds(ctx context.Context, in buildsArguments) (any, error) {
	at, err := in.place()
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	set(q, "version", in.Version)
	set(q, "tag", in.Tag)
	set(q, "search", in.Search)
	at.byPage(q, "per_page")
	var found struct {
		Builds     []build    `json:"builds"`
		Pagination pagination `json:"pagination"`
	}
	if err := s.cfg.Client.Get(ctx, client.Path("api", "v3", "projects", number(in.App), "builds"), q, &found); err != nil {
		return nil, err
	}
	return list[build]{Items: found.Builds, Next: at.next(found.Pagination.more())}, nil
}

type buildArguments struct {
	ID int64 `json:"id" jsonschema:"id of the build"`
}

func (s *server) getBuild(ctx context.Context, in buildArguments) (any, error) {
	var found struct {
		Build wholeBuild `json:"build"`
	}
	if err := s.cfg.Client.Get(ctx, client.Path("api", "v3", "builds", number(in.ID)), nil, &found); err != nil {
		return nil, err
	}
	found.Build.URL = s.console("builds", "builds", number(in.ID))
	return found.Build, nil
}

type gateArguments struct {
	Build int64 `json:"build_id" jsonschema:"id of the build"`
	Wait  int   `json:"wait_seconds,omitempty" jsonschema:"wait until the gate is not unknown, 0 to 50 seconds; default 0"`
}

// gate is the answer of a build's gate.
type gate struct {
	State       string      `json:"state"` // pass, fail, unknown
	Reason      line        `json:"reason,omitempty"`
	Conditions  []condition `json:"conditions"`
	EvaluatedAt *string     `json:"evaluated_at"`
	Overridden  document    `json:"overridden"`
}

type condition struct {
	Name     line     `json:"name"`
	Type     string   `json:"type,omitempty"`
	State    string   `json:"state"`
	Wanted   document `json:"wanted"`
	Measured document `json:"measured"`
	Reason   line     `json:"reason,omitempty"`
	URL      string   `json:"url,omitempty"`
}

func (s *server) getGate(ctx context.Context, in gateArguments) (any, error) {
	q, err := waiting(in.Wait)
	if err != nil {
		return nil, err
	}
	var found struct {
		Gate json.RawMessage `json:"gate"`
	}
	if err := s.cfg.Client.Get(ctx, client.Path("api", "v3", "builds", number(in.Build), "gate"), q, &found); err != nil {
		return nil, err
	}
	var answer gate
	if err := json.Unmarshal(found.Gate, &answer); err != nil {
		return nil, &callError{failed, "the server's answer about the gate is not understood; this program may be too old for it"}
	}
	return answer, nil
}

// maxWait is how long a call may wait for a run, in seconds: a place of the agent, and a
// connection, are held meanwhile.
const maxWait = 50

// waiting is the parameter of a wait.
func waiting(seconds int) (url.Values, error) {
	if seconds < 0 || seconds > maxWait {
		return nil, wrong("wait_seconds", "must be 0 to 50; ask again for longer")
	}
	q := url.Values{}
	if seconds > 0 {
		q.Set("wait", strconv.Itoa(seconds))
	}
	return q, nil
}
