package builds

import (
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// limits are what closes an install page.
type limits struct {
	PageExpiresAt   *time.Time `json:"landing_page_expires_at"`
	PageMaxInstalls *int       `json:"landing_page_max_installs"`
	PageInstalls    int        `json:"landing_page_installs"`
	PageHasPassword bool       `json:"landing_page_has_password"`
}

// minute is how browsers write the field of a time.
const minute = "2006-01-02T15:04"

// PageExpiry is when the page closes, for the field of a form.
func (l *limits) PageExpiry() string {
	if l.PageExpiresAt == nil {
		return ""
	}
	return l.PageExpiresAt.UTC().Format(minute)
}

// limitsChange reads the form of what closes a page. An empty password leaves the one that
// there is.
func limitsChange(c *gin.Context) map[string]any {
	body := map[string]any{"landing_page_expires_at": nil, "landing_page_max_installs": nil}
	if expires := strings.TrimSpace(c.PostForm("expires")); expires != "" {
		if at, err := time.Parse(minute, expires); err == nil {
			expires = at.Format(time.RFC3339)
		}
		body["landing_page_expires_at"] = expires
	}
	if installs := strings.TrimSpace(c.PostForm("installs")); installs != "" {
		body["landing_page_max_installs"] = installs
	}
	if password := c.PostForm("password"); password != "" {
		body["landing_page_password"] = password
	} else if c.PostForm("open") != "" {
		body["landing_page_password"] = nil
	}
	return body
}
