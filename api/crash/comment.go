package crash

import (
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

type commentView struct {
	ID        int64      `json:"id"`
	GroupID   int64      `json:"group_id"` // may be a part of the group that shows it
	Author    authorView `json:"author"`
	Text      string     `json:"text"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"` // null: never
}

// authorView names a user as at the time of the comment; the id is null when the user
// is gone.
type authorView struct {
	ID   *int64 `json:"id"`
	Name string `json:"name"`
}

func commentOf(c *crash.Comment) commentView {
	return commentView{ID: c.ID, GroupID: c.GroupID, Author: authorView{c.AuthorID, c.Author}, Text: c.Text,
		CreatedAt: c.CreatedAt.UTC(), UpdatedAt: utc(c.UpdatedAt)}
}

// commentRequest is a comment to create or change.
type commentRequest struct {
	Text string `json:"text"`
}

// Comments serves GET /api/v3/crash-groups/{id}/comments, oldest first. Parameters:
// page, per_page.
func (h *Handlers) Comments(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	root, err := crash.ResolveGroup(ctx, h.store.DB(), auth.Organization(c), id)
	if err != nil {
		return err
	}
	list, total, err := crash.Comments(ctx, h.store.DB(), root, at.Rows())
	if err != nil {
		return err
	}
	views := make([]commentView, 0, len(list))
	for i := range list {
		views = append(views, commentOf(&list[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"comments": views, "pagination": at.Envelope(total)})
}

// CreateComment serves POST /api/v3/crash-groups/{id}/comments.
func (h *Handlers) CreateComment(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var in commentRequest
	if err := body.Read(c, &in); err != nil {
		return err
	}
	var comment *crash.Comment
	ctx, w := c.Request.Context(), auth.Writer(c)
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		comment, err = crash.CreateComment(ctx, tx, w, id, in.Text)
		return err
	})
	if err != nil {
		return conflict(err, "the group has its most comments: delete some")
	}
	return respond.JSON(c, http.StatusCreated, gin.H{"comment": commentOf(comment)})
}

// UpdateComment serves PATCH /api/v3/crash-groups/{id}/comments/{comment}: for its
// author and admins.
func (h *Handlers) UpdateComment(c *gin.Context) error {
	group, id, err := commentPath(c)
	if err != nil {
		return err
	}
	var in commentRequest
	if err := body.Read(c, &in); err != nil {
		return err
	}
	var comment *crash.Comment
	ctx, w := c.Request.Context(), auth.Writer(c)
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		comment, err = crash.UpdateComment(ctx, tx, w, group, id, in.Text)
		return err
	})
	if err != nil {
		return notAuthor(err)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"comment": commentOf(comment)})
}

// DeleteComment serves DELETE /api/v3/crash-groups/{id}/comments/{comment}: for its
// author and admins.
func (h *Handlers) DeleteComment(c *gin.Context) error {
	group, id, err := commentPath(c)
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) error { return crash.DeleteComment(ctx, tx, w, group, id) })
	if err != nil {
		return notAuthor(err)
	}
	return respond.Empty(c, http.StatusNoContent)
}

func commentPath(c *gin.Context) (group, comment int64, err error) {
	if group, err = pagination.ID(c.Param("id")); err != nil {
		return 0, 0, err
	}
	comment, err = pagination.ID(c.Param("comment"))
	return group, comment, err
}

// notAuthor refuses what only the author and admins may do.
func notAuthor(err error) error {
	var not *crash.NotAuthorError
	if errors.As(err, &not) {
		return &respond.Problem{Status: http.StatusForbidden, Text: "only its author and admins may change a comment", Err: err}
	}
	return err
}
