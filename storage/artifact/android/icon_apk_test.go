package android

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

// iconAPK reads a package with the icons iconID and roundID.
func iconAPK(t testing.TB, table []resource, files ...packed) []byte {
	t.Helper()
	app := node("application").with("icon", ref(iconID)).with("roundIcon", ref(roundID))
	entries := append([]packed{
		{name: manifestName, data: manifestOf(app).bin()},
		{name: tableName, data: writtenTable(table, 0, false)},
	}, files...)
	return mustAPK(t, entries...).Icon
}

func TestChoosesAmongIcons(t *testing.T) {
	t.Parallel()
	adaptive := node("adaptive-icon", node("background").with("drawable", hue(0xff0000ff)),
		node("foreground").with("drawable", hue(0xff0000ff))).bin()
	png := func(c color.NRGBA) []byte { return square(t, 32, c) }
	for name, c := range map[string]struct {
		table []resource
		files []packed
	}{
		"the largest": {[]resource{
			{id: iconID, config: config{Density: 160}, value: text("1")},
			{id: iconID, config: config{Density: 480}, value: text("2")},
			{id: iconID, config: config{Density: 240}, value: text("3")},
			{id: iconID, config: config{Density: densityNone}, value: text("4")},
		}, []packed{{name: "1", data: png(red)}, {name: "2", data: png(green)}, {name: "3", data: png(red)}, {name: "4", data: png(red)}}},
		"images before documents": {[]resource{
			{id: iconID, config: config{Density: densityAny, SDK: 26}, value: text("1.xml")},
			{id: iconID, config: config{Density: 120}, value: text("2.png")},
		}, []packed{{name: "1.xml", data: adaptive}, {name: "2.png", data: png(green)}}},
		"the default locale": {[]resource{
			{id: iconID, config: config{Locale: "de", Density: 640}, value: text("1")},
			{id: iconID, config: config{Density: 120}, value: text("2")},
		}, []packed{{name: "1", data: png(red)}, {name: "2", data: png(green)}}},
		"the next when one is broken": {[]resource{
			{id: iconID, config: config{Density: 640}, value: text("1")},
			{id: iconID, config: config{Density: 120}, value: text("2")},
		}, []packed{{name: "1", data: png(red)[:40]}, {name: "2", data: png(green)}}},
		"through an alias": {[]resource{
			{id: iconID, value: ref(roundID + 1)},
			{id: roundID + 1, config: config{Density: 120}, value: text("1")},
			{id: roundID + 1, config: config{Density: 240}, value: text("2")},
		}, []packed{{name: "1", data: png(red)}, {name: "2", data: png(green)}}},
		"the round one at last": {[]resource{
			{id: iconID, value: text("1.xml")},
			{id: roundID, value: text("2")},
		}, []packed{{name: "1.xml", data: node("nothing").bin()}, {name: "2", data: png(green)}}},
		"a document that is no XML by name": {[]resource{
			{id: iconID, value: text("res/x")},
			{id: roundID, value: text("2")},
		}, []packed{{name: "res/x", data: bytes.ReplaceAll(adaptive, []byte{0xff, 0, 0, 0xff}, []byte{0, 0xff, 0, 0xff})},
			{name: "2", data: png(red)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := iconAPK(t, c.table, c.files...)
			require.NotNil(t, made)
			require.Equal(t, green, shownAt(t, made, 0.5, 0.5))
		})
	}
}

func TestDrawsOtherDrawables(t *testing.T) {
	t.Parallel()
	dp := func(n uint32) value { return value{Type: typeDimension, Data: n<<8 | 1} }
	percent := func(n uint32) value { return value{Type: typeFraction, Data: n*(1<<31/100)&^0xff | 0x30} }
	table := []resource{{id: iconID, value: text("icon.xml")}, {id: colorID, value: text("green.png")}}
	clear := color.NRGBA{}
	for name, c := range map[string]struct {
		tree *element
		want color.NRGBA // in the middle
		edge color.NRGBA // at the left
	}{
		"a bitmap":       {node("bitmap").with("src", ref(colorID)), green, green},
		"an inset image": {node("inset").with("drawable", ref(colorID)).with("insetLeft", dp(27)), green, clear},
		"an inset colour": {node("inset", node("color").with("color", hue(0xff00ff00))).
			with("inset", percent(25)), green, clear},
		"a placed item": {node("layer-list", node("item").with("drawable", ref(colorID)).with("left", text("30dp"))), green, clear},
		"an oval": {node("shape", node("solid").with("color", hue(0xff00ff00))).with("shape", num(1)).
			with("width", num(1)), green, green},
		"no background": {node("adaptive-icon", node("foreground", node("inset").with("drawable", hue(0xff00ff00)).
			with("insetLeft", percent(40)))), green, white},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := iconAPK(t, table, packed{name: "icon.xml", data: c.tree.bin()}, packed{name: "green.png", data: square(t, 54, green)})
			require.NotNil(t, made)
			require.Equal(t, c.want, shownAt(t, made, 0.5, 0.5))
			require.Equal(t, c.edge, shownAt(t, made, 0.1, 0.5))
		})
	}
	for name, tree := range map[string]*element{
		"only a colour":     node("color").with("color", hue(0xff00ff00)),
		"no foreground":     node("adaptive-icon", node("background").with("drawable", hue(0xff00ff00))),
		"an empty list":     node("layer-list"),
		"an empty shape":    node("shape"),
		"a vector of none":  vectorOf(),
		"a missing file":    node("bitmap").with("src", text("missing.png")),
		"a broken bitmap":   node("bitmap").with("src", text("icon.xml")),
		"inset of nothing":  node("inset"),
		"a missing drawing": node("bitmap").with("src", ref(0x7f7f7f7f)),
	} {
		require.Nil(t, iconAPK(t, table, packed{name: "icon.xml", data: tree.bin()}), name)
	}
}

