package symbol

import (
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// failText writes a failure as debuggers show it: plain text.
func failText(c *gin.Context, err error) {
	c.Writer.Header().Del("Content-Disposition")
	c.Header("Cache-Control", "no-store")
	p := respond.Explain(err)
	if p.Status == http.StatusInternalServerError || c.Writer.Written() {
		respond.Error(c, respond.InterfaceV3, err)
		return
	}
	if p.Status == http.StatusUnauthorized {
		c.Header("WWW-Authenticate", `Basic realm="slipway", charset="UTF-8"`)
	}
	if p.RetryAfter > 0 {
		c.Header("Retry-After", strconv.Itoa(int(p.RetryAfter.Seconds())))
	}
	c.Header("Content-Type", "text/plain; charset=utf-8")
	c.String(p.Status, "%s\n", p.Text)
	c.Abort()
}

// maxSegments bounds the parts of a path; those of sources are deep.
const maxSegments = 100

// segments are the parts of the path behind the route, without empty ones.
func segments(c *gin.Context) []string {
	parts := strings.FieldsFunc(c.Param("path"), func(r rune) bool { return r == '/' })
	return parts[:min(len(parts), maxSegments)]
}

// identify finds the caller: by the key that begins the path, else by the key in place of
// a user name, as in https://KEY@host/, else by the headers as elsewhere. It returns what
// follows the key.
func (h *Handlers) identify(c *gin.Context, parts []string) (*auth.Caller, []string, error) {
	if len(parts) > 0 && isKey(parts[0]) {
		caller, err := h.auth.IdentifyKey(c, auth.ReadSymbols, parts[0])
		return caller, parts[1:], err
	}
	if user, _, ok := c.Request.BasicAuth(); ok && isKey(user) {
		caller, err := h.auth.IdentifyKey(c, auth.ReadSymbols, user)
		return caller, parts, err
	}
	caller, err := h.auth.Identify(c, auth.ReadSymbols)
	if err != nil {
		return nil, nil, err
	}
	if caller == nil {
		return nil, nil, &respond.Problem{Status: http.StatusUnauthorized,
			Text: "authentication is required: a key in the header X-API-Key, by Basic, or as the first part of the path"}
	}
	return caller, parts, nil
}

func isKey(text string) bool {
	_, err := account.ParseKey(text)
	return err == nil
}

// BuildID serves GET /buildid/ID/debuginfo, /executable and /source/PATH, to clients that
// send a key in a header.
func (h *Handlers) BuildID(c *gin.Context) error {
	caller, _, err := h.identify(c, nil)
	if err != nil {
		return err
	}
	return h.debuginfod(c, caller.OrganizationID, segments(c))
}

// Debuginfod serves the same below /debuginfod/buildid and /debuginfod/KEY/buildid.
func (h *Handlers) Debuginfod(c *gin.Context) error {
	caller, parts, err := h.identify(c, segments(c))
	if err != nil {
		return err
	}
	if len(parts) == 0 || parts[0] != "buildid" {
		return storage.ErrNotFound
	}
	return h.debuginfod(c, caller.OrganizationID, parts[1:])
}

// The artifacts of debuginfod, see https://sourceware.org/elfutils/Debuginfod.html.
const (
	artifactDebuginfo  = "debuginfo"
	artifactExecutable = "executable"
	artifactSource     = "source"
)

func (h *Handlers) debuginfod(c *gin.Context, organization int64, parts []string) error {
	if len(parts) < 2 {
		return storage.ErrNotFound
	}
	id, ok := (symbol.Identifier{Type: symbol.BuildID, Value: parts[0]}).Normalize()
	if !ok {
		return storage.ErrNotFound
	}
	if parts[1] == artifactSource {
		return h.source(c, organization, id.Value, parts[2:])
	}
	if len(parts) != 2 {
		return storage.ErrNotFound
	}
	var with []string
	switch parts[1] {
	case artifactDebuginfo:
		with = debugFeatures()
	case artifactExecutable:
		with = []string{featureText}
	default:
		return storage.ErrNotFound // sections are read out of the file that the client then asks for
	}
	found, err := h.find(c, organization, []symbol.Kind{symbol.ELF}, with, id)
	if err != nil {
		return err
	}
	c.Header("X-DEBUGINFOD-SIZE", strconv.FormatInt(found.Size, 10))
	c.Header("X-DEBUGINFOD-FILE", path.Base(found.title()))
	if found.Path != "" {
		c.Header("X-DEBUGINFOD-ARCHIVE", found.Name)
	}
	return h.serve(c, found)
}

// featureText is the feature of debug files with machine code; debugFeatures are those of what
// makes debug information.
const featureText = "text"

func debugFeatures() []string { return []string{"lines", "inlines", "functions"} }

// served is a debug file on its way to a debugger.
type served struct{ symbolfile.Served }

func (s *served) title() string {
	if s.Path != "" {
		return s.Path
	}
	return s.Name
}

// find returns the newest file of the kinds that an identifier names and that has one of
// the features, the first of these before the others; none: any file.
func (h *Handlers) find(c *gin.Context, organization int64, kinds []symbol.Kind, features []string,
	ids ...symbol.Identifier) (*served, error) {
	list, err := symbolfile.ToServe(c.Request.Context(), h.db, organization, ids)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f symbolfile.Served) bool { return !slices.Contains(kinds, f.Kind) })
	for _, feature := range features {
		for i := range list {
			if slices.Contains(list[i].Features, feature) {
				return &served{list[i]}, nil
			}
		}
	}
	if len(features) > 0 || len(list) == 0 {
		return nil, storage.ErrNotFound
	}
	return &served{list[0]}, nil
}

// source serves a source text that was uploaded with the files of a build id. Its path in
// the archive need not be the compiler's: the one that agrees most from its end is taken.
func (h *Handlers) source(c *gin.Context, organization int64, buildID string, parts []string) error {
	if len(parts) == 0 || !slices.Equal(parts, strings.Split(strings.TrimPrefix(path.Clean("/"+strings.Join(parts, "/")), "/"), "/")) {
		return storage.ErrNotFound
	}
	list, err := symbolfile.SourcesToServe(c.Request.Context(), h.db, organization, buildID, parts[len(parts)-1])
	if err != nil {
		return err
	}
	at := closest(list, parts)
	if at < 0 {
		return storage.ErrNotFound
	}
	found := &served{list[at]}
	c.Header("X-DEBUGINFOD-SIZE", strconv.FormatInt(found.Size, 10))
	c.Header("X-DEBUGINFOD-FILE", "/"+strings.Join(parts, "/"))
	return h.serve(c, found)
}

// leastAgreement is how many parts of two paths must agree at least, from the end, when
// neither is the end of the other.
const leastAgreement = 2

// closest returns the index of the source whose path agrees most with a wanted one; -1 for
// none, and when two agree as much with different content.
func closest(list []symbolfile.Served, wanted []string) int {
	best, length, unique := -1, 0, true
	for i := range list {
		have := strings.FieldsFunc(list[i].Path, func(r rune) bool { return r == '/' || r == '\\' })
		n := 0
		for n < len(have) && n < len(wanted) && have[len(have)-1-n] == wanted[len(wanted)-1-n] {
			n++
		}
		if n == 0 || n < leastAgreement && n < len(have) && n < len(wanted) {
			continue
		}
		switch {
		case n > length:
			best, length, unique = i, n, true
		case n == length && list[i].SHA256 != list[best].SHA256:
			unique = false
		}
	}
	if !unique {
		return -1
	}
	return best
}
