package crashes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/live"
)

// reportDetail is a single crash.
type reportDetail struct {
	report
	Group *struct {
		ID      int64  `json:"id"`
		Title   string `json:"title"`
		State   string `json:"state"`
		Culprit string `json:"culprit"`
	} `json:"group"`
	Attributes     map[string]json.RawMessage `json:"attributes"`
	Symbols        symbolication              `json:"symbolication"`
	Threads        []thread                   `json:"threads"`
	ThreadsOmitted int                        `json:"threads_omitted"`
	Modules        []module                   `json:"modules"`
	ModulesOmitted int                        `json:"modules_omitted"`
	Fingerprint    *struct {
		Key         string      `json:"key"`
		Algorithm   int         `json:"algorithm"`
		Explanation explanation `json:"explanation"`
	} `json:"fingerprint"`
	PreviousID         string       `json:"previous_id"`
	NextID             string       `json:"next_id"`
	Breadcrumbs        []breadcrumb `json:"breadcrumbs"`
	BreadcrumbsOmitted int          `json:"breadcrumbs_omitted"`
	Annotations        []annotation `json:"annotations"`
	AnnotationsOmitted int          `json:"annotations_omitted"`
	Truncated          bool         `json:"truncated"`
	ClockDrift         int64        `json:"clock_drift_seconds"`
	Attachments        []struct {
		ID          string    `json:"id"`
		Name        string    `json:"name"`
		ContentType string    `json:"content_type"`
		Size        int64     `json:"size"`
		CreatedAt   time.Time `json:"created_at"`
	} `json:"attachments"`
}

// symbolication says how much of a report reads as the developer wrote it.
type symbolication struct {
	State   string    `json:"state"`
	Missing []lacking `json:"missing"`
	Texts   []struct {
		Where string `json:"where"`
		Text  string `json:"text"`
	} `json:"texts"`
}

// lacking is a file that was looked for and is not there.
type lacking struct {
	Kind      string       `json:"kind"`
	Name      string       `json:"name"`
	Version   string       `json:"version"`
	LookedFor []identifier `json:"looked_for"`
	Reason    string       `json:"reason"`
	Frames    int          `json:"frames"`
	Command   string       `json:"-"`
}

// explanation says how the key of a report came about.
type explanation struct {
	Source   string            `json:"source"`
	Frames   []explainedFrame  `json:"frames"`
	Rules    []json.RawMessage `json:"rules"`
	Material []string          `json:"material"`
}

type explainedFrame struct {
	Function string `json:"function"`
	Kept     bool   `json:"kept"`
}

type module struct {
	Start           string  `json:"start"`
	Size            *uint64 `json:"size"`
	CodeFile        string  `json:"code_file"`
	Version         string  `json:"version"`
	DebugFile       string  `json:"debug_file"`
	DebugIdentifier string  `json:"debug_identifier"`
	Found           *bool   `json:"debug_file_exists"`
	Symbols         *served `json:"symbols"`
}

// served is the symbol file that a frame or module was read with.
type served struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// attribute is an attribute of a report, and the groups that have it too.
type attribute struct{ Key, Value, Link string }

// attributesOf are the attributes in the order of their names.
func attributesOf(members map[string]json.RawMessage) []attribute {
	list := make([]attribute, 0, len(members))
	for key, raw := range members {
		a := attribute{Key: key, Value: string(raw)}
		_ = json.Unmarshal(raw, &a.Value) // what is no text is shown as it stands there
		if a.Value != "" && len(a.Value) <= maxAttribute {
			a.Link = "?" + url.Values{attributePrefix + key: {a.Value}}.Encode()
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b attribute) int { return cmp.Compare(a.Key, b.Key) })
	return list
}

// reportOf asks for the report of the path.
func (p *Pages) reportOf(c *gin.Context) (*reportDetail, error) {
	var view struct {
		Crash *reportDetail `json:"crash"`
	}
	if err := p.API.Get(c, "/api/v3/crashes/"+frame.Segment(c, "id"), nil, &view); err != nil {
		return nil, err
	}
	view.Crash.tieMissing()
	return view.Crash, nil
}

// tieMissing gives the frames the files that they lack.
func (r *reportDetail) tieMissing() {
	for i := range r.Threads {
		for j := range r.Threads[i].Frames {
			f := &r.Threads[i].Frames[j]
			if at := f.MissingIndex; at != nil && *at >= 0 && *at < len(r.Symbols.Missing) {
				f.Missing = &r.Symbols.Missing[*at]
			}
		}
	}
}

