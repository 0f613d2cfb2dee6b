package request

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/body"
)

// Nothing that a request sends is dropped in silence. An unknown member inside of a
// member is refused, with its path. At the top of a body, clients of the interface send
// members of their own: those are taken and named in the answer's warnings, unless the
// name means something to this interface elsewhere. Then the caller believes that it
// does something here, and the body is refused, but for what the answer itself shows.

// Vocabulary are the bodies and answers of a kind of resource.
type Vocabulary struct {
	// Bodies are values of the types of bodies, and of their members.
	Bodies []any
	// Answers are values of the types whose members the answer of a route has which creates or
	// changes something, by its path.
	Answers map[string][]any
}

// Words are the names that have a meaning in the interface, in lower case. Without any, all
// that a body has too much at its top is taken.
type Words struct {
	// elsewhere are those in some body of the interface, at any level, or in those of its siblings.
	elsewhere map[string]bool
	// shown are those that the answer of a route has which creates or changes something, by its
	// path. A client may send back what it has read: there they are taken, with a warning.
	shown map[string]map[string]bool
}

// NewWords returns the names that resources have.
func NewWords(of ...Vocabulary) Words {
	w := Words{elsewhere: map[string]bool{}, shown: map[string]map[string]bool{}}
	for word := range strings.FieldsSeq(siblings) {
		w.elsewhere[strings.ToLower(word)] = true
	}
	seen := map[reflect.Type]bool{}
	for _, v := range of {
		for _, one := range v.Bodies {
			addNames(w.elsewhere, seen, reflect.TypeOf(one))
		}
		for path, answers := range v.Answers {
			w.shown[path] = topNames(answers)
		}
	}
	delete(w.elsewhere, "id") // what everything has says nothing about what is wanted
	return w
}

// siblings are names of the bodies that have no type, of the states of elements in
// selectors, of answers and parameters that say for whom something is, and of interfaces
// like this one.
const siblings = `
	action browser browsers checked creatorUserId csv default data dataRow dataRows dataset deleteTestCases disabled env
	environment environmentId
	environments expanded expected findings flaky headers headless lastModifierUserId matrix parallel parameters platform platforms
	pressed retries retry
	revisionId rowName rows runId secret secrets selected shards stepId suites testCase testSuite tunnel url userId variables viewport wait`

// addNames puts in the names of a type's members, and of those below.
func addNames(set map[string]bool, seen map[reflect.Type]bool, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	if also, ok := reflect.Zero(t).Interface().(body.AlsoReads); ok {
		for _, name := range also.OtherMembers() {
			set[strings.ToLower(name)] = true
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			set[strings.ToLower(name)] = true
		}
		if f.IsExported() || f.Anonymous {
			addNames(set, seen, f.Type)
		}
	}
}

// topNames are the names of the members of types.
func topNames(of []any) map[string]bool {
	set := map[string]bool{}
	for _, one := range of {
		t := reflect.TypeOf(one)
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			set[strings.ToLower(name)] = true
		}
	}
	return set
}

// shownBy are the names that the answer of a request shows of what it changes.
func (w Words) shownBy(c *gin.Context) map[string]bool {
	path := strings.TrimPrefix(strings.TrimPrefix(c.FullPath(), answer.BasePath), answer.AliasPath)
	return w.shown[strings.TrimSuffix(path, "/:id")]
}

// spare decides about the members of a body that its type does not have. A removal is
// answered without a body, and so cannot warn.
func (w Words) spare(c *gin.Context) body.Unknown {
	shown := w.shownBy(c)
	return func(m body.Member) error {
		name := strings.ToLower(m.Path)
		if !m.Top || w.elsewhere[name] && !shown[name] || c.Request.Method == http.MethodDelete {
			return body.Refuse(m)
		}
		answer.Warn(c, "%q is no member of this request and was ignored", m.Path)
		return nil
	}
}

// below refuses what the document at the path of a body does not have.
func below(path string) body.Unknown {
	return func(m body.Member) error {
		if m.Path[0] != '[' {
			m.Path = "." + m.Path
		}
		m.Path = path + m.Path
		return body.Refuse(m)
	}
}
