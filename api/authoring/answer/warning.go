package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/route"
)

const (
	// maxWarnings bounds what an answer says of a request that has nothing but spare
	// members.
	maxWarnings = 20
	// warningsKey is where the context of a request has its warnings.
	warningsKey = "authoring.warnings"
)

// Warn puts a warning into the answer.
func Warn(c *gin.Context, format string, args ...any) {
	list := warningsOf(c)
	if len(list) == maxWarnings {
		format, args = "there were more warnings than these", nil
	}
	if len(list) <= maxWarnings {
		c.Set(warningsKey, append(list, fmt.Sprintf(format, args...)))
	}
}

func warningsOf(c *gin.Context) []string { return c.GetStringSlice(warningsKey) }

// WarnOfQuery names the parameters of a request that has none: those of a change. Names
// that begin with _ are for others than us.
func WarnOfQuery(c *gin.Context) {
	if r := c.Request; r.URL.RawQuery == "" || r.Method != http.MethodPost && r.Method != http.MethodPatch {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.Request.URL.Query())) {
		if !strings.HasPrefix(name, route.PrivateParameter) {
			Warn(c, "%q is no parameter of this request and was ignored", name[:min(len(name), MaxShownName)])
		}
	}
}

// MaxShownName is the most bytes of a parameter's name that a warning repeats.
const MaxShownName = 64

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
