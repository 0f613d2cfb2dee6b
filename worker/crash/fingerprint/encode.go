package fingerprint

import (
	"strconv"

	"github.com/slipway-qa/slipway/storage/report"
)

// AppendJSON appends the explanation as encoding/json would write it, in a third
// of the time: an explanation is written for every report, and took a fifth of the
// time of processing one.
func (e *Explanation) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"version":`...)
	dst = strconv.AppendInt(dst, int64(e.Version), 10)
	dst = append(dst, `,"source":`...)
	dst = report.AppendText(dst, string(e.Source))
	if e.Thread != "" {
		dst = append(dst, `,"thread":`...)
		dst = report.AppendText(dst, e.Thread)
	}
	if len(e.Frames) > 0 {
		dst = append(dst, `,"frames":[`...)
		for i := range e.Frames {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.Frames[i].appendJSON(dst)
		}
		dst = append(dst, ']')
	}
	if e.Skipped != 0 {
		dst = append(dst, `,"skipped":`...)
		dst = strconv.AppendInt(dst, int64(e.Skipped), 10)
	}
	dst = e.Rules.AppendMember(dst)
	dst = append(dst, `,"material":[`...)
	for i, line := range e.Material {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = report.AppendText(dst, line)
	}
	return append(dst, "]}"...)
}

func (f *Frame) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(f.Index), 10)
	if f.Function != "" {
		dst = append(dst, `,"function":`...)
		dst = report.AppendText(dst, f.Function)
	}
	dst = append(dst, `,"text":`...)
	dst = report.AppendText(dst, f.Text)
	dst = append(dst, `,"kept":`...)
	dst = strconv.AppendBool(dst, f.Kept)
	dst = append(dst, `,"stack":`...)
	dst = strconv.AppendBool(dst, f.Stack)
	return append(f.Rules.AppendMember(dst), '}')
}
