package frame

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/live"
)

const (
	// longestWait is how long the script's request waits for news: below the minute after
	// which proxies cut a connection that is silent.
	longestWait = 45 * time.Second
	// waitDeadline leaves time for what is around the wait.
	waitDeadline = longestWait + 15*time.Second
	// watchLife is how long a page may wait for what it showed when it was made. Then it is
	// read anew, with the rights that its reader has by then.
	watchLife = 10 * time.Minute
	// maxTopics bounds what one page waits for: as many rows as most lists have.
	maxTopics = 60
	// maxWatch bounds the parameter, in characters: all topics with room.
	maxWatch = 8 << 10
	// maxSessionWaits is how many pages of a session wait at once: tabs that are in sight.
	maxSessionWaits = 12
)

// watch is what a page waits for: what the api let its reader see. The page carries it signed
// with the session's secret, so nobody waits for anything else, and the wait needs no rule of
// its own.
type watch struct {
	Topics [][2]string `json:"t"` // kind and id
	Made   int64       `json:"m"` // seconds
}

// watchOf writes what a page waits for; "" for a page that waits for nothing.
func (f *Frame) watchOf(r *http.Request, topics []live.Topic) string {
	key := f.watchKey(r)
	if len(topics) == 0 || key == nil || f.cfg.Changes == nil {
		return ""
	}
	w := watch{Made: f.cfg.Now().Unix()}
	for _, t := range topics[:min(len(topics), maxTopics)] {
		w.Topics = append(w.Topics, [2]string{string(t.Kind), t.ID})
	}
	text, err := json.Marshal(w)
	if err != nil { // texts and a number
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text) + "." + base64.RawURLEncoding.EncodeToString(signature(key, text))
}

// readWatch reads what a page waits for. What no page of this session carries is a
// *storage.InvalidError; isOld says that the page is to be read anew.
func (f *Frame) readWatch(r *http.Request, text string) (topics []live.Topic, isOld bool, err error) {
	invalid := storage.Invalid("of", "is of no page of this session")
	key := f.watchKey(r)
	body, sum, _ := strings.Cut(text, ".")
	doc, errBody := base64.RawURLEncoding.DecodeString(body)
	given, errSum := base64.RawURLEncoding.DecodeString(sum)
	if key == nil || len(text) > maxWatch || errBody != nil || errSum != nil || !hmac.Equal(given, signature(key, doc)) {
		return nil, false, invalid
	}
	var w watch
	if err := json.Unmarshal(doc, &w); err != nil || len(w.Topics) == 0 {
		return nil, false, invalid
	}
	caller := auth.CallerOf(r.Context())
	list := append(w.Topics, [2]string{string(live.Session), strconv.FormatInt(caller.SessionID, 10)})
	for _, one := range list {
		t, err := live.Topic{Kind: live.Kind(one[0]), ID: one[1], OrganizationID: caller.OrganizationID}.Check()
		if err != nil {
			return nil, false, err
		}
		topics = append(topics, t)
	}
	return topics, f.cfg.Now().Sub(time.Unix(w.Made, 0)) > watchLife, nil
}

func (f *Frame) watchKey(r *http.Request) []byte {
	secret := auth.SessionSecret(r, f.https)
	if secret == "" {
		return nil
	}
	return []byte("slipway console watch " + secret)
}

func signature(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// liveRoute is the route that the script of an open page asks for news.
func (f *Frame) liveRoute() route.Route {
	r := f.Open("/live", auth.ReadTasks, f.news)
	r.Query, r.Deadline, r.Quiet = []string{"of", "since"}, waitDeadline, true
	return r
}

// news serves GET /console/live: the version of what a page shows, as soon as it is another
// one than since. It is 204 when the time is over.
func (f *Frame) news(c *gin.Context) error {
	ctx, since := c.Request.Context(), c.Query("since")
	topics, isOld, err := f.readWatch(c.Request, c.Query("of"))
	if err != nil {
		return err
	}
	if f.cfg.Changes == nil {
		return storage.ErrNotFound
	}
	c.Header("Cache-Control", "no-store")
	if isOld {
		c.JSON(http.StatusOK, gin.H{"version": since})
		return nil
	}
	caller := auth.CallerOf(ctx)
	if !f.waits.enter(caller.SessionID) {
		return &respond.Problem{Status: http.StatusTooManyRequests, Text: "too many pages of this session wait", RetryAfter: 5 * time.Second}
	}
	defer f.waits.leave(caller.SessionID)
	version, err := f.cfg.Changes.Wait(ctx, caller.OrganizationID, topics, since, longestWait)
	if err != nil {
		return err
	}
	if version == "" {
		c.Status(http.StatusNoContent)
		return nil
	}
	c.JSON(http.StatusOK, gin.H{"version": version})
	return nil
}

// sessionWaits counts the waiting requests of each session.
type sessionWaits struct {
	mu        sync.Mutex
	bySession map[int64]int
}

// enter reports whether one more may wait.
func (w *sessionWaits) enter(session int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bySession[session] >= maxSessionWaits {
		return false
	}
	if w.bySession == nil {
		w.bySession = map[int64]int{}
	}
	w.bySession[session]++
	return true
}

func (w *sessionWaits) leave(session int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bySession[session]--; w.bySession[session] == 0 {
		delete(w.bySession, session)
	}
}
