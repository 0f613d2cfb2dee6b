package labelled

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
)

// NewCrash returns a crash of a report that is not in a file.
func NewCrash(language string, t Text) (*Crash, error) {
	c := &Crash{Language: language, Text: t}
	if err := c.build(); err != nil {
		return nil, err
	}
	return c, nil
}

// build makes the report of a crash through the document that a client would
// send, so that the set is read as everything that arrives is.
func (c *Crash) build() error {
	t := &c.Text
	if t.Lang == "" || t.Agent == "" {
		return fmt.Errorf("a report needs lang and agent")
	}
	if len(t.Frames)+len(t.Classes)+len(t.Message)+len(t.Attributes) == 0 {
		return fmt.Errorf("a report is empty")
	}
	doc, err := t.Document()
	if err != nil {
		return err
	}
	r, err := report.Parse(doc)
	if err != nil {
		return err
	}
	c.Report = r
	return nil
}

type frameDocument struct {
	Function string `json:"funcName,omitempty"`
	Address  string `json:"address,omitempty"`
	Line     string `json:"line,omitempty"`
	Column   string `json:"column,omitempty"`
	Source   string `json:"sourceCode,omitempty"`
	Library  string `json:"library,omitempty"`
	Debug    string `json:"debug_identifier,omitempty"`
	Guessed  bool   `json:"guessed_frame,omitempty"`
	Faulted  bool   `json:"faulted,omitempty"`
}

type threadDocument struct {
	Name  string          `json:"name"`
	Fault bool            `json:"fault"`
	Stack []frameDocument `json:"stack"`
}

type moduleDocument struct {
	Start string `json:"start"`
	Size  string `json:"size"`
	File  string `json:"code_file"`
}

// Document returns the report as JSON.
func (t *Text) Document() ([]byte, error) {
	sources := make(map[string]map[string]string) // id to entry
	ids := make(map[string]string)                // path to id
	stack := func(frames []Frame) []frameDocument {
		list := make([]frameDocument, 0, len(frames))
		for i := range frames {
			f := &frames[i]
			id := ids[f.File]
			if f.File != "" && id == "" {
				id = "s" + strconv.Itoa(len(ids))
				ids[f.File] = id
				sources[id] = map[string]string{"path": f.File}
			}
			list = append(list, frameDocument{
				Function: f.Function, Address: f.Address, Line: f.Line, Column: f.Column, Source: id,
				Library: f.Library, Debug: f.Debug, Guessed: f.Guessed, Faulted: f.Faulted,
			})
		}
		return list
	}
	threads := map[string]threadDocument{"1": {Name: "main", Fault: true, Stack: stack(t.Frames)}}
	for i := range t.Threads {
		threads[strconv.Itoa(i+2)] = threadDocument{Name: t.Threads[i].Name, Stack: stack(t.Threads[i].Frames)}
	}
	attributes := make(map[string]string)
	for _, a := range t.Attributes {
		attributes[a[0]] = a[1]
	}
	if len(t.Message) > 0 {
		attributes["error.message"] = strings.Join(t.Message, "\n")
	}
	modules := make([]moduleDocument, 0, len(t.Modules))
	for _, m := range t.Modules {
		modules = append(modules, moduleDocument{Start: m.Start, Size: m.Size, File: m.File})
	}
	doc := map[string]any{
		"uuid": "00000000-0000-4000-8000-000000000001", "timestamp": 1700000000,
		"lang": t.Lang, "langVersion": "1", "agent": t.Agent, "agentVersion": "1",
		"threads": threads, "mainThread": "1", "attributes": attributes, "sourceCode": sources, "modules": modules,
	}
	if len(t.Classes) > 0 {
		doc["classifiers"] = t.Classes
	}
	if t.Symbolication != "" {
		doc["symbolication"] = t.Symbolication
	}
	return json.Marshal(doc)
}
