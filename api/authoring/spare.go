package authoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/route"
)

// Nothing that a request sends is dropped in silence. An unknown member inside of a
// member is refused, with its path. At the top of a body, clients of the interface send
// members of their own: those are taken and named in the answer's warnings, unless the
// name means something to this interface elsewhere. Then the caller believes that it
// does something here, and the body is refused.

// elsewhere are the names that have a meaning in some body of the interface, or in those
// of its siblings, in lower case.
var elsewhere = wordSet(`
	action addTestCases browser browsers buildName capabilities cron dataRow dataRows data dataset description drift
	deleteTestCases endDate env environment environmentId environments expected flaky headless healing intent isRdc isSecret
	matcher matrix maxRuns maxSteps name optional parallel parameters platform platforms primaryTarget promptSettings
	removeTestCases retries retry revisionId rows runningUserId runSettings runTargets scope scTunnelName selector
	settings shards side sideTest startDate stateName steps strict suites tags target targets teamId testCase
	testCaseId testCaseIds testCases testSuite testSuiteId testSuiteIds testUrl timeout timeoutMs timezone tool
	url value variables version viewport wait when`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[strings.ToLower(word)] = true
	}
	return set
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
	return func(m body.Member) error {
		if !m.Top || elsewhere[strings.ToLower(m.Path)] || c.Request.Method == http.MethodDelete {
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
