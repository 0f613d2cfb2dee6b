package crashes

import (
	"maps"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// facets are the attributes of reports, and the values of one of them.
type facets struct {
	Fault   string
	Keys    []facetKey
	Key     string // whose values follow; "": none
	Values  []facetValue
	Hidden  int     // values beyond those
	Counted counted // of the attributes
	Valued  counted // of the values
}

type facetKey struct {
	Key     string `json:"key"`
	Values  int    `json:"values"`
	Reports int    `json:"reports"`
	Link    string `json:"-"`
}

type facetValue struct {
	Value     string    `json:"value"`
	Count     int64     `json:"count"`
	Share     float64   `json:"share"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Link      string    `json:"-"`
}

// counted says what the numbers of facets are of.
type counted struct {
	Reports  int  `json:"reports"`
	Complete bool `json:"complete"`
}

// maxAttribute is the longest value that the lists are narrowed by, in bytes: what is kept of
// a longer one ends in its digest, beyond that.
const maxAttribute = 4096

const (
	// besideReports is how many reports attributes are counted over beside a list: what most
	// have is among them, and each has tens of values.
	besideReports = "250"
	// aloneReports is how many where all attributes are what the page is about.
	aloneReports = "500"
	// valuedReports is how many the values of one attribute are counted over beside a list, and
	// where they are what a page is about: their shares are right within some hundredths.
	valuedReports = "2500"
)

// counting is what attributes are asked of.
type counting struct {
	path string
	q    url.Values
	// keys and values are how many reports the attributes, and the values of one, are counted
	// over; "": as many as the api does by itself.
	keys, values string
	// frequent is whether the most frequent attribute is shown where none is chosen.
	frequent bool
}

// facets asks for the attributes, and for the values of one, each with its link to the list
// that it narrows.
func (p *Pages) facets(c *gin.Context, of counting, key string, narrowed func(key, value string) string) (facets, error) {
	f := facets{Key: key}
	var keys struct {
		Attributes []facetKey `json:"attributes"`
		Counted    counted    `json:"counted"`
	}
	var err error
	if f.Fault, err = refused(p.API.Get(c, of.path, of.query("", of.keys), &keys)); err != nil || f.Fault != "" {
		return f, err
	}
	f.Keys, f.Counted = keys.Attributes, keys.Counted
	for i := range f.Keys {
		f.Keys[i].Link = address(c, "facet", f.Keys[i].Key)
	}
	if f.Key == "" && of.frequent && len(f.Keys) > 0 {
		f.Key = f.Keys[0].Key
	}
	if f.Key == "" {
		return f, nil
	}
	var view struct {
		Attribute struct {
			Distinct int          `json:"distinct"`
			Values   []facetValue `json:"values"`
		} `json:"attribute"`
		Counted counted `json:"counted"`
	}
	if f.Fault, err = refused(p.API.Get(c, of.path, of.query(f.Key, of.values), &view)); err != nil {
		return f, err
	}
	f.Values, f.Valued = view.Attribute.Values, view.Counted
	f.Hidden = max(0, view.Attribute.Distinct-len(f.Values))
	for i := range f.Values {
		if len(f.Values[i].Value) <= maxAttribute {
			f.Values[i].Link = narrowed(f.Key, f.Values[i].Value)
		}
	}
	return f, nil
}

// query are the parameters by which one of both is asked.
func (of counting) query(key, reports string) url.Values {
	q := url.Values{}
	maps.Copy(q, of.q)
	for name, value := range map[string]string{"key": key, "reports": reports} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// groupAttributes serves GET /console/crashes/groups/{id}/attributes.
func (p *Pages) groupAttributes(c *gin.Context) error {
	g, done, err := p.groupOf(c, "/attributes", nil)
	if err != nil || done {
		return err
	}
	place := "/api/v3/crash-groups/" + frame.Segment(c, "id") + "/attributes"
	to := "../" + strconv.FormatInt(g.ID, 10)
	reports := func(key, value string) string {
		return to + "?" + url.Values{attributePrefix + key: {value}}.Encode() + "#reports"
	}
	found, err := p.facets(c, counting{path: place, q: frame.Query(c, "from", "to"), keys: aloneReports, values: valuedReports,
		frequent: true}, c.Query("facet"), reports)
	if err != nil {
		return err
	}
	return p.show(c, "attributes", found.Fault, frame.Page{Title: "Attributes of " + g.ShortTitle(),
		Data: map[string]any{"Group": g, "Attributes": found}})
}