// box is a path that fills a rectangle.
func box(data string, fill value) *element {
	return node("path").with("pathData", text(data)).with("fillColor", fill)
}

func vectorOf(children ...*element) *element {
	return node("vector", children...).with("viewportWidth", num(100)).with("viewportHeight", num(100))
}

// An adaptive icon of which every layer is a drawable of another kind shows green
// on the left and blue on the right.
func TestDrawsAdaptiveIcons(t *testing.T) {
	t.Parallel()
	left := "M0,0h50v100h-50z"
	table := []resource{
		{id: iconID, config: config{Density: densityAny}, value: text("icon.xml")},
		{id: colorID, value: hue(0xff0000ff)},
		{id: colorID + 1, config: config{Density: 160}, value: text("small.png")},
		{id: colorID + 1, config: config{Density: 320}, value: text("half.png")},
		{id: colorID + 2, value: text("vector.xml")},
		{id: colorID + 3, value: text("res/states.xml")},
		{id: colorID + 4, value: text("#00f")},
	}
	half := image.NewNRGBA(image.Rect(0, 0, 108, 108))
	for i := range 108 * 54 {
		half.SetNRGBA(i%54, i/54, green)
	}
	files := []packed{
		{name: "small.png", data: square(t, 10, red)},
		{name: "half.png", data: pngOf(t, half)},
		{name: "vector.xml", data: vectorOf(box(left, hue(0xff00ff00))).bin()},
		{name: "res/states.xml", data: node("selector",
			node("item").with("color", hue(0xffff0000)), node("item").with("color", ref(colorID))).bin()},
	}
	plain := func(v value) *element { return node("").with("drawable", v) }
	backgrounds := map[string]*element{
		"a colour":          plain(hue(0xff0000ff)),
		"a resource":        plain(ref(colorID)),
		"text":              plain(ref(colorID + 4)),
		"a colour drawable": node("", node("color").with("color", ref(colorID+3))),
		"a shape":           node("", node("shape", node("solid").with("color", ref(colorID)))),
		"a gradient shape": node("", node("shape", node("gradient").
			with("startColor", ref(colorID)).with("endColor", hue(0xff0000ff)))),
	}
	foregrounds := map[string]*element{
		"an image":    plain(ref(colorID + 1)),
		"a bitmap":    node("", node("bitmap").with("src", ref(colorID+1))),
		"a vector":    plain(ref(colorID + 2)),
		"in place":    node("", vectorOf(box(left, hue(0xff00ff00)))),
		"an inset":    node("", node("inset").with("drawable", ref(colorID+2)).with("insetTop", value{Type: typeDimension, Data: 10<<8 | 1})),
		"a list":      node("", node("layer-list", node("item", node("vector")), node("item").with("drawable", ref(colorID+2)))),
		"a long list": node("", node("layer-list", node("item").with("drawable", hue(0)), node("item").with("drawable", ref(colorID+2)))),
		"a mixed list": node("", node("layer-list", node("item").with("drawable", ref(colorID+2)),
			node("item").with("drawable", ref(colorID+1)))),
		"a selector": node("", node("selector", node("item").with("drawable", hue(0xffff0000)), node("item").with("drawable", ref(colorID+2)))),
		"animated":   node("", node("animated-vector").with("drawable", ref(colorID+2))),
	}
	for back, b := range backgrounds {
		for front, f := range foregrounds {
			t.Run(front+" on "+back, func(t *testing.T) {
				t.Parallel()
				b, f := *b, *f
				b.Name, f.Name = "background", "foreground"
				made := iconAPK(t, table, append(files, packed{name: "icon.xml", data: node("adaptive-icon", &b, &f).bin()})...)
				require.NotNil(t, made)
				require.Equal(t, green, shownAt(t, made, 0.3, 0.5))
				require.Equal(t, blue, shownAt(t, made, 0.7, 0.5))
			})
		}
	}
}

