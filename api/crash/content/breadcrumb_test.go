package content

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBreadcrumbs(t *testing.T) {
	t.Parallel()
	crashed := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	at := crashed.Unix()
	for what, c := range map[string]struct{ document, want string }{
		"in the report": {fmt.Sprintf(`{"breadcrumbs":[{"timestamp":%d,"type":"click","level":"info","message":"Pay"}]}`, at-2),
			"-2000 click info Pay"},
		"in annotations, by time": {fmt.Sprintf(`{"annotations":{"Breadcrumbs":{"values":[{"time":%d,"category":"b","text":"2"},
			{"time":"2026-11-02T09:59:00Z","category":"a","name":"1"}]}}}`, (at-1)*1000), "-60000 a  1|-1000 b  2"},
		"without a time": {`{"breadcrumbs":[{"message":"x"},{"timestamp":-5,"message":"y"},{"timestamp":1e300,"message":"z"}]}`,
			"?   x|?   y|?   z"},
		"of another shape": {`{"breadcrumbs":"none","annotations":{"breadcrumbs":[1,2],"breadcrumb":{"values":7}}}`, ""},
		"no document":      {`{"breadcrumbs":[`, ""},
	} {
		steps, omitted := breadcrumbsOf(c.document, &crashed)
		var got []string
		for _, s := range steps {
			offset := "?"
			if s.OffsetMS != nil {
				offset = fmt.Sprint(*s.OffsetMS)
			}
			got = append(got, offset+" "+s.Type+" "+s.Level+" "+s.Message)
		}
		require.Equal(t, c.want, strings.Join(got, "|"), what)
		require.Zero(t, omitted, what)
	}
	many := `{"breadcrumbs":[` + strings.Repeat(`{"message":"`+strings.Repeat("x", 2000)+`"},`, 149) + `{"message":"last"}]}`
	steps, omitted := breadcrumbsOf(many, nil)
	require.Len(t, steps, maxBreadcrumbs)
	require.Equal(t, 50, omitted)
	require.Equal(t, "last", steps[99].Message)
	require.Len(t, steps[0].Message, maxBreadcrumbText)
}

func breadcrumbsOf(document string, crashed *time.Time, files ...json.RawMessage) ([]Breadcrumb, int) {
	v := BesideOf([]byte(document), crashed, files)
	return v.Breadcrumbs, v.BreadcrumbsOmitted
}

// A device whose clock is wrong has its own times in the report: what is shown is how long
// before the crash a step was, and when that is by the time of the crash as it is stored.
func TestBreadcrumbsOfAWrongClock(t *testing.T) {
	t.Parallel()
	crashed := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	steps, _ := breadcrumbsOf(`{"timestamp":1000,"breadcrumbs":[{"timestamp":997.5,"message":"x","data":{"url":"/pay"}},
		{"timestamp":1001,"data":{"large":"`+strings.Repeat("x", 3000)+`"}}]}`, &crashed)
	require.Len(t, steps, 2)
	require.EqualValues(t, -2500, *steps[0].OffsetMS)
	require.Equal(t, crashed.Add(-2500*time.Millisecond), *steps[0].At)
	require.JSONEq(t, `{"url":"/pay"}`, string(steps[0].Data))
	require.EqualValues(t, 1000, *steps[1].OffsetMS)
	require.Nil(t, steps[1].Data)
	steps, _ = breadcrumbsOf(`{"timestamp":1000,"breadcrumbs":[{"timestamp":999}]}`, nil)
	require.EqualValues(t, -1000, *steps[0].OffsetMS, "while it is not processed")
	require.EqualValues(t, 999, steps[0].At.Unix())
}

// The clients of Node and of browsers send breadcrumbs as files.
func TestBreadcrumbsOfFiles(t *testing.T) {
	t.Parallel()
	crashed := time.Unix(1700000000, 0)
	lines := BreadcrumbList([]byte(`{"id":1,"message":"b","timestamp":1699999999000,"type":"log","level":"info"}` + "\r\n\n" +
		`{"id":2,"message":"c","timestamp":1699999999500,"attributes":{"a":1}}` + "\n" + `{"id":3,"mess`))
	array := BreadcrumbList([]byte(` [{"message":"a","timestamp":1699999998000}]`))
	steps, _ := breadcrumbsOf(`{"timestamp":1700000000}`, &crashed, lines, array, BreadcrumbList([]byte("[")),
		BreadcrumbList(nil), BreadcrumbList([]byte{0}))
	require.Len(t, steps, 3)
	for i, want := range []string{"a -2000", "b -1000", "c -500"} {
		require.Equal(t, want, fmt.Sprint(steps[i].Message, " ", *steps[i].OffsetMS))
	}
	require.JSONEq(t, `{"a":1}`, string(steps[2].Data))
}

func TestAnnotations(t *testing.T) {
	t.Parallel()
	crashed := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	read := func(annotations string) ([]Annotation, int) {
		v := BesideOf([]byte(`{"timestamp":1700000000,"annotations":`+annotations+`}`), &crashed, nil)
		require.LessOrEqual(t, len(v.Annotations), maxAnnotations)
		return v.Annotations, v.AnnotationsOmitted
	}
	list, omitted := read(`{"z":{"n":1.50},"breadcrumbs":[{"message":"x"}],"a":"text","state":{"timestamp":1699999990,"page":"cart"},"Breadcrumbs":"none","a":null}`)
	require.Zero(t, omitted)
	var got []string
	for _, a := range list {
		offset := ""
		if a.OffsetMS != nil {
			offset = fmt.Sprint(" ", *a.OffsetMS)
			require.Equal(t, crashed.Add(-10*time.Second), *a.At)
		}
		got = append(got, a.Name+" "+string(a.Value)+offset)
	}
	require.Equal(t, []string{`z {"n":1.50}`, `a "text"`, `state {"timestamp":1699999990,"page":"cart"} -10000`,
		`Breadcrumbs "none"`, "a null"}, got)

	for annotations, want := range map[string]string{`"free text"`: `"free text"`, `["x",2]`: `"x"|2`, "null": "",
		"[]": "", "{}": "", "7": "7"} {
		list, _ := read(annotations)
		var values []string
		for _, a := range list {
			require.Empty(t, a.Name)
			values = append(values, string(a.Value))
		}
		require.Equal(t, want, strings.Join(values, "|"), annotations)
	}
	long, _ := read(`{"a":"` + strings.Repeat("x", maxAnnotation) + `","b":1}`)
	require.True(t, long[0].Truncated)
	require.Equal(t, "null", string(long[0].Value))
	require.False(t, long[1].Truncated)
	many, omitted := read(`[` + strings.Repeat(`"`+strings.Repeat("x", 5000)+`",`, 999) + `1]`)
	require.Len(t, many, maxAnnotations)
	require.Equal(t, 1000-maxAnnotations, omitted)
	text, err := json.Marshal(many)
	require.NoError(t, err)
	require.Less(t, len(text), maxAnnotationBytes+maxAnnotations*100)
}
