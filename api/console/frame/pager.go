package frame

import (
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"
)

// Pager is the part "pager" of a list: which page it is, and where the others are.
type Pager struct {
	Page, Pages, Total int
	Previous, Next     string // addresses; "" where there is no such page
}

// Pages returns the pager of a list with numbered pages.
func (f *Frame) Pages(c *gin.Context, page, perPage, total int) *Pager {
	p := &Pager{Page: max(1, page), Total: total, Pages: max(1, (total+max(1, perPage)-1)/max(1, perPage))}
	if p.Page > 1 {
		p.Previous = f.address(c, "page", strconv.Itoa(p.Page-1))
	}
	if p.Page < p.Pages {
		p.Next = f.address(c, "page", strconv.Itoa(p.Page+1))
	}
	return p
}

// Cursor returns the pager of a list that goes on behind a cursor; nil where it has one
// page.
func (f *Frame) Cursor(c *gin.Context, parameter, next string) *Pager {
	p := &Pager{}
	if c.Query(parameter) != "" {
		p.Previous = f.address(c, parameter, "")
	}
	if next != "" {
		p.Next = f.address(c, parameter, next)
	}
	if p.Previous == "" && p.Next == "" {
		return nil
	}
	return p
}

// address is that of the page with one parameter changed; "" takes it away.
func (f *Frame) address(c *gin.Context, name, value string) string {
	q := url.Values{}
	for key, values := range c.Request.URL.Query() {
		q[key] = values
	}
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	if len(q) == 0 {
		return f.base + c.Request.URL.Path
	}
	return f.base + c.Request.URL.Path + "?" + q.Encode()
}

// Query returns those parameters of the page that have a value, for the route behind it.
func Query(c *gin.Context, names ...string) url.Values {
	q := url.Values{}
	for _, name := range names {
		for _, value := range c.QueryArray(name) {
			if value != "" {
				q.Add(name, value)
			}
		}
	}
	return q
}
