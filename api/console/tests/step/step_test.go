package step

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStepsInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]string{
		`{"type":"go_to_url","args":{"url":"/a"}}`: {"Open", "", "/a"},
		`{"type":"input_text","args":{"selector":{"type":"label","value":"Email"},"text":"a@b.c"}}`: {
			"Type into", `label "Email"`, "a@b.c"},
		`{"type":"click","args":{"selector":{"type":"role","value":"button","name":"Save","index":-1,"within":{"type":"css","value":"form"}}}}`: {
			"Click", `button "Save" in css form, the last`, ""},
		`{"type":"assert","args":{"selector":{"type":"css","value":"h1"},"not":true,"matcher":{"name":"visible"}}}`: {
			"Check", "css h1", "is not visible"},
		`{"type":"assert","args":{"selector":{"type":"css","value":"#name"},"matcher":{"name":"focused"}}}`: {
			"Check", "css #name", "is focused"},
		`{"type":"assert","args":{"matcher":{"name":"url","args":{"value":"/done","mode":"contains"}}}}`: {
			"Check", "", `url contains "/done"`},
		`{"type":"assert","args":{"selector":{"type":"css","value":"li"},"matcher":{"name":"count","args":{"value":"3","mode":"at_least"}}}}`: {
			"Check", "css li", "count at least 3"},
		`{"type":"in_frame","args":{"selector":{"type":"css","value":"iframe"},"tool":
			{"type":"in_shadow_root","args":{"selector":{"type":"css","value":"x-app"},"tool":
			{"type":"click","args":{"selector":{"type":"text","value":"Go","exact":true}}}}}}}`: {
			"Click", `text "Go" exactly in the shadow root of css x-app in the frame css iframe`, ""},
		`{"type":"drag","args":{"selector":{"type":"css","value":"#a"},"target":{"type":"css","value":"#b"}}}`: {"Drag", "css #a to css #b", ""},
		`{"type":"set_viewport","args":{"width":390,"height":844}}`: {"Resize the window",
			"", "390 × 844"},
		`{"type":"pause","args":{"time":500}}`:                             {"Wait", "", "500 ms"},
		`{"type":"handle_dialog","args":{"action":"accept","text":"yes"}}`: {"Answer the dialog", "", "accept yes"},
		`{"type":"switch_window","args":{"matcher":{"name":"new"}}}`:       {"Switch to the window", "", "new"},
		`{"type":"tap","args":{"selector":{"type":"xpath","value":"//a"},"point":{"x":0.5,"y":1},"clickCount":2}}`: {
			"Tap", "xpath //a", "at 50 %, 100 % 2 times"},
		`{"type":"swipe","args":{"start":{"x":0,"y":0.5},"end":{"x":1,"y":0.5},"time":300}}`: {
			"Swipe", "", "from 0 %, 50 % to 100 %, 50 % for 300 ms"},
		`{"type":"scroll_to","args":{"selector":{"type":"xpath","value":"//a"},"container":{"type":"xpath","value":"//b"},"direction":"up","max":5}}`: {
			"Scroll to", "xpath //a in xpath //b", "up in at most 5 swipes"},
		`{"type":"set_permissions","args":{"grant":["camera"],"revoke":["contacts","photos"],"appId":"com.a.b"}}`: {
			"Set permissions", "", "of com.a.b: grant camera revoke contacts, photos"},
		`{"type":"deep_link","args":{"url":"shop://x","appId":"com.a.b"}}`: {"Open the link", "", "shop://x in com.a.b"},
		`{"type":"rotate","args":{"orientation":"landscape"}}`:             {"Turn the screen to", "", "landscape"},
		`{"type":"switch_context","args":{"name":"native"}}`:               {"Switch to the context", "", "native"},
		`{"type":"press_device_key","args":{"key":"back"}}`:                {"Press the device's key", "", "back"},
		`{"type":"background","args":{"time":3000}}`:                       {"Leave the app for", "", "3000 ms"},
		`{"type":"assert","args":{"selector":{"type":"css","value":"#box"},"matcher":{"name":"looks_like","args":{"name":"dark"}}}}`: {
			"Check", "css #box", "looks as accepted dark"},
		`{"type":"assert","args":{"matcher":{"name":"accessible","args":{"impact":"serious"}}}}`: {"Check", "", "is accessible"},
		`{"type":"wait_for_response","args":{"url":"**/api/cart","method":"POST","status":200}}`: {"Wait for the response",
			"", "POST **/api/cart with the status 200"},
		`{"type":"wait_for_download","args":{"name":"*.csv"}}`: {"Wait for the download", "", "*.csv"},
		`{"type":"route","args":{"url":"**/api/cart","method":"POST","answer":{"status":503,"json":{"error":"closed"}},"delay":100,"times":2}}`: {
			"Answer requests of", "", "POST **/api/cart with the status 503 after 100 ms, 2 times"},
		`{"type":"route","args":{"url":"**","abort":"failed"}}`: {"Answer requests of", "", "** by failing: failed"},
		`{"type":"route","args":{"url":"**/a","change":{"urlTo":"/b","status":404}}}`: {"Answer requests of", "",
			"**/a from /b with the status 404"},
		`{"type":"reset_app","args":{}}`: {"Reset the app", "", ""},
		`{"type":"assert","args":{"not":true,"matcher":{"name":"app_state","args":{"value":"not_running","name":"com.a.b"}}}}`: {"Check", "",
			"app com.a.b is not not running"},
		`{"type":"of_tomorrow","args":{}}`: {"of tomorrow", "", ""},
	} {
		var one Tool
		require.NoError(t, json.Unmarshal([]byte(text), &one))
		require.Equal(t, want, [3]string{one.Action(), one.Place(), one.Value()}, text)
	}
}
