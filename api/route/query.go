package route

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
)

// PrivateParameter begins the names of parameters that are for others than us, such as
// those against caches; the authoring interface takes them.
const PrivateParameter = "_"

// codeQuery is what the authoring interface calls a wrong query.
const codeQuery = "INVALID_QUERY"

// NoQuery is the Query of a route that has no parameters.
func NoQuery() []string { return []string{} }

// array ends the name of a parameter that is one.
const array = "[]"

// maxNamed bounds what a failure repeats of an unknown name, in bytes.
const maxNamed = 64

// checkQuery refuses a parameter that the route does not have: a misspelt filter would
// otherwise select everything without a word. Of several the first in the order of
// the alphabet is named.
func (r *Route) checkQuery(c *gin.Context) error {
	if r.Query == nil || c.Request.URL.RawQuery == "" {
		return nil
	}
	unknown, found, authoring := "", false, r.Interface == respond.InterfaceAuthoring
	for name := range c.Request.URL.Query() {
		if authoring && strings.HasPrefix(name, PrivateParameter) {
			continue
		}
		if !r.knows(name) && (!found || name < unknown) {
			unknown, found = name, true
		}
	}
	if !found {
		return nil
	}
	accepted := "there are none"
	if len(r.Query) > 0 {
		names := slices.Clone(r.Query)
		for i, name := range names {
			if names[i] = strings.TrimSuffix(name, array); strings.HasSuffix(name, ".") {
				names[i] += "KEY"
			}
		}
		accepted = "there are " + strings.Join(names, ", ")
	}
	shown := unknown
	if len(shown) > maxNamed {
		shown = shown[:maxNamed]
	}
	err := storage.Invalid(strings.ToValidUTF8(shown, "?"), "is no parameter of this request; %s", accepted)
	if authoring {
		return &respond.Problem{Status: http.StatusBadRequest, Authoring: codeQuery, Text: err.Error(), Err: err}
	}
	return err
}

// knows reports whether a name, written alone or as that of an array (name[], name[0]),
// is one of the route's.
func (r *Route) knows(name string) bool {
	single := ""
	if at := strings.IndexByte(name, '['); at > 0 && strings.HasSuffix(name, "]") && strings.Trim(name[at+1:len(name)-1], "0123456789") == "" {
		single = name[:at] + array
	}
	return slices.ContainsFunc(r.Query, func(known string) bool {
		if strings.HasSuffix(known, ".") {
			return strings.HasPrefix(name, known)
		}
		return known == name || strings.TrimSuffix(known, array) == name || known == single
	})
}
