package symbol

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// failure is why a file could not be read; nil when it could.
type failure struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

func failureOf(code, reason string) *failure {
	if code == "" && reason == "" {
		return nil
	}
	return &failure{code, reason}
}

// view is an upload as answers show it.
type view struct {
	ID             int64            `json:"id"`
	Name           string           `json:"name"`
	Source         string           `json:"source"`
	Format         string           `json:"format"`
	Release        string           `json:"release"`
	GivenID        string           `json:"given_id"`
	URLPrefix      string           `json:"url_prefix"`
	CrashProjectID *int64           `json:"crash_project_id"`
	BuildID        *int64           `json:"build_id"`
	State          symbolfile.State `json:"state"`
	Error          *failure         `json:"error"`
	SHA256         string           `json:"sha256"`
	Size           int64            `json:"size"`
	TaskID         *uuid.UUID       `json:"task_id"`
	CreatedAt      time.Time        `json:"created_at"`
	IndexedAt      *time.Time       `json:"indexed_at"`

	FileCount   int        `json:"file_count"`
	FailedCount int        `json:"failed_count"`
	Files       []fileView `json:"files"` // some of them
}

// fileView is a debug file of an upload.
type fileView struct {
	ID           int64               `json:"id"`
	Path         string              `json:"path"`
	Kind         symbol.Kind         `json:"kind"`
	Arch         string              `json:"arch"`
	State        symbolfile.State    `json:"state"`
	Error        *failure            `json:"error"`
	Identifiers  []symbol.Identifier `json:"identifiers"`
	Features     []string            `json:"features"`
	Size         int64               `json:"size"`
	SHA256       string              `json:"sha256"`
	IndexSize    int64               `json:"index_size"`
	IndexVersion int                 `json:"index_version"`
	// Dropped counts parts of the file that are wrong and were left out; Warnings say what
	// some of them were.
	Dropped  int64    `json:"dropped"`
	Warnings []string `json:"warnings"`
}

// View is an upload that was stored, as answers show it; its debug files are not known
// yet, or left out.
func View(u *symbolfile.Upload) any { return viewOf(u, nil) }

func viewOf(u *symbolfile.Upload, c *symbolfile.Contents) view {
	v := view{ID: u.ID, Name: u.Name, Source: u.Source, Format: u.Format, Release: u.Release, GivenID: u.GivenID,
		URLPrefix: u.URLPrefix, CrashProjectID: u.ProjectID, BuildID: u.BuildID, State: u.State,
		Error: failureOf(u.ErrorCode, u.Error), SHA256: u.SHA256, Size: u.Size, TaskID: u.TaskID,
		CreatedAt: u.CreatedAt, IndexedAt: u.IndexedAt, Files: []fileView{}}
	if c == nil {
		return v
	}
	v.FileCount, v.FailedCount = c.Count, c.Failed
	for i := range c.Files {
		v.Files = append(v.Files, fileViewOf(&c.Files[i]))
	}
	return v
}

func fileViewOf(f *symbolfile.File) fileView {
	features := []string(f.Features)
	if features == nil {
		features = []string{}
	}
	var facts struct {
		Dropped  int64    `json:"dropped"`
		Warnings []string `json:"warnings"`
	}
	_ = json.Unmarshal(f.Facts, &facts) // of those who index: without them there are no warnings
	if facts.Warnings == nil {
		facts.Warnings = []string{}
	}
	return fileView{ID: f.ID, Path: f.Path, Kind: f.Kind, Arch: f.Arch, State: f.State, Error: failureOf(f.ErrorCode, f.Error),
		Identifiers: f.Identifiers, Features: features, Size: f.Size, SHA256: f.SHA256, IndexSize: f.IndexSize,
		IndexVersion: f.IndexVersion, Dropped: facts.Dropped, Warnings: facts.Warnings}
}

// needView is a file that crashes lack.
type needView struct {
	ID             int64               `json:"id"`
	CrashProjectID int64               `json:"crash_project_id"`
	Kind           string              `json:"kind"`
	Name           string              `json:"name"`
	Version        string              `json:"version"`
	Arch           string              `json:"arch"`
	LookedFor      []symbol.Identifier `json:"looked_for"`
	Crashes        int                 `json:"crashes"`
	CrashesExact   bool                `json:"crashes_exact"`
	Groups         []groupView         `json:"groups"`
	GroupsExact    bool                `json:"groups_exact"`
	FirstSeen      time.Time           `json:"first_seen"`
	LastSeen       time.Time           `json:"last_seen"`
}

type groupView struct {
	ID      int64  `json:"id"`
	Title   string `json:"title"`
	Crashes int    `json:"crashes"`
}

func needViewOf(n *symbolfile.Need) needView {
	v := needView{ID: n.ID, CrashProjectID: n.ProjectID, Kind: n.Kind, Name: n.Name, Version: n.Version, Arch: n.Arch,
		LookedFor: n.Identifiers, Crashes: n.Crashes, CrashesExact: n.CrashesExact, Groups: []groupView{},
		GroupsExact: n.GroupsExact, FirstSeen: n.FirstSeen, LastSeen: n.LastSeen}
	for _, g := range n.Groups {
		v.Groups = append(v.Groups, groupView{g.ID, g.Title, g.Crashes})
	}
	return v
}
