package distribution

import (
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
)

// maxText bounds what a parameter of a list or a path may hold, in bytes: names
// and versions are not longer.
const maxText = 255

func plain(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// text reads a query parameter that filters by text.
func text(c *gin.Context, name string) (string, error) {
	value := strings.TrimSpace(c.Query(name))
	if !plain(value, maxText) {
		return "", &storage.InvalidError{Field: name, Msg: "must be UTF-8 text of at most 255 bytes"}
	}
	return value, nil
}

// number reads a query parameter that is an id; 0 when absent.
func number(c *gin.Context, name string) (int64, error) {
	value := strings.TrimSpace(c.Query(name))
	if value == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(value, 10, 63)
	if err != nil || id == 0 {
		return 0, &storage.InvalidError{Field: name, Msg: "must be a numeric id"}
	}
	return int64(id), nil
}

// everyTester stands for all testers of the organization in a list of groups.
const everyTester = "all"

// groupsOf reads a list of groups: nil leaves the grants, an empty one and the
// word none remove them, the word all opens to every tester.
func groupsOf(list body.List) grant.Groups {
	if list == nil {
		return grant.Groups{}
	}
	g := grant.Groups{Given: true}
	if len(list) == 1 && strings.EqualFold(list[0], "none") {
		return g
	}
	for _, name := range list {
		if strings.EqualFold(name, everyTester) {
			g.All = true
			continue
		}
		g.Names = append(g.Names, name)
	}
	return g
}

// checkMode refuses a mode other than open and closed; nil, of a member that is not
// sent, is no mode.
func checkMode(mode *string) error {
	if mode == nil || *mode == landing.Open || *mode == landing.Closed {
		return nil
	}
	return &respond.Problem{Status: http.StatusBadRequest, Legacy: codeMode,
		Text: "landing_page_mode: must be open or closed"}
}
