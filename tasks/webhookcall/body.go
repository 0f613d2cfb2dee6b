package webhookcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks/link"
)

// TypeJSON is the content type of all bodies.
const TypeJSON = "application/json"

// timestampForm is the form of the member timestamp, in UTC.
const timestampForm = "2006-01-02 15:04:05"

// base are the members of all events. BuildID is null for an event of no build.
type base struct {
	Event     webhook.Action `json:"event"`
	Timestamp string         `json:"timestamp"`
	AppName   string         `json:"appName"`
	Version   string         `json:"version"`
	Build     string         `json:"build"`
	Platform  string         `json:"platform"`
	BuildID   *int64         `json:"buildId"`
}

// baseNames is the order of these members.
func baseNames() []string {
	return []string{"event", "timestamp", "appName", "version", "build", "platform", "buildId"}
}

// Body returns the body of a delivery to an address. The links lead to the page of a run.
func Body(d *webhook.Due, address string, links link.Links) (string, error) {
	members, err := merge(d)
	if err != nil {
		return "", fmt.Errorf("body of %s: %w", d.ID, err)
	}
	if err := members.addRunURL(d.Action, links); err != nil {
		return "", fmt.Errorf("body of %s: %w", d.ID, err)
	}
	if service := serviceOf(address); service != nil {
		return encode(service(messageOf(d.Action, members, links)))
	}
	return members.object()
}

// members are the members of a body.
type members map[string]json.RawMessage

// merge returns the members of all events with the event's own, which win.
func merge(d *webhook.Due) (members, error) {
	b := base{Event: d.Action, Timestamp: d.HappenedAt.UTC().Format(timestampForm), AppName: d.AppName,
		Version: d.Version, Build: d.Build, Platform: d.Platform}
	if d.BuildID != 0 {
		b.BuildID = &d.BuildID
	}
	doc, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	list := members{}
	if err := json.Unmarshal(doc, &list); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(d.Data, &list); err != nil {
		return nil, err
	}
	return list, nil
}

// addRunURL adds where the console shows a run, to an event that is of one.
func (m members) addRunURL(action webhook.Action, links link.Links) error {
	run, of := m.text("runId"), ""
	switch suite, test := m.text("testSuiteId"), m.text("testCaseId"); {
	case action != webhook.Run || run == "":
		return nil
	case suite != "":
		of = "suites/" + url.PathEscape(suite)
	case test != "":
		of = "cases/" + url.PathEscape(test)
	default:
		return nil
	}
	text, err := json.Marshal(links.Path("/console/tests/" + of + "/runs/" + url.PathEscape(run)))
	m["runUrl"] = text
	return err
}

// groupURL is where the console shows the crash group of an event; "" for an event of none.
func (m members) groupURL(links link.Links) string {
	var id int64
	if err := json.Unmarshal(m["groupId"], &id); err != nil || id == 0 {
		return ""
	}
	return links.Path("/console/crashes/groups/" + strconv.FormatInt(id, 10))
}

// object writes the members of all events first, so that people find them.
func (m members) object() (string, error) {
	names := baseNames()
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var out bytes.Buffer
	for i, name := range names {
		separator := ","
		if i == 0 {
			separator = "{"
		}
		value, err := encode(m[name])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s%q:%s", separator, name, value)
	}
	return out.String() + "}", nil
}

// text returns a member as text; "" when there is none or it is no text.
func (m members) text(name string) string {
	var s string
	if json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return s
}

// encode writes JSON without escaping characters of HTML: receivers show URLs.
func encode(v any) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimRight(out.Bytes(), "\n")), nil
}

// testData are the own members of a test delivery.
type testData struct {
	Message     string `json:"message"`
	WebhookID   int64  `json:"webhookId"`
	WebhookName string `json:"webhookName"`
}

// NewTest returns a delivery that says only that it is a test.
func NewTest(w *webhook.Webhook, now time.Time) (*webhook.Due, error) {
	data, err := json.Marshal(testData{"This is a test delivery.", w.ID, w.Name})
	return &webhook.Due{Action: webhook.Test, Data: data, HappenedAt: now, CreatedAt: now}, err
}
