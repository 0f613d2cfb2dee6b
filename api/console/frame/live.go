package frame

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
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
	// maxSkew is how far the clocks of two processes may differ.
	maxSkew = time.Minute
	// renewal is how long a request waits that has a new cookie for its answer: one that was
	// answered late could put the cookie of an ended session over that of the next.
	renewal = time.Second
)

// watch is what a page waits for: what the api let its reader see. The page carries it signed
// with a key that only the server has, so nobody waits for anything else, and the wait needs
// no rule of its own.
type watch struct {
	Topics  [][2]string `json:"t"` // kind and id
	Made    int64       `json:"m"` // seconds
	Session int64       `json:"s"`
}

// watchOf writes what a page waits for; "" for a page that waits for nothing.
func (f *Frame) watchOf(caller *auth.Caller, topics []live.Topic) string {
	if len(topics) == 0 || caller.SessionID == 0 || f.cfg.Changes == nil {
		return ""
	}
	w := watch{Made: f.cfg.Now().Unix(), Session: caller.SessionID}
	for _, t := range topics[:min(len(topics), maxTopics)] {
		w.Topics = append(w.Topics, [2]string{string(t.Kind), t.ID})
	}
	text, err := json.Marshal(w)
	if err != nil { // texts and a number
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text) + "." + base64.RawURLEncoding.EncodeToString(signature(f.watchKey, text))
}

// readWatch reads what a page waits for. What no page of this session carries is a
// *storage.InvalidError; isOld says that the page is to be read anew.
func (f *Frame) readWatch(r *http.Request, text string) (topics []live.Topic, isOld bool, err error) {
	invalid := storage.Invalid("of", "is of no page of this session")
	body, sum, _ := strings.Cut(text, ".")
	doc, errBody := base64.RawURLEncoding.DecodeString(body)
	given, errSum := base64.RawURLEncoding.DecodeString(sum)
	if len(text) > maxWatch || errBody != nil || errSum != nil || !hmac.Equal(given, signature(f.watchKey, doc)) {
		return nil, false, invalid
	}
	var w watch
	caller := auth.CallerOf(r.Context())
	if err := json.Unmarshal(doc, &w); err != nil || w.Session != caller.SessionID || len(w.Topics) == 0 || len(w.Topics) > maxTopics {
		return nil, false, invalid
	}
	age := f.cfg.Now().Sub(time.Unix(w.Made, 0))
	if age < -maxSkew {
		return nil, false, invalid
	}
	list := append(w.Topics, [2]string{string(live.Session), strconv.FormatInt(caller.SessionID, 10)})
	for _, one := range list {
		t, err := live.Topic{Kind: live.Kind(one[0]), ID: one[1], OrganizationID: caller.OrganizationID}.Check()
		if err != nil {
			return nil, false, err
		}
		topics = append(topics, t)
	}
	return topics, age > watchLife, nil
}

// deriveWatchKey separates what pages wait for from whatever else the key may sign. Without a
// key it is random: then another process refuses what this one signed, and the page is read anew.
func deriveWatchKey(signingKey []byte, random io.Reader) ([]byte, error) {
	if len(signingKey) == 0 {
		key := make([]byte, sha256.Size)
		_, err := io.ReadFull(random, key)
		return key, err
	}
	return signature(signingKey, []byte("slipway console watch v1")), nil
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
	most := longestWait
	if f.renewCookie(c, caller) {
		most = renewal
	}
	version, err := f.cfg.Changes.Wait(ctx, caller.OrganizationID, topics, since, most)
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