func TestDrawsPlainVectors(t *testing.T) {
	t.Parallel()
	made := iconAPK(t, []resource{{id: iconID, value: text("v.xml")}},
		packed{name: "v.xml", data: vectorOf(box("M0,0h50v100h-50z", hue(0xff00ff00)), box("M50,0h50v100h-50z", hue(0xff0000ff))).bin()})
	require.Equal(t, green, shownAt(t, made, 0.2, 0.5))
	require.Equal(t, blue, shownAt(t, made, 0.8, 0.5))
}

func TestVectors(t *testing.T) {
	t.Parallel()
	gradients := documents{
		"res/gradient.xml": node("gradient").with("startColor", hue(0xff112233)).with("endColor", hue(0x80445566)).
			with("startX", num(1)).with("startY", num(2)).with("endX", num(3)).with("endY", num(4)),
		"res/stops.xml": node("gradient", node("item").with("color", hue(0xff000001)), node("item").with("color", hue(0xff000002))),
	}
	float := func(s string) value { return text(s) }
	path := func() *element { return box("M0,0h1v1z", hue(0xff0000ff)) }
	wantPath := func(change func(p *icon.Path)) icon.Path {
		p := icon.Path{Data: "M0,0h1v1z", Fill: blue, Transform: identity}
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		tree *element
		want []icon.Path
	}{
		"plain": {vectorOf(path()), []icon.Path{wantPath(func(*icon.Path) {})}},
		"moved twice": {vectorOf(node("group", node("group", path()).with("translateX", num(5))).
			with("translateY", float("2.5")).with("scaleX", num(2)).with("scaleY", num(3))),
			[]icon.Path{wantPath(func(p *icon.Path) { p.Transform = [6]float64{2, 0, 0, 3, 10, 2.5} })}},
		"turned around a pivot": {vectorOf(node("group", path()).with("rotation", num(180)).
			with("pivotX", num(10)).with("pivotY", num(20))),
			[]icon.Path{wantPath(func(p *icon.Path) { p.Transform = [6]float64{-1, 0, 0, -1, 20, 40} })}},
		"scaled to nothing": {vectorOf(path(), node("group", path()).with("scaleX", num(0))),
			[]icon.Path{wantPath(func(*icon.Path) {})}},
		"faded": {vectorOf(path().with("fillAlpha", float("0.5"))),
			[]icon.Path{wantPath(func(p *icon.Path) { p.Fill.A = 128 })}},
		"even and odd": {vectorOf(path().with("fillType", num(1))),
			[]icon.Path{wantPath(func(p *icon.Path) { p.EvenOdd = true })}},
		"stroked only": {vectorOf(node("path").with("pathData", text("M0,0h1")).with("strokeColor", text("#F00")).with("strokeWidth", num(2))),
			[]icon.Path{{Data: "M0,0h1", Stroke: red, StrokeWidth: 2, Transform: identity}}},
		"tinted": {vectorOf(path()).with("tint", hue(0xffff0000)),
			[]icon.Path{wantPath(func(p *icon.Path) { p.Fill = red })}},
		"linear gradient": {vectorOf(box("M0,0h1v1z", text("res/gradient.xml"))),
			[]icon.Path{wantPath(func(p *icon.Path) {
				p.Fill = color.NRGBA{}
				p.Gradient = []color.NRGBA{{0x11, 0x22, 0x33, 0xff}, {0x44, 0x55, 0x66, 0x80}}
				p.GradientLine = [4]float64{1, 2, 3, 4}
			})}},
		"stops": {vectorOf(box("M0,0h1v1z", text("res/stops.xml"))),
			[]icon.Path{wantPath(func(p *icon.Path) {
				p.Fill = color.NRGBA{}
				p.Gradient = []color.NRGBA{{0, 0, 1, 0xff}, {0, 0, 2, 0xff}}
			})}},
		"gradient in place": {vectorOf(node("path", node("attr", node("gradient").with("startColor", hue(0xff000009))).
			with("name", text("android:fillColor"))).with("pathData", text("M0,0h1v1z"))),
			[]icon.Path{wantPath(func(p *icon.Path) {
				p.Fill = color.NRGBA{}
				p.Gradient = []color.NRGBA{{0, 0, 9, 0xff}}
			})}},
		"colour of a theme": {vectorOf(box("M0,0h1v1z", value{Type: typeAttribute, Data: 0x7f010000})),
			[]icon.Path{wantPath(func(p *icon.Path) { p.Fill = unknown })}},
		"colour of Android": {vectorOf(box("M0,0h1v1z", ref(0x0106000b))),
			[]icon.Path{wantPath(func(p *icon.Path) { p.Fill = white })}},
		"nothing to see": {vectorOf(box("", hue(0xff000000)), box("M0,0h1", hue(0)), node("clip-path")), nil},
		"no viewport":    {node("vector", path()).with("viewportWidth", num(0)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := (newDrawer(t.Context(), icon.NewDecoder(1), gradients)).vector(c.tree)
			if c.want == nil {
				require.ErrorIs(t, err, errDrawable)
				return
			}
			require.NoError(t, err)
			require.Len(t, v.Paths, len(c.want))
			for i, p := range v.Paths {
				require.InDeltaSlice(t, c.want[i].Transform[:], p.Transform[:], 1e-9)
				p.Transform = c.want[i].Transform
				require.Equal(t, c.want[i], p)
			}
		})
	}
}