// Title names the report: its group, else what failed.
func (r *reportDetail) Title() string {
	if r.Group != nil {
		return r.Group.Title
	}
	return cmp.Or(strings.TrimSpace(r.Classifier+" "+r.Message), "Report "+r.ID)
}

// report serves GET /console/crashes/reports/{id}. frames=all shows all frames.
func (p *Pages) report(c *gin.Context) error {
	r, err := p.reportOf(c)
	if err != nil {
		return err
	}
	for i := range r.Symbols.Missing {
		m := &r.Symbols.Missing[i]
		m.Command = p.command(need{Kind: m.Kind, Name: m.Name, Version: m.Version, LookedFor: m.LookedFor})
	}
	written, err := p.feedback(c, "/api/v3/crashes/"+frame.Segment(c, "id"))
	if err != nil {
		return err
	}
	var explained []explainedFrame
	if r.Fingerprint != nil {
		explained = r.Fingerprint.Explanation.Frames
	}
	var topics []live.Topic
	if r.State == "stored" || r.Symbols.State == "pending" {
		topics = []live.Topic{live.Of(live.Report, r.ID)}
	}
	return p.show(c, "report", "", frame.Page{Title: storage.Cut(r.Title(), maxHeading), Live: topics, Data: map[string]any{"Report": r,
		"Attributes": attributesOf(r.Attributes), "Feedback": written,
		"Threads": threadsOf(r.Threads, explained, c.Query("frames") == "all"), "All": address(c, "frames", "all")}})
}

// Drift is by how much the times of the client were corrected.
func (r *reportDetail) Drift() string {
	if r.ClockDrift < 0 {
		return (time.Duration(-r.ClockDrift) * time.Second).String() + " ahead"
	}
	return (time.Duration(r.ClockDrift) * time.Second).String() + " behind"
}

// breadcrumb is a step before the crash.
type breadcrumb struct {
	At      *time.Time      `json:"at"`
	Offset  *int64          `json:"offset_ms"`
	Type    string          `json:"type"`
	Level   string          `json:"level"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Relative is the time from the crash: 2.5 s before, 1 min 10 s before.
func (b breadcrumb) Relative() string {
	if b.Offset == nil {
		return ""
	}
	span, side := time.Duration(*b.Offset)*time.Millisecond, "after"
	if span <= 0 {
		span, side = -span, "before"
	}
	if span >= time.Minute {
		span = span.Round(time.Second)
	}
	return span.String() + " " + side
}

// annotation is what a client sent beside stacks and attributes, under one name.
type annotation struct {
	Name      string          `json:"name"`
	Value     json.RawMessage `json:"value"`
	Truncated bool            `json:"truncated"`
	At        *time.Time      `json:"at"`
	Offset    *int64          `json:"offset_ms"`
}

// Relative is the time from the crash, as steps have it.
func (a annotation) Relative() string { return breadcrumb{Offset: a.Offset}.Relative() }

// Text is the value as a person reads it: a text as it is, all else indented.
func (a annotation) Text() string {
	var text string
	if json.Unmarshal(a.Value, &text) == nil {
		return text
	}
	var indented bytes.Buffer
	if json.Indent(&indented, a.Value, "", "  ") != nil {
		return string(a.Value)
	}
	return indented.String()
}

// Facts are the further facts of a step, in a line.
func (b breadcrumb) Facts() string {
	if string(b.Data) == "null" {
		return ""
	}
	return string(b.Data)
}

// annotations serves GET /console/crashes/reports/{id}/annotations: what the client sent
// beside stacks and attributes, the steps before the crash first.
func (p *Pages) annotations(c *gin.Context) error {
	r, err := p.reportOf(c)
	if err != nil {
		return err
	}
	return p.show(c, "annotations", "", frame.Page{Title: "Annotations of " + storage.Cut(r.Title(), maxHeading),
		Data: map[string]any{"Report": r}})
}

// raw serves GET /console/crashes/reports/{id}/raw.
func (p *Pages) raw(c *gin.Context) error {
	return p.API.Pass(c, "/api/v3/crashes/"+frame.Segment(c, "id")+"/raw", nil)
}

// attachment serves GET /console/crashes/reports/{id}/attachments/{attachment}.
func (p *Pages) attachment(c *gin.Context) error {
	return p.API.Pass(c, "/api/v3/crashes/"+frame.Segment(c, "id")+"/attachments/"+frame.Segment(c, "attachment"), nil)
}
