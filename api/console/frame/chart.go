package frame

import (
	"fmt"
	"html/template"
	"strings"
)

// Bar is one bar of a chart: its label, and the parts that stand on each other.
type Bar struct {
	Label string
	Link  string // where the bar leads; "": nowhere
	Parts []Part
}

// Part is a part of a bar. Series is its number, from 0 to 5, which chooses the colour and
// the pattern; Name is what it counts.
type Part struct {
	Series int
	Name   string
	Value  int64
}

// The size of a chart: its height in pixels, and the width of a bar in percent of the page's
// room. So a chart fills what there is, and its text has one size on a phone and on a desk.
const (
	chartHeight  = 160
	chartFoot    = 18
	chartTop     = 16 // room for the number of the highest bar
	chartLabels  = 8  // on a phone every second one is left out
	maxBars      = 400
	maxBarWidth  = 6.0
	longestLabel = 14
)

// Bars draws bars as SVG, with a title for each, and the numbers as a table behind it.
func Bars(title string, bars []Bar) template.HTML {
	if len(bars) > maxBars {
		bars = bars[len(bars)-maxBars:]
	}
	var most int64 = 1
	total := func(b Bar) (n int64) {
		for _, p := range b.Parts {
			n += p.Value
		}
		return n
	}
	for _, b := range bars {
		most = max(most, total(b))
	}
	var svg, table strings.Builder
	esc := template.HTMLEscapeString
	fmt.Fprintf(&svg, `<figure class="chart"><svg height="%d" role="img" aria-label="%s">`, chartHeight, esc(title))
	svg.WriteString(`<title>` + esc(title) + `</title>`)
	const ground = chartHeight - chartFoot
	fmt.Fprintf(&svg, `<line class="axis" x1="0" x2="100%%" y1="%d" y2="%d"/>`, ground, ground)
	fmt.Fprintf(&svg, `<line class="axis rule" x1="0" x2="100%%" y1="%d" y2="%d"/>`, chartTop, chartTop)
	fmt.Fprintf(&svg, `<text class="scale" x="0" y="%d">%s</text>`, chartTop-5, Number(most))
	step := 100 / float64(max(1, len(bars)))
	width := min(step*0.8, maxBarWidth)
	every := max(1, (len(bars)+chartLabels-1)/chartLabels)
	for i, b := range bars {
		x, y := float64(i)*step+(step-width)/2, float64(ground)
		hover := b.Label
		var rects strings.Builder
		for _, p := range b.Parts {
			if p.Value <= 0 {
				continue
			}
			height := float64(p.Value) / float64(most) * float64(ground-chartTop)
			height = max(1, height)
			y -= height
			fmt.Fprintf(&rects, `<rect class="s%d" x="%.2f%%" y="%.1f" width="%.2f%%" height="%.1f"/>`, p.Series%6, x, y, width, height)
			hover += "\n" + p.Name + ": " + Number(p.Value)
		}
		fmt.Fprintf(&rects, `<rect class="hit" x="%.2f%%" y="0" width="%.2f%%" height="%d"><title>%s</title></rect>`,
			float64(i)*step, step, ground, esc(hover))
		if b.Link != "" {
			svg.WriteString(`<a href="` + esc(b.Link) + `" aria-label="` + esc(strings.ReplaceAll(hover, "\n", ", ")) +
				`">` + rects.String() + `</a>`)
		} else {
			svg.WriteString(rects.String())
		}
		if i%every == 0 {
			fmt.Fprintf(&svg, `<text class="%s" text-anchor="middle" x="%.2f%%" y="%d">%s</text>`,
				labelClass(i/every), x+width/2, chartHeight-4, esc(clipped(b.Label)))
		}
	}
	svg.WriteString(`</svg>`)
	svg.WriteString(legend(bars))
	table.WriteString(`<details class="data"><summary>Show data</summary><div class="scroll"><table><thead><tr><th>` +
		esc(title) + `</th><th class="n">Number</th><th>Parts</th></tr></thead><tbody>`)
	for _, b := range bars {
		var parts []string
		for _, p := range b.Parts {
			if p.Value != 0 {
				parts = append(parts, esc(p.Name)+" "+Number(p.Value))
			}
		}
		table.WriteString(`<tr><td>` + esc(b.Label) + `</td><td class="n">` + Number(total(b)) + `</td><td>` +
			strings.Join(parts, ", ") + `</td></tr>`)
	}
	table.WriteString(`</tbody></table></div></details></figure>`)
	return template.HTML(svg.String() + table.String())
}

// labelClass marks every second label, for which a phone has no room.
func labelClass(n int) string {
	if n%2 == 1 {
		return "label odd"
	}
	return "label"
}

// clipped is as much of a label as has room below its bar; the whole stands on hover.
func clipped(label string) string {
	if runes := []rune(label); len(runes) > longestLabel {
		return string(runes[:longestLabel-1]) + "…"
	}
	return label
}

// legend names the series of a chart that has more than one.
func legend(bars []Bar) string {
	names, order := map[int]string{}, []int{}
	for _, b := range bars {
		for _, p := range b.Parts {
			if _, ok := names[p.Series%6]; !ok && p.Value > 0 {
				names[p.Series%6] = p.Name
				order = append(order, p.Series%6)
			}
		}
	}
	if len(order) < 2 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<ul class="legend">`)
	for _, series := range order {
		fmt.Fprintf(&b, `<li><svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class="s%d" width="10" height="10"/></svg>%s</li>`,
			series, template.HTMLEscapeString(names[series]))
	}
	b.WriteString(`</ul>`)
	return b.String()
}

// Sparkline draws a row of numbers as a small line, with the numbers as its text.
func Sparkline(title string, values []int64) template.HTML {
	if len(values) == 0 {
		return ""
	}
	var most int64 = 1
	for _, v := range values {
		most = max(most, v)
	}
	const width, height = 96, 22
	var points, text strings.Builder
	for i, v := range values {
		x := float64(i) * float64(width-2) / float64(max(1, len(values)-1))
		y := float64(height-2) - float64(v)/float64(most)*float64(height-4)
		fmt.Fprintf(&points, "%.1f,%.1f ", x+1, y)
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(Number(v))
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 %d %d" role="img" aria-label="%s: %s"><title>%s: %s</title>`+
		`<polyline points="%s"/></svg>`,
		width, height, template.HTMLEscapeString(title), text.String(), template.HTMLEscapeString(title), text.String(),
		strings.TrimSpace(points.String())))
}
