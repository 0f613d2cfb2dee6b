package authoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/login"
	"github.com/slipway-qa/slipway/storage/step"
)

// Nothing that a request sends is dropped in silence. An unknown member inside of a
// member is refused, with its path. At the top of a body, clients of the interface send
// members of their own: those are taken and named in the answer's warnings, unless the
// name means something to this interface elsewhere. Then the caller believes that it
// does something here, and the body is refused, but for what the answer itself shows.

// elsewhere are the names that have a meaning in some body of the interface, at any level,
// or in those of its siblings, in lower case.
var elsewhere = wordSet(of[importBody](), of[caseBody](), of[settingsBody](), of[targetBody](), of[givenStep](), of[generateBody](),
	of[promptBody](), of[runBody](), of[rerunBody](), of[quarantineBody](), of[suiteRunBody](), of[suiteBody](),
	of[scheduleBody](), of[scheduleSettingsBody](), of[variableBody](),
	of[step.BasicAuth](), of[step.ClientCertificate](), of[login.Login](), of[authoring.RunRetention](), of[filterBody](), of[shardBody]())

// siblings are names of the bodies that have no type, of the states of elements in
// selectors, of answers and parameters that say for whom something is, and of interfaces
// like this one.
const siblings = `
	action browser browsers checked creatorUserId csv default data dataRow dataRows dataset deleteTestCases disabled env environment environmentId
	environments expanded expected findings flaky headers headless lastModifierUserId matrix parallel parameters platform platforms pressed retries retry
	revisionId rowName rows runId secret secrets selected shards stepId suites testCase testSuite tunnel url userId variables viewport wait`

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

func wordSet(types ...reflect.Type) map[string]bool {
	set, seen := map[string]bool{}, map[reflect.Type]bool{}
	for word := range strings.FieldsSeq(siblings) {
		set[strings.ToLower(word)] = true
	}
	for _, t := range types {
		addNames(set, seen, t)
	}
	delete(set, "id") // what everything has says nothing about what is wanted
	return set
}

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

// shown are the names that the answer of a route has which creates or changes something.
// A client may send back what it has read: there they are taken, with a warning.
var shown = map[string]map[string]bool{
	"/testcases": topNames(of[caseView](), of[caseDetail]()), "/testsuites": topNames(of[suiteView]()),
	"/test-schedules": topNames(of[scheduleView]()), "/variables": topNames(of[variableView]()), "/tunnels": topNames(of[tunnelView]()),
	"/step-groups": {"creatoruserid": true, "lastmodifieruserid": true, "teamid": true, "revisionid": true, "steps": true},
}

func topNames(types ...reflect.Type) map[string]bool {
	set := map[string]bool{}
	for _, t := range types {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			set[strings.ToLower(name)] = true
		}
	}
	return set
}

// shownBy are the names that the answer of a request shows of what it changes.
func shownBy(c *gin.Context) map[string]bool {
	path := strings.TrimPrefix(strings.TrimPrefix(c.FullPath(), basePath), aliasPath)
	return shown[strings.TrimSuffix(path, "/:id")]
}

const (
	// maxWarnings bounds what an answer says of a request that has nothing but spare
	// members.
	maxWarnings = 20
	// warningsKey is where the context of a request has its warnings.
	warningsKey = "authoring.warnings"
)

// warn puts a warning into the answer.
func warn(c *gin.Context, format string, args ...any) {
	list := warningsOf(c)
	if len(list) == maxWarnings {
		format, args = "there were more warnings than these", nil
	}
	if len(list) <= maxWarnings {
		c.Set(warningsKey, append(list, fmt.Sprintf(format, args...)))
	}
}

func warningsOf(c *gin.Context) []string { return c.GetStringSlice(warningsKey) }

// spare decides about the members of a body that its type does not have. A removal is
// answered without a body, and so cannot warn.
func spare(c *gin.Context) body.Unknown {
	shown := shownBy(c)
	return func(m body.Member) error {
		name := strings.ToLower(m.Path)
		if !m.Top || elsewhere[name] && !shown[name] || c.Request.Method == http.MethodDelete {
			return body.Refuse(m)
		}
		warn(c, "%q is no member of this request and was ignored", m.Path)
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

// bare returns the handler of a request without members.
func bare(h route.Handler) route.Handler {
	return func(c *gin.Context) error {
		if err := read(c, &struct{}{}); err != nil {
			return err
		}
		return h(c)
	}
}

// warnOfQuery names the parameters of a request that has none: those of a change. Names
// that begin with _ are for others than us.
func warnOfQuery(c *gin.Context) {
	if r := c.Request; r.URL.RawQuery == "" || r.Method != http.MethodPost && r.Method != http.MethodPatch {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.Request.URL.Query())) {
		if !strings.HasPrefix(name, route.PrivateParameter) {
			warn(c, "%q is no parameter of this request and was ignored", name[:min(len(name), maxShownName)])
		}
	}
}

// maxShownName is the most bytes of a parameter's name that a warning repeats.
const maxShownName = 64

// warned is the content of an answer with its warnings.
type warned struct {
	content  any
	warnings []string
}

// MarshalJSON puts the warnings behind the members of the content, which is an object.
func (w warned) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(w.content)
	if err != nil {
		return nil, err
	}
	open, isObject := bytes.CutSuffix(text, []byte("}"))
	if !isObject {
		return nil, fmt.Errorf("a warning beside %T, which is no object", w.content)
	}
	list, err := json.Marshal(w.warnings)
	if err != nil {
		return nil, err
	}
	comma := ","
	if len(open) == 1 {
		comma = ""
	}
	return fmt.Appendf(nil, `%s%s"warnings":%s}`, open, comma, list), nil
}
