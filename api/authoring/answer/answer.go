// Package answer writes what the authoring interface answers, which all its resources have in
// common.
//
// Every success that has a body is {"data": ...}. The members that the interface names are always
// there, with the type that it names: times are UTC with milliseconds, and lists are never null.
// What a request has too much and is taken all the same is named in the member warnings, of which
// there are at most 20. Failures are written by package respond.
package answer

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
)

// Data writes the content in the member that every success has, with the warnings of the
// request.
func Data(c *gin.Context, status int, content any) error {
	if list := warningsOf(c); len(list) > 0 {
		content = warned{content, list}
	}
	return respond.JSON(c, status, gin.H{"data": content})
}

// List is a page of a list with the number of all that match.
type List[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// ListOf returns the views of rows; items is never null.
func ListOf[R, T any](rows []R, total int, view func(*R) T) List[T] {
	l := List[T]{Items: make([]T, 0, len(rows)), Total: total}
	for i := range rows {
		l.Items = append(l.Items, view(&rows[i]))
	}
	return l
}

// Stamp writes a time as all answers have it: ISO 8601, UTC, milliseconds.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Tags returns tags as answers have them: never null.
func Tags(t []string) []string {
	if t == nil {
		return []string{}
	}
	return t
}

// StampOnce is a time that may not have come yet, "" then.
func StampOnce(t *time.Time) string {
	if t == nil {
		return ""
	}
	return Stamp(*t)
}

const (
	// BasePath begins the paths of the interface and the links that answers hold.
	BasePath = "/v1/ai-authoring"
	// AliasPath begins the same paths once more.
	AliasPath = "/ai-authoring/v1"
)
