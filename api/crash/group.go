package crash

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// selectQuery are the parameters that select groups.
func selectQuery() []string {
	return []string{"project[]", "state[]", "assignee[]", "classifier[]", "severity[]", "version[]", "search", attributePrefix, "from", "to",
		"first_seen_from", "regressed_from"}
}

// groupQuery are the parameters of Groups.
func groupQuery() []string {
	return append(selectQuery(), "omit[]", "facets", "sort", "order", "page", "per_page")
}

// Groups serves GET /api/v3/crash-groups. Parameters: the arrays project (number),
// state, assignee (number of a user, me or none), classifier, severity and version; search (part of
// title, culprit, classifier or a message, or the beginning of the fingerprint),
// attribute.KEY=VALUE (groups with a report that carries all of them), from and to
// (groups seen in between, counted in between), first_seen_from (new since then),
// regressed_from (regressed since then), sort (last_seen, first_seen, count), order (desc,
// asc), omit (members that are left out), facets (true: with what Facets serves), page,
// per_page.
func (h *Handlers) Groups(c *gin.Context) error {
	at, f, err := groupFilter(c.Request.URL.Query(), auth.Actor(c).UserID)
	if err != nil {
		return err
	}
	withFacets, err := pagination.Only(c.Request.URL.Query(), "facets")
	if err != nil {
		return err
	}
	f.OrganizationID = auth.Organization(c)
	answer, ctx, db := gin.H{}, c.Request.Context(), h.store.DB()
	var groups []reading.Group
	var total storage.Total
	if withFacets {
		var facets *reading.GroupFacets
		if groups, total, facets, err = reading.GroupsAndFacets(ctx, db, f); err == nil {
			addFacets(answer, facets)
		}
	} else {
		groups, total, err = reading.Groups(ctx, db, f)
	}
	if err != nil {
		return err
	}
	views := make([]listedGroup, 0, len(groups))
	for i := range groups {
		views = append(views, listedOf(&groups[i], &f))
	}
	answer["crash_groups"], answer["pagination"] = views, at.Of(total)
	return respond.JSON(c, http.StatusOK, answer)
}

// groupFilter reads a page of groups; me is who asks.
func groupFilter(q url.Values, me int64) (at pagination.Request, f reading.GroupFilter, err error) {
	if at, err = pagination.Parse(q, pagination.Small()); err != nil {
		return at, f, err
	}
	sort, order := reading.GroupSort(q.Get("sort")), q.Get("order")
	if sort != "" {
		if err := sort.Validate(); err != nil {
			return at, f, err
		}
	}
	if order != "" && order != "asc" && order != "desc" {
		return at, f, &storage.InvalidError{Field: "order", Msg: "must be asc or desc"}
	}
	if f, err = selectedGroups(q, me); err != nil {
		return at, f, err
	}
	f.Without, err = omitted(q)
	f.Sort, f.Ascending, f.Limit, f.Offset = sort, order == "asc", at.Limit(), at.Offset()
	return at, f, err
}

// omitted reads which members of the groups are left out.
func omitted(q url.Values) (o reading.Omitted, err error) {
	names, err := texts[string](q, "omit")
	for _, name := range names {
		switch name {
		case "hosts":
			o.Hosts = true
		case "latest_crash":
			o.Newest = true
		default:
			return o, storage.Invalid("omit", "must be hosts or latest_crash")
		}
	}
	return o, err
}

// selectedGroups reads which groups are meant; me is who asks.
func selectedGroups(q url.Values, me int64) (f reading.GroupFilter, err error) {
	if f.Search = q.Get("search"); len(f.Search) > maxSearch || !condition.PlainText(f.Search) {
		return f, &storage.InvalidError{Field: "search", Msg: "must be UTF-8 text of at most 500 bytes"}
	}
	if f.States, err = texts[crash.GroupState](q, "state"); err != nil {
		return f, err
	}
	for _, s := range f.States {
		if err := s.Validate(); err != nil {
			return f, err
		}
	}
	if f.Severities, err = texts[crash.Severity](q, "severity"); err != nil {
		return f, err
	}
	for _, s := range f.Severities {
		if err := s.Validate(); err != nil {
			return f, err
		}
	}
	if f.Projects, err = numbers(q, "project"); err != nil {
		return f, err
	}
	if f.Classifiers, err = texts[string](q, "classifier"); err != nil {
		return f, err
	}
	if f.Versions, err = texts[string](q, "version"); err != nil {
		return f, err
	}
	if f.Attributes, err = attributes(q); err != nil {
		return f, err
	}
	if f.Assignees, err = assigneeFilter(q, me); err != nil {
		return f, err
	}
	if f.FirstSeenFrom, _, err = pagination.Range(q, "first_seen_from", ""); err != nil {
		return f, err
	}
	if f.RegressedFrom, _, err = pagination.Range(q, "regressed_from", ""); err != nil {
		return f, err
	}
	f.Window, err = window(q)
	return f, err
}

// Group serves GET /api/v3/crash-groups/{id}. Parameters: from and to, which limit its
// days and its count.
func (h *Handlers) Group(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	w, err := window(c.Request.URL.Query())
	if err != nil {
		return err
	}
	return h.showGroup(c, auth.Organization(c), id, w)
}

// showGroup reads a group and writes it as the answer.
func (h *Handlers) showGroup(c *gin.Context, organization, id int64, w reading.Window) error {
	ctx, db := c.Request.Context(), h.store.DB()
	g, err := reading.GroupByID(ctx, db, organization, id)
	if err != nil {
		return err
	}
	if !w.IsZero() {
		if err := g.Within(ctx, db, w); err != nil {
			return err
		}
	}
	view := detailOf(g, w)
	if g.Newest != nil {
		explanation, err := reading.ExplanationOf(ctx, h.store, organization, g.Newest.CrashID)
		if err != nil {
			return err
		}
		view.Grouping = groupingOf(g.Newest.CrashID, explanation)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crash_group": view})
}

// GroupCrashes serves GET /api/v3/crash-groups/{id}/crashes, newest first.
// Parameters: version (an array), attribute.KEY=VALUE, from and to (of the occurrence),
// page, per_page.
func (h *Handlers) GroupCrashes(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, f, err := crashFilter(c.Request.URL.Query())
	if err != nil {
		return err
	}
	f.OrganizationID = auth.Organization(c)
	if f.GroupID, err = crash.ResolveGroup(c.Request.Context(), h.store.DB(), f.OrganizationID, id); err != nil {
		return err
	}
	rows, total, err := reading.Crashes(c.Request.Context(), h.store.DB(), f)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crashes": rowViews(rows), "pagination": at.Of(total)})
}

func crashFilter(q url.Values) (at pagination.Request, f reading.CrashFilter, err error) {
	if at, err = pagination.Parse(q, pagination.Small()); err != nil {
		return at, f, err
	}
	f.Limit, f.Offset = at.Limit(), at.Offset()
	if f.Versions, err = texts[string](q, "version"); err != nil {
		return at, f, err
	}
	if f.Attributes, err = attributes(q); err != nil {
		return at, f, err
	}
	f.Window, err = window(q)
	return at, f, err
}
