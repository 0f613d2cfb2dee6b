package page

import (
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// hues are the everyday words for colours that a snapshot calls more narrowly.
var hues = map[string]string{"lime": "green", "navy": "blue", "maroon": "red", "aqua": "cyan", "magenta": "pink",
	"gray": "grey", "silver": "grey", "teal": "green", "olive": "green"}

// mostLook is how wide and high a thing is that is called by its colour: what is larger is ground.
const mostLook = 300

// looks returns what people call an element that has no words by its colour and shape: "red box",
// "blue circle".
func looks(n *snapshot.Node) []string {
	colour := n.Style["background"]
	if colour == "" || n.Style["unsure"] != "" || n.Hidden || n.Box[2] > mostLook || n.Box[3] > mostLook {
		return nil
	}
	shapes := []string{n.Style["shape"]}
	if shapes[0] == "" {
		shapes = []string{"box"}
		if w, h := n.Box[2], n.Box[3]; w > 0 && max(w-h, h-w)*25 <= w {
			shapes = append(shapes, "square")
		}
	}
	var list []string
	for _, c := range []string{colour, hues[colour]} {
		if c == "" {
			continue
		}
		for _, s := range shapes {
			list = append(list, c+" "+s)
		}
		list = append(list, c+" colored")
	}
	return list
}
