package appium

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// longPress is how long a finger rests for a long press, as both platforms take it.
const longPress = 500 * time.Millisecond

// moved is how far a finger goes for a swipe.
const moved = 10

// track is what one finger does: where it touches, where it leaves, and for how long.
type track struct {
	x, y, toX, toY float64
	held           time.Duration
}

// perform executes the actions of W3C WebDriver (section 17) as far as fingers have them:
// every source is a pointer of the type touch, its members are those of the standard and no
// others, and all points lie on the screen.
func (a *App) perform(body map[string]any) *protocolError {
	if failed := exact(body, []string{"actions"}, nil); failed != nil {
		return failed
	}
	sources, ok := body["actions"].([]any)
	if !ok || len(sources) == 0 {
		return invalidArgument("actions must be an array")
	}
	var fingers [][]track
	ids := map[string]bool{}
	for _, one := range sources {
		source, ok := one.(map[string]any)
		if !ok {
			return invalidArgument("a source must be an object")
		}
		if failed := exact(source, []string{"type", "id", "parameters", "actions"}, nil); failed != nil {
			return failed
		}
		id, _ := source["id"].(string)
		parameters, _ := source["parameters"].(map[string]any)
		if source["type"] != "pointer" || len(parameters) != 1 || parameters["pointerType"] != "touch" || id == "" || ids[id] {
			return invalidArgument("a finger is a pointer of the type touch with an id of its own")
		}
		ids[id] = true
		tracks, failed := a.finger(source["actions"])
		if failed != nil {
			return failed
		}
		fingers = append(fingers, tracks)
	}
	a.Touches = append(a.Touches, fmt.Sprint(len(fingers)))
	a.act(fingers)
	return nil
}

// finger reads the actions of one finger.
func (a *App) finger(list any) (tracks []track, failed *protocolError) {
	actions, ok := list.([]any)
	if !ok {
		return nil, invalidArgument("the actions of a source must be an array")
	}
	var x, y float64
	var down *track
	for _, one := range actions {
		action, _ := one.(map[string]any)
		ms, _ := action["duration"].(float64)
		switch action["type"] {
		case "pause":
			failed = exact(action, []string{"type"}, []string{"duration"})
		case "pointerDown", "pointerUp":
			failed = exact(action, []string{"type", "button"}, nil)
		case "pointerMove":
			if failed = exact(action, []string{"type", "x", "y"}, []string{"duration", "origin"}); failed != nil {
				break
			}
			x, y, failed = a.point(action)
		default:
			failed = invalidArgument("%v is no action of a pointer", action["type"])
		}
		if failed != nil {
			return nil, failed
		}
		switch {
		case action["type"] == "pointerDown":
			down = &track{x: x, y: y}
		case down == nil:
		case action["type"] == "pointerUp":
			down.toX, down.toY = x, y
			tracks, down = append(tracks, *down), nil
		default:
			down.held += time.Duration(ms) * time.Millisecond
		}
	}
	if down != nil {
		return nil, invalidArgument("the finger stays on the screen")
	}
	return tracks, nil
}

// point reads where a finger moves: whole pixels of the viewport.
func (a *App) point(action map[string]any) (x, y float64, failed *protocolError) {
	x, okX := action["x"].(float64)
	y, okY := action["y"].(float64)
	if !okX || !okY || x != float64(int(x)) || y != float64(int(y)) || action["origin"] != "viewport" {
		return 0, 0, invalidArgument("a point has whole pixels of the viewport")
	}
	width, height := a.size()
	if x < 0 || y < 0 || x >= float64(width) || y >= float64(height) {
		return 0, 0, fail(http.StatusInternalServerError, "move target out of bounds", "(%v, %v) is not on the screen", x, y)
	}
	return x, y, nil
}

// act calls what the elements under the fingers do.
func (a *App) act(fingers [][]track) {
	if len(fingers) == 2 {
		if a.Pinched != nil {
			one, two := fingers[0][0], fingers[1][0]
			a.Pinched(distance(one.toX, one.toY, two.toX, two.toY) > distance(one.x, one.y, two.x, two.y))
		}
		return
	}
	for _, t := range fingers[0] {
		way := a.under(t.x, t.y)
		far := distance(t.x, t.y, t.toX, t.toY) > moved*moved
		for i := len(way) - 1; i >= 0; i-- {
			e := way[i]
			switch {
			case far && e.Swiped != nil:
				e.Swiped(int(t.toX-t.x), int(t.toY-t.y))
			case !far && t.held >= longPress && e.Pressed != nil:
				e.Pressed()
			case !far && t.held < longPress && (e.Tapped != nil || a.field(e)):
				_ = a.tap(e) // one that is not displayed takes no finger
			default:
				continue
			}
			break
		}
	}
}

func distance(x, y, toX, toY float64) float64 { return (toX-x)*(toX-x) + (toY-y)*(toY-y) }

// under returns the innermost element at a point that is displayed, with those around it.
func (a *App) under(x, y float64) (way []*Element) {
	walk(a.Root, nil, func(e *Element, around []*Element) {
		b := box(e)
		if a.displayed(e) && float64(b[0]) <= x && x < float64(b[0]+b[2]) && float64(b[1]) <= y && y < float64(b[1]+b[3]) &&
			len(around) >= len(way) {
			way = append(append([]*Element{}, around...), e)
		}
	})
	return way
}

// box is the place of an element, its width and its height: of bounds, as UiAutomator2 has
// them, or of x, y, width and height as XCUITest.
func box(e *Element) (b [4]int) {
	var toX, toY int
	if n, _ := fmt.Sscanf(e.Attributes["bounds"], "[%d,%d][%d,%d]", &b[0], &b[1], &toX, &toY); n == 4 {
		b[2], b[3] = toX-b[0], toY-b[1]
		return b
	}
	b = [4]int{0, 0, 100, 40}
	for i, name := range []string{"x", "y", "width", "height"} {
		if n, err := strconv.Atoi(e.Attributes[name]); err == nil {
			b[i] = n
		}
	}
	return b
}

// size is that of the screen, which is the outermost element's, turned in landscape.
func (a *App) size() (width, height int) {
	b := box(a.Root)
	if b[2] <= 100 {
		b[2], b[3] = 1080, 1920
	}
	if a.Landscape {
		return b[3], b[2]
	}
	return b[2], b[3]
}
