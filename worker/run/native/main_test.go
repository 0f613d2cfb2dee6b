package native_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/appium"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

const (
	android, ios = "Android", "iOS"
	shopID       = "com.example.shop"
)

// shop is an app with a button, a list of thirty rows of which ten are seen, and a field.
type shop struct {
	*appium.App
	button, list, field *appium.Element
	taps, presses       int
	swipes              []string
	first               int // the row that is seen first
}

// element returns an element with its place, as the drivers of a platform have it.
func element(platform, class string, x, y, width, height int, attributes ...string) *appium.Element {
	e := &appium.Element{Class: class, Attributes: map[string]string{}}
	if platform == android {
		e.Attributes["bounds"] = fmt.Sprintf("[%d,%d][%d,%d]", x, y, x+width, y+height)
	} else {
		for name, n := range map[string]int{"x": x, "y": y, "width": width, "height": height} {
			e.Attributes[name] = strconv.Itoa(n)
		}
	}
	for i := 0; i+1 < len(attributes); i += 2 {
		e.Attributes[attributes[i]] = attributes[i+1]
	}
	return e
}

func newShop(platform string) *shop {
	s := &shop{}
	screen, text, name := "android.widget.FrameLayout", "android.widget.TextView", "text"
	s.button = element(platform, "android.widget.Button", 100, 100, 200, 100, "text", "Save")
	s.list = element(platform, "android.widget.ListView", 0, 300, 1080, 1200)
	s.field = element(platform, "android.widget.EditText", 0, 1600, 1080, 100)
	if platform == ios {
		screen, text, name = "XCUIElementTypeApplication", "XCUIElementTypeStaticText", "label"
		s.button.Class, s.list.Class, s.field.Class = "XCUIElementTypeButton", "XCUIElementTypeTable", "XCUIElementTypeTextField"
		s.button.Attributes = element(platform, "", 100, 100, 200, 100, "label", "Save").Attributes
	}
	count := element(platform, text, 400, 100, 200, 100, name, "0")
	s.button.Tapped = func() { s.taps++; count.Attributes[name] = strconv.Itoa(s.taps) }
	s.button.Pressed = func() { s.presses++; count.Attributes[name] = "pressed" }
	s.show(platform, text, name)
	s.list.Swiped = func(x, y int) {
		s.swipes = append(s.swipes, fmt.Sprintf("%d,%d", x, y))
		switch {
		case y < 0:
			s.first = min(s.first+6, 20)
		case y > 0:
			s.first = max(s.first-6, 0)
		}
		s.show(platform, text, name)
	}
	root := element(platform, screen, 0, 0, 1080, 1920)
	root.Children = []*appium.Element{s.button, count, s.list, s.field}
	s.App = &appium.App{Platform: platform, Root: root, States: map[string]int{shopID: appium.Foreground,
		"com.example.maps": appium.NotRunning}}
	s.Pinched = func(apart bool) { count.Attributes[name] = fmt.Sprint("apart ", apart) }
	return s
}

// show fills the list with the rows that are seen.
func (s *shop) show(platform, class, name string) {
	s.list.Children = nil
	for i := range 10 {
		s.list.Children = append(s.list.Children, element(platform, class, 0, 300+120*i, 1080, 120, name, fmt.Sprintf("Row %d", s.first+i+1)))
	}
}

// lease returns a session of the shop.
func (s *shop) lease(t *testing.T) *browser.Lease {
	t.Helper()
	server := appium.Serve(s.App)
	t.Cleanup(server.Close)
	return session(t, server.URL, map[string]any{"platformName": s.Platform, "appium:app": "shop",
		"appium:appPackage": shopID, "appium:bundleId": shopID})
}

func session(t *testing.T, url string, capabilities map[string]any) *browser.Lease {
	t.Helper()
	c, err := webdriver.New(webdriver.Config{URL: url})
	require.NoError(t, err)
	opened, err := c.NewSession(t.Context(), capabilities)
	require.NoError(t, err)
	return &browser.Lease{Session: opened, Mobile: true}
}

// steps reads tools of steps.
func steps(t *testing.T, tools ...string) []step.Step {
	t.Helper()
	list := make([]step.Step, len(tools))
	for i, text := range tools {
		require.NoError(t, json.Unmarshal([]byte(`{"tool":`+text+`}`), &list[i]), text)
	}
	require.NoError(t, step.Validate(list))
	return list
}

// play plays steps in a session. The limits are for a machine that does much else.
func play(t *testing.T, cfg replay.Config) replay.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if cfg.StepTimeout == 0 {
		cfg.StepTimeout, cfg.AssertTimeout = time.Minute, time.Minute
	}
	return replay.Play(ctx, cfg)
}

// passes plays tools, which must pass; it returns their messages.
func (s *shop) passes(t *testing.T, tools ...string) (messages []string) {
	t.Helper()
	r := play(t, replay.Config{Lease: s.lease(t), Steps: steps(t, tools...)})
	require.Equal(t, "PASSED", r.Status, "%s: %s", r.Code, r.Message)
	for _, record := range r.Records {
		messages = append(messages, record.Result.Message)
	}
	return messages
}

// fails plays tools of which the last one must fail, in a second.
func (s *shop) fails(t *testing.T, tools ...string) replay.Result {
	t.Helper()
	list := steps(t, tools...)
	list[len(list)-1].TimeoutMS = 1000
	r := play(t, replay.Config{Lease: s.lease(t), Steps: list})
	require.Equal(t, "FAILED", r.Status, "%s: %s", r.Code, r.Message)
	return r
}
