package distribution

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/buildcommit"
)

// maxCommitBody bounds the body that has the commits of a build: all of their texts, escaped, with
// the names of their members.
const maxCommitBody = 2 << 20

// commitsBody are the commits of a build as a request has them.
type commitsBody struct {
	Commits []commitBody `json:"commits"`
	Omitted int          `json:"omitted"`
}

type commitBody struct {
	ID           string     `json:"id"`
	Author       authorBody `json:"author"`
	CommittedAt  *time.Time `json:"committed_at"`
	Message      string     `json:"message"`
	Paths        []string   `json:"paths"`
	PathsOmitted int        `json:"paths_omitted"`
}

type authorBody struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// commits are those of the body; *storage.InvalidError names a member that is missing.
func (in *commitsBody) commits() (*buildcommit.Commits, error) {
	if in.Commits == nil {
		return nil, storage.Invalid("commits", "must be an array")
	}
	list := &buildcommit.Commits{Omitted: in.Omitted}
	for i, c := range in.Commits {
		if c.CommittedAt == nil {
			return nil, storage.Invalid(fmt.Sprintf("commits[%d].committed_at", i), "must be a time")
		}
		list.Commits = append(list.Commits, buildcommit.Commit{ID: c.ID, AuthorName: c.Author.Name, AuthorEmail: c.Author.Email,
			At:      c.CommittedAt.UTC(),
			Message: c.Message, Paths: c.Paths, PathsOmitted: c.PathsOmitted})
	}
	return list, nil
}

// commitsView are the commits of a build.
type commitsView struct {
	BuildID int64        `json:"build_id"`
	Commits []commitView `json:"commits"` // newest first
	Omitted int          `json:"omitted"` // older ones that were not sent
	SetAt   *time.Time   `json:"set_at"`  // null: never
}

// commitView is a commit. Its author's mail address is only written.
type commitView struct {
	ID           string     `json:"id"`
	Author       authorView `json:"author"`
	CommittedAt  time.Time  `json:"committed_at"`
	Message      string     `json:"message"`
	Paths        []string   `json:"paths"`
	PathsOmitted int        `json:"paths_omitted"`
}

type authorView struct {
	Name string `json:"name"`
}

func commitsViewOf(c *buildcommit.Commits) commitsView {
	v := commitsView{BuildID: c.BuildID, Commits: []commitView{}, Omitted: c.Omitted}
	if !c.SetAt.IsZero() {
		at := c.SetAt.UTC()
		v.SetAt = &at
	}
	for _, one := range c.Commits {
		v.Commits = append(v.Commits, commitView{one.ID, authorView{one.AuthorName}, one.At.UTC(), one.Message, one.Paths, one.PathsOmitted})
	}
	return v
}

// commits serves GET /api/v3/builds/{id}/commits.
func (h builds) commits(c *gin.Context) error {
	b, err := h.build(c)
	if err != nil {
		return err
	}
	list, err := buildcommit.Of(c.Request.Context(), h.db, b.OrganizationID, []int64{b.ID})
	if err != nil {
		return err
	}
	of := &buildcommit.Commits{BuildID: b.ID}
	if len(list) > 0 {
		of = &list[0]
	}
	return respond.JSON(c, http.StatusOK, gin.H{"build_commits": commitsViewOf(of)})
}

// setCommits serves PUT /api/v3/builds/{id}/commits: the list replaces the former one.
func (h builds) setCommits(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var in commitsBody
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxCommitBody)
	if err := body.Read(c, &in); err != nil {
		return err
	}
	list, err := in.commits()
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return buildcommit.Set(ctx, tx, w, id, list)
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"build_commits": commitsViewOf(list)})
}
