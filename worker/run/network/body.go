package network

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/jsonpath"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

// textCheck compares a text, or what a path selects of one.
type textCheck struct {
	value, mode string
	pattern     *regexp.Regexp
	path        *jsonpath.Path
}

// newTextCheck returns nil for nil.
func newTextCheck(b *step.BodyCheck) (*textCheck, error) {
	if b == nil {
		return nil, nil
	}
	c := &textCheck{value: b.Value, mode: b.Mode}
	if c.mode == step.Matches {
		pattern, err := step.Pattern(c.value)
		if err != nil {
			return nil, failf("the pattern %v", err)
		}
		c.pattern = pattern
	}
	if b.Path != "" {
		path, err := jsonpath.Parse(b.Path)
		if err != nil {
			return nil, failf("the path %v", err)
		}
		c.path = &path
	}
	return c, nil
}

func (c *textCheck) compare(text string) bool {
	switch c.mode {
	case step.Contains:
		return strings.Contains(text, c.value)
	case step.Matches:
		return c.pattern.MatchString(text)
	}
	return text == c.value
}

type bodyKey struct {
	number int
	kind   string
}

type body struct {
	data []byte
	none string // why there is none, for people
}

// bodyIs compares the body of a request or a response; why says what is wrong with it.
func (n *Network) bodyIs(ctx context.Context, e traffic.Entry, kind string, c *textCheck) (is bool, why string, err error) {
	if c == nil {
		return true, "", nil
	}
	b, err := n.bodyOf(ctx, e, kind)
	switch {
	case err != nil:
		return false, "", err
	case b.none != "":
		return false, ": " + b.none, errUnknown
	case c.path == nil:
		return c.compare(string(b.data)), fmt.Sprintf(", its body is %q", n.cfg.Quote(string(b.data), maxShown)), nil
	}
	selected, err := c.path.Select(b.data)
	if err != nil {
		return false, ", its body is no JSON", nil
	}
	if len(selected) == 0 {
		return false, ", its body has nothing there", nil
	}
	return slices.ContainsFunc(selected, c.compare), fmt.Sprintf(", there its body has %s", n.cfg.Quote(quoted(selected), maxShown)), nil
}

// quoted are some texts for people.
func quoted(texts []string) string {
	var list []string
	for _, text := range texts[:min(len(texts), 5)] {
		list = append(list, strconv.Quote(text))
	}
	if len(texts) > 5 {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}

// bodyOf returns a body, which is asked for once.
func (n *Network) bodyOf(ctx context.Context, e traffic.Entry, kind string) (body, error) {
	key := bodyKey{e.Number, kind}
	if known, ok := n.bodies[key]; ok {
		return known, nil
	}
	if kind == "response" && !e.Done {
		return body{none: "the response has not ended"}, nil
	}
	if len(n.bodies) >= maxBodies {
		return body{}, failf("a test looks at %d bodies at most; more requests are of the address", maxBodies)
	}
	ask := n.traffic.ResponseBody
	if kind == "request" {
		ask = n.traffic.RequestBody
	}
	got, err := ask(ctx, e)
	var without *traffic.BodyError
	var lost *webdriver.TransportError
	switch {
	case errors.As(err, &without):
		n.bodies[key] = body{none: without.Text}
	case unavailable(err):
		return body{}, failf("%s", err.Error())
	case errors.As(err, &lost), ctx.Err() != nil:
		return body{}, err
	case err != nil:
		n.bodies[key] = body{none: "the browser refuses it"}
	default:
		n.bodies[key] = body{data: got.Data}
	}
	return n.bodies[key], nil
}
