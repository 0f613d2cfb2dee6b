package crashes

import (
	"time"

	"github.com/gin-gonic/gin"
)

// feedback is what users wrote about a crash, or those of a group.
type feedback struct {
	List []struct {
		CrashID   string    `json:"crash_id"`
		Name      string    `json:"name"`
		Email     string    `json:"email"`
		Text      string    `json:"text"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"feedback"`
	Pagination envelope `json:"pagination"` // of a group
}

// More is how many there are that the page does not show.
func (f *feedback) More() int { return max(0, f.Pagination.Total-len(f.List)) }

// feedback asks for what users wrote about what is at a path of the api: the newest.
func (p *Pages) feedback(c *gin.Context, path string) (*feedback, error) {
	var list feedback
	return &list, p.API.Get(c, path+"/feedback", nil, &list)
}
