package client

import (
	"context"
	"net/http"
	"time"
)

// What the server takes of the commits of a build: their number, the files of one, the characters
// of the texts, and the bytes of all texts together.
const (
	MaxCommits       = 200
	MaxCommitPaths   = 200
	MaxCommitPath    = 400
	MaxCommitAuthor  = 200
	MaxCommitMessage = 300
	MaxCommitBytes   = 512 << 10
)

// Commits are those that a build has and the one before it had not, newest first.
type Commits struct {
	Commits []Commit `json:"commits"`
	Omitted int      `json:"omitted"` // older ones that are not in the list
}

// Commit is a commit.
type Commit struct {
	ID           string    `json:"id"`
	Author       Author    `json:"author"`
	CommittedAt  time.Time `json:"committed_at"`
	Message      string    `json:"message"` // its first line
	Paths        []string  `json:"paths"`
	PathsOmitted int       `json:"paths_omitted"`
}

// Author is who wrote a commit.
type Author struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// SetCommits replaces the commits of a build.
func (c *Client) SetCommits(ctx context.Context, build string, commits Commits) error {
	var out struct{}
	return c.JSON(ctx, Request{Method: http.MethodPut, Path: Path("api", "v3", "builds", build, "commits"), Repeatable: true}, commits, &out)
}
