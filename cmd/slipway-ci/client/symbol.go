package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxKnown is how many identifiers and digests the API takes at once.
const maxKnown = 1000

// Symbol is an uploaded symbol file, which may be an archive of several.
type Symbol struct {
	ID          int64   `json:"id"`
	Name        string  `json:"name"`
	State       string  `json:"state"` // pending, indexed or failed
	SHA256      string  `json:"sha256"`
	Size        int64   `json:"size"`
	TaskID      *string `json:"task_id"`
	FileCount   int     `json:"file_count"`
	FailedCount int     `json:"failed_count"`
	Error       *struct {
		Code   string `json:"code"`
		Reason string `json:"reason"`
	} `json:"error"`
}

// SymbolOptions say what symbol files are of.
type SymbolOptions struct {
	CrashProjectID int64  // 0: for the crashes of all projects
	CrashProject   string // its name, in place of the id
	Release        string // of scripts
	ID             string // by which crashes name a mapping
	URLPrefix      string // what stands before the paths of scripts in stack traces
	Format         string // symbols, proguard or sourcemap; "": by the content
}

// KnownSymbols returns which of the identifiers and SHA-256 digests the server has
// for a crash project, by its id or name (0, "": for all).
func (c *Client) KnownSymbols(ctx context.Context, identifiers, sha256 []string, projectID int64, project string) (map[string]bool, error) {
	known := map[string]bool{}
	for len(identifiers)+len(sha256) > 0 {
		var in struct {
			Identifiers    []string `json:"identifiers,omitempty"`
			SHA256         []string `json:"sha256,omitempty"`
			CrashProjectID int64    `json:"crash_project_id,omitempty"`
			CrashProject   string   `json:"crash_project,omitempty"`
		}
		in.CrashProjectID, in.CrashProject = projectID, project
		n := min(maxKnown, len(identifiers))
		in.Identifiers, identifiers = identifiers[:n], identifiers[n:]
		n = min(maxKnown-n, len(sha256))
		in.SHA256, sha256 = sha256[:n], sha256[n:]
		var out struct {
			Known []string `json:"known"`
		}
		if err := c.JSON(ctx, Request{Method: http.MethodPost, Path: "/api/v3/symbols/known", Repeatable: true}, in, &out); err != nil {
			return nil, err
		}
		for _, name := range out.Known {
			known[name] = true
		}
	}
	return known, nil
}

// UploadSymbols sends a symbol file, or an archive of them. What the server has already is not
// stored again. Another file that it has under the key is an *Error of kind Conflict.
func (c *Client) UploadSymbols(ctx context.Context, f *File, o SymbolOptions, how Sending) (*Symbol, error) {
	digest, err := f.SHA256()
	if err != nil {
		return nil, err
	}
	var fields []field
	for _, x := range []field{{"crash_project", o.CrashProject}, {"release", o.Release}, {"id", o.ID}, {"url_prefix", o.URLPrefix},
		{"format", o.Format}} {
		if x.value != "" {
			fields = append(fields, x)
		}
	}
	if o.CrashProjectID != 0 {
		fields = append(fields, field{"crash_project_id", strconv.FormatInt(o.CrashProjectID, 10)})
	}
	key := how.Key
	if key == "" {
		key = NewKey()
	}
	var out struct {
		Symbol Symbol `json:"symbol"`
	}
	err = c.withParts(ctx, []namedFile{{"file", "upload_id", f}}, how, func(more []field, files []formFile) error {
		_, err := c.sendForm(ctx, "/api/v3/symbols", append(fields, more...), files, key, how.Count, &out)
		return err
	})
	if err != nil {
		return &out.Symbol, err
	}
	return &out.Symbol, another(f, digest, out.Symbol.SHA256)
}

// Symbol returns a symbol file.
func (c *Client) Symbol(ctx context.Context, id int64) (*Symbol, error) {
	var out struct {
		Symbol Symbol `json:"symbol"`
	}
	err := c.Get(ctx, Path("api", "v3", "symbols", strconv.FormatInt(id, 10)), nil, &out)
	return &out.Symbol, err
}

// MissingSymbol is a file that crashes lack.
type MissingSymbol struct {
	Kind      string             `json:"kind"` // native, proguard or sourcemap
	Name      string             `json:"name"`
	Version   string             `json:"version"`
	Arch      string             `json:"arch"`
	LookedFor []SymbolIdentifier `json:"looked_for"`
	Crashes   int                `json:"crashes"`
	LastSeen  time.Time          `json:"last_seen"`
}

// SymbolIdentifier is a name by which a crash finds a file.
type SymbolIdentifier struct {
	Type    string `json:"type"`
	Value   string `json:"value"`
	Release string `json:"release,omitempty"`
}

// maxMissing bounds what MissingSymbols reads.
const maxMissing = 1000

// MissingSymbols returns the files that crashes of a crash project (0, "": of all) lack which were
// seen since a time, those seen last first. more: there are others than those that were read.
func (c *Client) MissingSymbols(ctx context.Context, projectID int64, project string, since time.Time) (list []MissingSymbol,
	more bool, err error) {
	query := url.Values{"per_page": {pageSize}}
	if projectID != 0 {
		query.Set("crash_project_id", strconv.FormatInt(projectID, 10))
	} else if project != "" {
		query.Set("crash_project", project)
	}
	for page := 1; ; page++ {
		query.Set("page", strconv.Itoa(page))
		var out struct {
			Missing    []MissingSymbol `json:"missing"`
			Pagination struct {
				TotalPages int `json:"total_pages"`
			} `json:"pagination"`
		}
		if err := c.Get(ctx, "/api/v3/symbols/missing", query, &out); err != nil {
			return nil, false, err
		}
		for _, m := range out.Missing {
			if m.LastSeen.Before(since) {
				return list, false, nil
			}
			list = append(list, m)
		}
		last := page >= out.Pagination.TotalPages || len(out.Missing) == 0
		if last || len(list) >= maxMissing {
			return list, !last, nil
		}
	}
}