// documents are resources that are only files.
type documents map[string]*element

func (documents) candidates(uint32) []candidate { return nil }

func (d documents) drawable(path string) (*element, []byte, error) {
	if e := d[path]; e != nil {
		return e, nil, nil
	}
	return nil, nil, errDrawable
}

// Drawables that hold each other end.
func TestDrawablesInCircles(t *testing.T) {
	t.Parallel()
	d := documents{}
	many := node("layer-list")
	for range 100 {
		many.Children = append(many.Children, node("item").with("drawable", text("a.xml")))
	}
	d["a.xml"] = many
	_, err := readIcon(t.Context(), icon.NewDecoder(1), d, []value{text("a.xml")})
	require.Error(t, err)
	d["b.xml"] = node("selector", node("item").with("color", text("res/b.xml")))
	d["res/b.xml"] = d["b.xml"]
	require.Equal(t, unknown, (newDrawer(t.Context(), icon.NewDecoder(1), d)).color(text("res/b.xml")))
}

func TestColors(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]color.NRGBA{
		"#f00":      red,
		"#8f00":     {R: 255, A: 0x88},
		"#ff0000":   red,
		"#80ff0000": {R: 255, A: 0x80},
	} {
		c, ok := parseColor(s)
		require.True(t, ok, s)
		require.Equal(t, want, c, s)
	}
	for _, s := range []string{"", "#", "red", "#12345", "#gggggg", "#123456789", "@color/a"} {
		_, ok := parseColor(s)
		require.False(t, ok, s)
	}
}
