package crashes

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage"
)

// stackList are the whole stacks of a group, by which it can be split, and the rules by
// which it was.
type stackList struct {
	Stacks  []stack `json:"stacks"`
	Total   int     `json:"total"`
	Reports int     `json:"reports"`
	Sampled bool    `json:"sampled"`
	Splits  []struct {
		Stack     *string    `json:"stack"`
		Attribute *splitPair `json:"attribute"`
		GroupID   int64      `json:"group_id"`
	} `json:"splits"`
}

type stack struct {
	Stack     *string   `json:"stack"`
	Count     int64     `json:"count"`
	Reports   int64     `json:"reports"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	CrashID   string    `json:"crash_id"`
	Frames    []struct {
		Function string `json:"function"`
		Text     string `json:"text"`
		Kept     bool   `json:"kept"`
	} `json:"frames"`
}

type splitPair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// stacks serves GET /console/crashes/groups/{id}/split. facet is the attribute whose values
// are shown, key and value what a form is to begin with.
func (p *Pages) stacks(c *gin.Context) error {
	g, done, err := p.groupOf(c, "/split", nil)
	if err != nil || done {
		return err
	}
	var list stackList
	path := "/api/v3/crash-groups/" + frame.Segment(c, "id")
	if err := p.API.Get(c, path+"/stacks", nil, &list); err != nil {
		return err
	}
	choose := func(key, value string) string { return address(c, "key", key, "value", value) + "#attribute" }
	found, err := p.facets(c, counting{path: path + "/attributes", keys: besideReports}, c.Query("facet"), choose)
	if err != nil {
		return err
	}
	return p.show(c, "split", found.Fault, frame.Page{Title: "Split " + g.ShortTitle(),
		Data: map[string]any{"Group": g, "List": list, "Attributes": found}})
}

// split serves POST /console/crashes/groups/{id}/split, and leads to the new group.
func (p *Pages) split(c *gin.Context) error {
	body := map[string]any{}
	if stacks := c.PostFormArray("stack"); len(stacks) > 0 {
		body["stacks"] = stacks
	}
	if key := c.PostForm("key"); key != "" {
		body["attribute"] = splitPair{key, c.PostForm("value")}
	}
	if len(body) == 0 {
		return p.Refused(c, p.back(c), storage.Invalid("stacks", "select some, or name an attribute"))
	}
	var view struct {
		Group group `json:"crash_group"`
	}
	if err := p.API.Send(c, http.MethodPost, "/api/v3/crash-groups/"+frame.Segment(c, "id")+"/split", body, &view); err != nil {
		return p.Refused(c, p.back(c), err)
	}
	return p.Done(c, groupPath(view.Group.ID), "Split: this is the new group. A task moves the rest of its reports here.")
}
