package authoring

import (
	"fmt"

	"github.com/slipway-qa/slipway/storage/run"
)

// traceProperty is the address of the trace of a testcase. Those of the attempts before the last
// have their number too, trace:1.
const traceProperty = "trace"

// reportTrace is a trace of a testcase.
type reportTrace struct {
	name string // of its property
	path string
}

// tracesOf returns the traces of a job, that of its last attempt first.
func tracesOf(r *run.Run, j *run.Job) (list []reportTrace) {
	if traceOf(j.Files) != nil {
		list = append(list, reportTrace{traceProperty, tracePath(r, j, 0)})
	}
	for i := range j.Earlier {
		if a := &j.Earlier[i]; traceOf(a.Files) != nil {
			list = append(list, reportTrace{fmt.Sprintf("%s:%d", traceProperty, a.Number), tracePath(r, j, a.Number)})
		}
	}
	return list
}

// withTraces names the traces, at their addresses below that of the installation.
func (v *reportView) withTraces(base string) *reportView {
	for i := range v.Suite.Cases {
		v.Suite.Cases[i].nameTraces(base)
	}
	return v
}

func (c *reportCase) nameTraces(base string) {
	for _, t := range c.traces {
		address := xmlText(base + t.path)
		if c.Properties == nil {
			c.Properties = &reportProperties{}
		}
		c.Properties.Properties = append(c.Properties.Properties, reportProperty{t.name, address})
		c.Output += t.name + ": " + address + "\n"
	}
}
