package symbol

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

func listQuery() []string {
	return []string{"state[]", "kind[]", "identifier", "crash_project_id", "build_id", "search", "page", "per_page"}
}

func missingQuery() []string {
	return []string{"crash_project_id", "crash_project", "crash_group_id", "kind[]", "search", "sort", "page", "per_page", "wait"}
}

// maxSearch bounds a search text, and maxIdentifier an identifier, in bytes.
const (
	maxSearch     = 500
	maxIdentifier = 2048
)

func filterOf(q url.Values, organization int64) (f symbolfile.Filter, err error) {
	f.OrganizationID = organization
	states, err := oneOf(q, "state", string(symbolfile.Pending), string(symbolfile.Indexed), string(symbolfile.Failed))
	if err != nil {
		return f, err
	}
	kinds, err := oneOf(q, "kind", string(symbol.ProGuard), string(symbol.SourceMap), string(symbol.Source), string(symbol.Breakpad),
		string(symbol.ELF), string(symbol.MachO), string(symbol.PE), string(symbol.PDB), string(symbol.Wasm),
		string(symbol.PortablePDB))
	if err != nil {
		return f, err
	}
	for _, s := range states {
		f.States = append(f.States, symbolfile.State(s))
	}
	for _, k := range kinds {
		f.Kinds = append(f.Kinds, symbol.Kind(k))
	}
	if f.Identifier, err = plain(q, "identifier", maxIdentifier); err != nil {
		return f, err
	}
	if f.Search, err = plain(q, "search", maxSearch); err != nil {
		return f, err
	}
	if f.ProjectID, err = number(q, "crash_project_id"); err != nil {
		return f, err
	}
	f.BuildID, err = number(q, "build_id")
	return f, err
}

// oneOf reads an array of texts that are among the known ones.
func oneOf(q url.Values, name string, known ...string) ([]string, error) {
	list, err := pagination.List(q, name)
	if err != nil {
		return nil, err
	}
	for _, text := range list {
		if !slices.Contains(known, text) {
			return nil, storage.Invalid(name, "must be among %s", strings.Join(known, ", "))
		}
	}
	return list, nil
}

func plain(q url.Values, name string, most int) (string, error) {
	text := strings.TrimSpace(q.Get(name))
	if len(text) > most {
		return "", storage.Invalid(name, "must have at most %d bytes", most)
	}
	return storage.Line(name, text, most)
}

// number reads an optional id, 0 when it is absent.
func number(q url.Values, name string) (int64, error) {
	text := strings.TrimSpace(q.Get(name))
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, storage.Invalid(name, "must be a number of at least 1")
	}
	return id, nil
}

// The orders of the list of missing files.
const (
	sortLastSeen = "last_seen"
	sortCrashes  = "crashes"
)

// Missing serves GET /api/v3/symbols/missing: the files that crashes lack, what was looked
// for, and the groups of these crashes; with ?wait= when the crashes that were posted before
// have been read.
func (h *Handlers) Missing(c *gin.Context) error {
	q := c.Request.URL.Query()
	at, err := pagination.Parse(q, pagination.Small())
	if err != nil {
		return err
	}
	filter, err := needsOf(q, auth.Organization(c))
	if err != nil {
		return err
	}
	if filter.ProjectID == 0 {
		named := knownRequest{CrashProject: strings.TrimSpace(q.Get("crash_project"))}
		if filter.ProjectID, err = h.crashProject(c.Request.Context(), filter.OrganizationID, &named); err != nil {
			return err
		}
	}
	if err := h.settle(c); err != nil {
		return err
	}
	list, total, err := symbolfile.Missing(c.Request.Context(), h.db, filter, at.Rows())
	if err != nil {
		return err
	}
	views := make([]needView, len(list))
	for i := range list {
		views[i] = needViewOf(&list[i])
	}
	return respond.JSON(c, http.StatusOK, gin.H{"missing": views, "pagination": at.Of(total)})
}

func needsOf(q url.Values, organization int64) (f symbolfile.NeedFilter, err error) {
	f.OrganizationID = organization
	if f.Kinds, err = oneOf(q, "kind", "native", "proguard", "sourcemap"); err != nil {
		return f, err
	}
	if f.ProjectID, err = number(q, "crash_project_id"); err != nil {
		return f, err
	}
	if f.GroupID, err = number(q, "crash_group_id"); err != nil {
		return f, err
	}
	if f.Search, err = plain(q, "search", maxSearch); err != nil {
		return f, err
	}
	switch sort := q.Get("sort"); sort {
	case "", sortLastSeen:
	case sortCrashes:
		f.ByCrashes = true
	default:
		return f, storage.Invalid("sort", "must be %s or %s", sortLastSeen, sortCrashes)
	}
	return f, nil
}
