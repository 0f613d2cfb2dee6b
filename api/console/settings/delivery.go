package settings

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/live"
	store "github.com/slipway-qa/slipway/storage/webhook"
)

// delivery is a delivery of a webhook; its request and attempts are those of a page of its
// own.
type delivery struct {
	ID            string     `json:"id"`
	Event         string     `json:"event"`
	Status        string     `json:"status"`
	Attempts      int        `json:"attempts"`
	LastStatus    *int       `json:"last_status"`
	LastError     string     `json:"last_error"`
	LastAttemptAt *time.Time `json:"last_attempt_at"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	ExpiresAt     time.Time  `json:"expires_at"`
	CreatedAt     time.Time  `json:"created_at"`
	FinishedAt    *time.Time `json:"finished_at"`
	Request       *struct {
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"request"`
	Log []struct {
		Number     int       `json:"number"`
		At         time.Time `json:"at"`
		DurationMS int       `json:"duration_ms"`
		Status     *int      `json:"status"`
		Response   string    `json:"response"`
		Error      string    `json:"error"`
	} `json:"attempt_log"`
}

// deliveryAnswer is one delivery.
type deliveryAnswer struct {
	Delivery delivery `json:"delivery"`
}

// deliveryList is the page of a webhook's deliveries that the address asks for.
type deliveryList struct {
	List     []delivery
	Events   []store.Action
	Filtered bool
	Fault    string
	Pager    *frame.Pager
}

func (p *Pages) deliveries(c *gin.Context) (l *deliveryList, err error) {
	var answer struct {
		Deliveries []delivery   `json:"deliveries"`
		Pagination frame.Paging `json:"pagination"`
	}
	q := frame.Filters(c)
	l = &deliveryList{Events: append(store.Actions(), store.Test), Filtered: len(q) > 0}
	l.Fault, err = p.read(c, webhookPath(c, "/deliveries"), q, &answer)
	if err != nil && respond.Explain(err).Status == http.StatusForbidden {
		return &deliveryList{Events: l.Events}, nil // the admin of another team
	}
	if err != nil {
		return nil, err
	}
	l.List, l.Pager = answer.Deliveries, p.PagesOf(c, answer.Pagination)
	return l, nil
}

// live is what the list waits for: new deliveries of the webhook, and changes of those that
// are due.
func (l *deliveryList) live(webhook int64) []live.Topic {
	topics := []live.Topic{live.Of(live.Deliveries, webhook)}
	for i := range l.List {
		if l.List[i].Status == string(store.Pending) {
			topics = append(topics, live.Of(live.Delivery, l.List[i].ID))
		}
	}
	return topics
}

// deliveryData is the page of a delivery.
type deliveryData struct {
	Rights   rights
	Webhook  string // its id in addresses
	Delivery *delivery
}

func (p *Pages) delivery(c *gin.Context) error {
	var answer deliveryAnswer
	if err := p.API.Get(c, webhookPath(c, "/deliveries/"+frame.Segment(c, "delivery")), nil, &answer); err != nil {
		return err
	}
	d := &answer.Delivery
	page := frame.Page{Title: "Delivery of " + d.Event, Data: deliveryData{Rights: rightsOf(c), Webhook: frame.Segment(c, "id"), Delivery: d}}
	if d.Status == string(store.Pending) {
		page.Live = []live.Topic{live.Of(live.Delivery, d.ID)}
	}
	return p.show(c, "delivery", "", page)
}

func (p *Pages) replayDelivery(c *gin.Context) error {
	err := p.API.Send(c, http.MethodPost, webhookPath(c, "/deliveries/"+frame.Segment(c, "delivery")+"/replay"), nil, nil)
	return p.End(c, p.Back(c, backToWebhook(c)), "The delivery is due again.", err)
}

func (p *Pages) testWebhook(c *gin.Context) error {
	var answer deliveryAnswer
	if err := p.API.Send(c, http.MethodPost, webhookPath(c, "/test"), nil, &answer); err != nil {
		return p.Refused(c, p.Back(c, backToWebhook(c)), err)
	}
	d := &answer.Delivery
	page := backToWebhook(c) + "/deliveries/" + d.ID
	if d.Status != string(store.Delivered) {
		return p.Refused(c, page, &respond.Problem{Status: http.StatusBadRequest, Text: "the test did not arrive: " + d.LastError})
	}
	return p.Done(c, page, "The test arrived.")
}

// instantOf reads the field of a time in UTC, which has no zone.
func instantOf(text string) string {
	if _, err := time.Parse("2006-01-02T15:04", text); err == nil {
		return text + "Z"
	}
	return text
}

func (p *Pages) replayRange(c *gin.Context) error {
	var answer struct {
		Deliveries int `json:"deliveries"`
	}
	body := map[string]any{"from": instantOf(c.PostForm("from"))}
	if to := instantOf(c.PostForm("to")); to != "" {
		body["to"] = to
	}
	err := p.API.Send(c, http.MethodPost, webhookPath(c, "/replay"), body, &answer)
	return p.End(c, p.Back(c, backToWebhook(c)), fmt.Sprintf("Failed deliveries that become due again: %d.", answer.Deliveries), err)
}
