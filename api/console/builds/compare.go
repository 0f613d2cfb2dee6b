package builds

import (
	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// comparison is what differs between a build and another.
type comparison struct {
	WithID             *int64   `json:"with_id"` // nil: there is none before it
	SizeDifference     int64    `json:"size_difference"`
	Changes            []change `json:"changes"`
	PermissionsKnown   bool     `json:"permissions_known"`
	PermissionsAdded   []string `json:"permissions_added"`
	PermissionsRemoved []string `json:"permissions_removed"`
}

// change is a member that differs.
type change struct {
	Member string `json:"member"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// Title is what the member is called on the page.
func (c change) Title() string {
	switch c.Member {
	case "version":
		return "Version"
	case "version_code":
		return "Version code"
	case "min_os_version":
		return "Minimum system"
	case "target_os":
		return "Made for system"
	case "signer":
		return "Signer"
	case "kind":
		return "Kind"
	case "channel":
		return "Channel"
	}
	return c.Member
}

// Growth is the difference in size, in words.
func (c *comparison) Growth() string { return growth(c.SizeDifference) }

// comparison compares the build of the page's path with the one that the page's address
// names, else with the one before it. The fault says why a named one is none.
func (p *Pages) comparison(c *gin.Context) (*comparison, string, error) {
	var answer struct {
		Comparison comparison `json:"comparison"`
	}
	path, q := buildPath(frame.Segment(c, "id"))+"/compare", frame.Valued(c.Request.URL.Query(), "uploaded", "unknown")
	fault, err := p.read(c, path, q, &answer)
	if err != nil || fault == "" {
		return &answer.Comparison, "", err
	}
	return &answer.Comparison, fault, p.API.Get(c, path, nil, &answer)
}
