package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"
)

// sessionCount is how many sessions the app sends, over thirty days.
const sessionCount = 48

// sessions sends what the app says while testers use it: sessions with events, and feedback.
// Ids follow from the seed and the app, so that sending again adds nothing.
func (f *filler) sessions(ctx context.Context) (string, error) {
	app := f.apps[lampsPackage]
	var answer struct {
		Secret string `json:"secret"`
	}
	if err := f.call(ctx, http.MethodPost, fmt.Sprintf("/api/v3/projects/%d/sdk-tokens", app), map[string]any{"name": "demo"},
		&answer); err != nil {
		return "", err
	}
	header := http.Header{"X-SDK-Token": {answer.Secret}}
	begun := f.projects[androidCrashes].CreatedAt
	err := all(ctx, sessionCount, func(ctx context.Context, i int) error { return f.session(ctx, header, app, i, begun) })
	if err != nil {
		return "", err
	}
	said, err := f.feedback(ctx, header, app)
	return fmt.Sprintf("%d sessions of apps, %d pieces of feedback", sessionCount, said), err
}

// sessionID is the id of a session of an app.
func sessionID(seed uint64, app int64, i int) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "slipway demo session %d %d %d", seed, app, i)).String()
}

func (f *filler) session(ctx context.Context, header http.Header, app int64, i int, begun time.Time) error {
	random := rand.New(rand.NewPCG(f.config.Seed, uint64(2000+i)))
	day := i * (days - 1) / sessionCount
	at := begun.Add(-time.Duration(day)*24*time.Hour - time.Duration(random.IntN(12*3600))*time.Second)
	r := releasesOf(lampsPackage)[0]
	for _, newer := range releasesOf(lampsPackage) {
		if newer.days >= day {
			r = newer
		}
	}
	who := people[i%len(people)]
	crashed := i%9 == 4
	id := sessionID(f.config.Seed, app, i)
	device := []string{"Pixel 8", "Pixel 6a", "Galaxy S24", "Fairphone 5"}[random.IntN(4)]
	start := map[string]any{"session_id": id, "version": r.version, "version_code": fmt.Sprint(r.code), "package": lampsPackage,
		"email":  who.email,
		"device": device, "os": "Android", "os_version": fmt.Sprint(13 + random.IntN(4)), "locale": []string{"de-DE",
			"en-US", "fr-FR"}[random.IntN(3)],
		"start_time": at.Format(time.RFC3339)}
	if err := f.fromApp(ctx, "/api/1/sdk/sessions", header, start); err != nil {
		return err
	}
	var events []any
	after := at
	for _, screen := range []string{"Lamps", "Lamp", "Cart", "Checkout"}[:1+random.IntN(4)] {
		after = after.Add(time.Duration(4+random.IntN(30)) * time.Second)
		events = append(events, map[string]any{"type": "screen", "time": after.UnixMilli(), "text": screen},
			map[string]any{"type": "log", "time": after.Add(time.Second).UnixMilli(), "text": fmt.Sprintf("loaded %d items", random.IntN(40))})
	}
	if crashed {
		events = append(events, map[string]any{"type": "crash", "time": after.UnixMilli(), "text": "divide by zero"})
	}
	if err := f.fromApp(ctx, "/api/1/sdk/sessions/"+id+"/events", header, map[string]any{"seq": 1, "events": events}); err != nil {
		return err
	}
	return f.fromApp(ctx, "/api/1/sdk/sessions/"+id+"/end", header, map[string]any{"duration": after.Sub(at).Seconds(), "crashed": crashed})
}

// fromApp sends what an app sends: with its token, and no key.
func (f *filler) fromApp(ctx context.Context, path string, header http.Header, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return f.send(ctx, http.MethodPost, path, text, "application/json", header.Clone(), nil)
}

// feedback sends what testers say, some with a picture of the screen.
func (f *filler) feedback(ctx context.Context, header http.Header, app int64) (int, error) {
	said := []struct {
		text    string
		picture bool
	}{
		{"The blue lamp is shown in red after I turn the phone.", true},
		{"The cart forgets the second lamp.", false},
		{"I like the camera. Could it remember the room?", true},
		{"Checkout: the button is below the keyboard.", false},
		{"The receipt came in English, though the app is in German.", false},
	}
	for i, s := range said {
		values := map[string]string{"text": s.text, "source": "shake", "session_id": sessionID(f.config.Seed, app, i),
			"uuid": uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "slipway demo feedback %d %d %d", f.config.Seed, app, i)).String()}
		var parts []part
		if s.picture {
			screen, err := iconPNG(320, appOf(releases[i], 0).hue)
			if err != nil {
				return 0, err
			}
			parts = append(parts, part{"screenshot", "screen.png", screen})
		}
		if err := f.upload(ctx, "/api/1/sdk/feedbacks", values, parts, header.Clone(), nil); err != nil {
			return 0, err
		}
	}
	return len(said), nil
}
