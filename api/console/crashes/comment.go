package crashes

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
)

// comment is what somebody wrote about a group.
type comment struct {
	ID     int64 `json:"id"`
	Author struct {
		ID   *int64 `json:"id"`
		Name string `json:"name"`
	} `json:"author"`
	Text      string     `json:"text"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
	// Own comments have the forms to change them.
	Own bool `json:"-"`
}

// commentList is a page of comments, the oldest first.
type commentList struct {
	Comments       []comment `json:"comments"`
	Pagination     envelope  `json:"pagination"`
	Earlier, Later string    `json:"-"`
}

// comments asks for the page of comments that the address names, else for the last one.
func (p *Pages) comments(c *gin.Context, g *groupDetail) (list commentList, err error) {
	const perPage = 100
	last := max(1, (g.Comments+perPage-1)/perPage)
	at, err := strconv.Atoi(c.Query("comments"))
	if err != nil || at < 1 || at > last {
		at = last
	}
	q := url.Values{"page": {strconv.Itoa(at)}, "per_page": {wholePage}}
	if err := p.API.Get(c, "/api/v3/crash-groups/"+frame.Segment(c, "id")+"/comments", q, &list); err != nil {
		return list, err
	}
	if at > 1 {
		list.Earlier = address(c, "comments", strconv.Itoa(at-1)) + "#comments"
	}
	if at < last {
		list.Later = address(c, "comments", strconv.Itoa(at+1)) + "#comments"
	}
	caller := auth.CallerOf(c.Request.Context())
	for i := range list.Comments {
		one := &list.Comments[i]
		one.Own = caller.Admin() || one.Author.ID != nil && *one.Author.ID == caller.UserID
	}
	return list, nil
}

func commentPath(c *gin.Context) string {
	return "/api/v3/crash-groups/" + frame.Segment(c, "id") + "/comments/" + frame.Segment(c, "comment")
}

// comment serves POST /console/crashes/groups/{id}/comments.
func (p *Pages) comment(c *gin.Context) error {
	err := p.API.Send(c, http.MethodPost, "/api/v3/crash-groups/"+frame.Segment(c, "id")+"/comments",
		map[string]any{"text": c.PostForm("text")}, nil)
	return p.End(c, p.back(c), "The comment was added.", err)
}

// changeComment serves POST /console/crashes/groups/{id}/comments/{comment}.
func (p *Pages) changeComment(c *gin.Context) error {
	err := p.API.Send(c, http.MethodPatch, commentPath(c), map[string]any{"text": c.PostForm("text")}, nil)
	return p.End(c, p.back(c), "The comment was changed.", err)
}

// deleteComment serves POST /console/crashes/groups/{id}/comments/{comment}/delete.
func (p *Pages) deleteComment(c *gin.Context) error {
	return p.End(c, p.back(c), "The comment was deleted.", p.API.Send(c, http.MethodDelete, commentPath(c), nil, nil))
}
