package crashes

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
)

const (
	attributePrefix = "attribute."
	// wholePage is the most rows that a list of the api has on a page.
	wholePage = "100"
)

// address is that of the page with parameters changed, relative to it: pairs of name and
// value, where "" takes one away. The page number begins anew.
func address(c *gin.Context, pairs ...string) string {
	q := frame.Valued(c.Request.URL.Query(), "page")
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Del(pairs[i])
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return "?" + q.Encode()
}

// refused splits a failure of the api into the reason why it does not take the page's
// parameters, which the page says, and any other.
func refused(err error) (reason string, other error) {
	if err == nil {
		return "", nil
	}
	if p := respond.Explain(err); p.Status == http.StatusBadRequest {
		return p.Text, nil
	}
	return "", err
}

// forbidden takes a refusal for want of rights as no answer.
func forbidden(err error) error {
	if err != nil && respond.Explain(err).Status == http.StatusForbidden {
		return nil
	}
	return err
}

// show renders a list; one whose filters were refused has the status of that.
func (p *Pages) show(c *gin.Context, name, fault string, page frame.Page) error {
	page.Area = area
	return p.pages.ShowList(c, name, fault, page)
}

// envelope is where a page of a list stands.
type envelope struct{ frame.Paging }

// Count writes the length of the list: 3 groups, more than 10 000 groups.
func (e envelope) Count(one, many string) string {
	if e.HasNext == nil && e.Total == 1 {
		return "1 " + one
	}
	return e.Many() + " " + many
}

// pager leads to the other pages of a list; nil when it has one. Where counting stopped, it
// is silent about the length, which stands above the list.
func (p *Pages) pager(c *gin.Context, e envelope) *frame.Pager {
	pager := p.PagesOf(c, e.Paging)
	if pager == nil || pager.Previous == "" && pager.Next == "" {
		return nil
	}
	if pager.AtLeast {
		pager.AtLeast, pager.Pages, pager.Total = false, 0, 0
	}
	return pager
}

// condition is a filter of the address that can be taken away by a link.
type condition struct{ Name, Value, Without string }

// conditions are the filters of the page with one of the names, and by attributes.
func conditions(c *gin.Context, names ...string) (list []condition) {
	for name, values := range frame.Valued(c.Request.URL.Query()) {
		key, attribute := strings.CutPrefix(name, attributePrefix)
		if attribute || slices.Contains(names, strings.TrimSuffix(name, "[]")) {
			list = append(list, condition{key, strings.Join(values, ", "), address(c, name, "")})
		}
	}
	sortConditions(list)
	return list
}

func sortConditions(list []condition) {
	slices.SortFunc(list, func(a, b condition) int { return cmp.Compare(a.Name, b.Name) })
}

// field is a parameter that a form of filters keeps.
type field struct{ Name, Value string }

// kept are the parameters of the page that a form of filters has no field for.
func kept(c *gin.Context, fields ...string) (list []field) {
	for name, values := range frame.Valued(c.Request.URL.Query(), "page") {
		if slices.Contains(fields, strings.TrimSuffix(name, "[]")) {
			continue
		}
		for _, value := range values {
			list = append(list, field{name, value})
		}
	}
	slices.SortFunc(list, func(a, b field) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value)) })
	return list
}

// choice is one of some values, each with what leads to it.
type choice struct {
	Value, Text string
	Link        string
	Chosen      bool
}

// choices are values of an array of the address, as boxes to tick or options.
func choices(c *gin.Context, name string, values ...string) []choice {
	var given []string
	for _, text := range slices.Concat(c.QueryArray(name), c.QueryArray(name+"[]")) {
		given = append(given, strings.Split(text, ",")...)
	}
	list := make([]choice, 0, len(values))
	for _, value := range values {
		list = append(list, choice{Value: value, Text: value, Chosen: slices.Contains(given, value)})
	}
	return list
}

// order is a heading by which a list can be sorted.
type order struct{ Text, Link, Sorted string }

// orders are the headings of a list, which is sorted by the first unless the address says
// otherwise; the largest comes first.
func orders(c *gin.Context, names ...string) map[string]order {
	sorted := cmp.Or(c.Query("sort"), names[0])
	list := map[string]order{}
	for _, name := range names {
		o := order{Link: address(c, "sort", name, "order", "")}
		if name == sorted {
			o.Sorted, o.Link = "descending", address(c, "sort", name, "order", "asc")
		}
		if name == sorted && c.Query("order") == "asc" {
			o.Sorted, o.Link = "ascending", address(c, "sort", name, "order", "")
		}
		list[name] = o
	}
	return list
}
