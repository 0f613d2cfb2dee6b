package crash

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/crash/content"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// changeView is an entry of a group's history.
type changeView struct {
	ID      int64           `json:"id"`
	GroupID int64           `json:"group_id"` // may be a part of the group that shows it
	State   string          `json:"state"`    // "": it stayed as it was
	Actor   *authorView     `json:"actor"`    // null: a report did it
	Detail  json.RawMessage `json:"detail"`
	TaskID  *uuid.UUID      `json:"task_id"` // of a change of many groups
	At      time.Time       `json:"at"`
}

// History serves GET /api/v3/crash-groups/{id}/history, newest first. Parameters: page,
// per_page.
func (h *Handlers) History(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	root, err := crash.ResolveGroup(ctx, h.store.DB(), organization, id)
	if err != nil {
		return err
	}
	list, total, err := reading.History(ctx, h.store.DB(), organization, root, at.Rows())
	if err != nil {
		return err
	}
	views := make([]changeView, 0, len(list))
	for i := range list {
		one := &list[i]
		v := changeView{ID: one.ID, GroupID: one.GroupID, State: string(one.State), Detail: one.Detail, TaskID: one.TaskID, At: one.At.UTC()}
		if one.Actor != "" {
			v.Actor = &authorView{one.ActorID, one.Actor}
		}
		views = append(views, v)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"changes": views, "pagination": at.Of(total)})
}

type groupFacet struct {
	Name   string            `json:"name"`
	Values []groupFacetValue `json:"values"`
}

type groupFacetValue struct {
	Value  string `json:"value"` // as the filter of the list takes it
	Label  string `json:"label"`
	Groups int    `json:"groups"`
}

// countedGroups are the groups by which facets are counted.
type countedGroups struct {
	Groups   int  `json:"groups"`
	Complete bool `json:"complete"`
}

// Facets serves GET /api/v3/crash-groups/facets, with the filters of the list: the most
// frequent states, versions, classifiers and assignees among the groups that match.
func (h *Handlers) Facets(c *gin.Context) error {
	f, err := selectedGroups(c.Request.URL.Query(), auth.Actor(c).UserID)
	if err != nil {
		return err
	}
	f.OrganizationID = auth.Organization(c)
	found, err := reading.FacetsOfGroups(c.Request.Context(), h.store.DB(), f)
	if err != nil {
		return err
	}
	answer := gin.H{}
	addFacets(answer, found)
	return respond.JSON(c, http.StatusOK, answer)
}

// addFacets adds the members facets and counted to an answer.
func addFacets(answer gin.H, found *reading.GroupFacets) {
	facets := []groupFacet{{Name: "state"}, {Name: "version"}, {Name: "classifier"}, {Name: "assignee"}}
	for i := range facets {
		facets[i].Values = []groupFacetValue{}
		for _, v := range found.Values {
			if v.Facet == facets[i].Name {
				facets[i].Values = append(facets[i].Values, groupFacetValue{v.Value, v.Label, v.Groups})
			}
		}
	}
	answer["facets"], answer["counted"] = facets, countedGroups{found.Counted, found.Complete}
}

// explained is what is read of the explanation of a key.
type explained struct {
	Source   string   `json:"source"`
	Material []string `json:"material"`
	Frames   []struct {
		Index    int      `json:"index"`
		Function string   `json:"function"`
		Text     string   `json:"text"`
		Kept     bool     `json:"kept"`
		Rules    []string `json:"rules"`
	} `json:"frames"`
}

// groupingView says why the reports of a group are one: what the key of the newest one was
// made from.
type groupingView struct {
	CrashID  uuid.UUID    `json:"crash_id"`
	Source   string       `json:"source"`
	Material []string     `json:"material"` // the lines of the key
	Frames   []stackFrame `json:"frames"`   // that count for it
}

// maxGrouping bounds the lines and frames of a group's answer.
const maxGrouping = 50

// groupingOf reads an explanation; nil when there is none.
func groupingOf(id uuid.UUID, explanation []byte) *groupingView {
	var e explained
	if len(explanation) == 0 || json.Unmarshal(explanation, &e) != nil {
		return nil
	}
	v := &groupingView{CrashID: id, Source: e.Source, Material: e.Material[:min(len(e.Material), maxGrouping)], Frames: []stackFrame{}}
	if v.Material == nil {
		v.Material = []string{}
	}
	for _, f := range e.Frames {
		if f.Kept && len(v.Frames) < maxGrouping {
			v.Frames = append(v.Frames, stackFrame{f.Function, f.Text, true})
		}
	}
	return v
}

// markOwn says of the frames that the rules of the key looked at which are the program's
// own. The explanation has them in the order of the stack, and leaves some of a deep one out.
func markOwn(threads []content.Thread, explanation []byte) {
	var e explained
	if len(explanation) == 0 || json.Unmarshal(explanation, &e) != nil {
		return
	}
	for i := range threads {
		if !threads[i].Main {
			continue
		}
		rest := e.Frames
		for j := range threads[i].Frames {
			f := &threads[i].Frames[j]
			for at := range rest {
				if !sameFunction(rest[at].Function, f.Function) {
					continue
				}
				own := !slices.ContainsFunc(rest[at].Rules, ofLibrary)
				f.Own, rest = &own, rest[at+1:]
				break
			}
		}
	}
}

// explainedName is how much of a function's name an explanation keeps, in bytes.
const explainedName = 256

func sameFunction(explained, function string) bool {
	return explained == function || len(function) > explainedName && explained != "" && strings.HasPrefix(function, explained)
}

// ofLibrary reports whether a rule leaves a frame out because it is of the platform, of a
// package, or of what raises errors and starts threads.
func ofLibrary(rule string) bool {
	return slices.Contains([]string{"system-frame", "thread-start", "above-error", "error-frame"}, rule)
}
