package frame

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
)

// Pager is the part "pager" of a list: which page it is, and where the others are.
type Pager struct {
	Page, Pages, Total int
	AtLeast            bool   // counting stopped at Total
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

// Paging is where a page of a list of the api stands. HasNext is there where counting
// stopped at Total.
type Paging struct {
	Page    int   `json:"page"`
	PerPage int   `json:"per_page"`
	Total   int   `json:"total"`
	HasNext *bool `json:"has_next"`
}

// Many writes how many rows there are: 3, or more than 10 000.
func (at Paging) Many() string {
	if at.HasNext != nil {
		return "more than " + Number(at.Total)
	}
	return Number(at.Total)
}

// PagesOf returns the pager of a list of the api; nil of one that was refused.
func (f *Frame) PagesOf(c *gin.Context, at Paging) *Pager {
	if at.PerPage == 0 {
		return nil
	}
	p := f.Pages(c, at.Page, at.PerPage, at.Total)
	if at.HasNext != nil {
		p.AtLeast, p.Next = true, ""
		if *at.HasNext {
			p.Next = f.address(c, "page", strconv.Itoa(p.Page+1))
		}
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

// Valued returns those parameters that have a value, but for the page's own.
func Valued(given url.Values, own ...string) url.Values {
	q := url.Values{}
	for name, values := range given {
		for _, value := range values {
			if value != "" && !slices.Contains(own, name) {
				q.Add(name, value)
			}
		}
	}
	return q
}

// Filters returns those parameters of the page's address that have a value, without the
// spaces around it, and but for the page's own.
func Filters(c *gin.Context, own ...string) url.Values {
	given := c.Request.URL.Query()
	for _, values := range given {
		for i, value := range values {
			values[i] = strings.TrimSpace(value)
		}
	}
	return Valued(given, own...)
}

// Segment is a parameter of the page's path, for the path of a route.
func Segment(c *gin.Context, name string) string { return url.PathEscape(c.Param(name)) }

// May reports whether who is signed in is shown what takes the action.
func May(c *gin.Context, action auth.Action) bool {
	caller := auth.CallerOf(c.Request.Context())
	return caller != nil && auth.Table()[action].Allow(caller) == nil
}
