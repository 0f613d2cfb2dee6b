// Package crash serves crashes and their groups over version 3 of the
// distribution interface (decisions, parts 3 and 5): lists of groups and of a
// group's crashes, one group, one crash with its threads, the stored report, the
// attachments; changing and merging groups; the removal of a person's reports.
//
// Everything is limited to the caller's organization: what belongs to another one
// is not found. The id of a group that was merged away answers the group that has
// its reports now.
//
// A report that was accepted and not processed yet is there as pending. Threads
// are read from the stored report when a crash is asked for, and bounded: a
// report may hold a million frames, which nobody reads in an answer. The report
// itself is served whole.
//
// Bytes that came from outside (reports, attachments) are always delivered as
// attachments, never sniffed and under a policy that lets nothing run, so that a
// browser that is led there shows no page of a stranger.
//
// Failures are answered by respond.V3: 400 for a parameter or member that breaks
// a rule, 404, 409 for groups that cannot be merged.
package crash

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/object"
)

// Handlers are the handlers of the crash reading routes. The router puts
// auth.Require before each of them.
type Handlers struct {
	store   *crash.Store
	objects object.Store
}

// New makes the handlers.
func New(store *crash.Store, objects object.Store) *Handlers {
	return &Handlers{store: store, objects: objects}
}

// organization is the caller's. Operators have none, and the table of package
// auth keeps them out.
func organization(c *gin.Context) int64 {
	if caller := auth.CallerOf(c.Request.Context()); caller != nil {
		return caller.OrganizationID
	}
	return 0
}

func pathUUID(c *gin.Context, name string) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Param(name))
	if err != nil {
		return uuid.Nil, storage.ErrNotFound
	}
	return id, nil
}

const (
	attributePrefix = "attribute."
	// maxAttributes bounds the conditions of one list.
	maxAttributes = 10
	// maxSearch bounds a search text in bytes: titles are not longer.
	maxSearch = 500
)

// attributes reads the filters attribute.KEY=VALUE; all of them must hold. The
// key may contain dots.
func attributes(q url.Values) ([]crash.AttributeFilter, error) {
	var filters []crash.AttributeFilter
	for name, values := range q {
		key, ok := strings.CutPrefix(name, attributePrefix)
		if !ok {
			continue
		}
		for _, value := range values {
			f := crash.AttributeFilter{Key: key, Value: value}
			if err := f.Validate(); err != nil {
				return nil, err
			}
			if filters = append(filters, f); len(filters) > maxAttributes {
				return nil, &storage.InvalidError{Field: "attribute", Msg: "at most 10 attributes"}
			}
		}
	}
	return filters, nil
}

// project reads the optional parameter project, a numeric id.
func project(q url.Values) (int64, error) {
	text := strings.TrimSpace(q.Get("project"))
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, &storage.InvalidError{Field: "project", Msg: "must be the number of a crash project"}
	}
	return id, nil
}

// conflict says in words why groups cannot be merged.
func conflict(err error) error {
	if errors.Is(err, storage.ErrConflict) {
		return &respond.Problem{Status: http.StatusConflict, Text: "groups of different projects cannot be merged", Err: err}
	}
	return err
}
