package operate

import (
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// letter is a mail of the installation.
type letter struct {
	ID             string     `json:"id"`
	OrganizationID *int64     `json:"organization_id"`
	Kind           string     `json:"kind"`
	Recipient      string     `json:"recipient"`
	Subject        string     `json:"subject"`
	State          string     `json:"state"`
	Error          string     `json:"error"`
	Text           string     `json:"text"`
	Hidden         bool       `json:"hidden"`
	CreatedAt      time.Time  `json:"created_at"`
	SentAt         *time.Time `json:"sent_at"`
}

// mailData is the page of the mail.
type mailData struct {
	Mails      []letter     `json:"mails"`
	Pagination frame.Paging `json:"pagination"`
	Operator   bool         `json:"-"`
	Fault      string       `json:"-"`
	Pager      *frame.Pager
}

// wholeLetter is a mail with its HTML part and its head.
type wholeLetter struct {
	letter
	HTML    string `json:"html"`
	Headers []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"headers"`
}

// letterData is the page of one mail.
type letterData struct {
	Mail     wholeLetter `json:"mail"`
	Operator bool        `json:"-"`
}

func (p *Pages) letterOf(c *gin.Context) (data letterData, err error) {
	data.Operator = true
	err = p.API.Get(c, "/ops/mail/"+frame.Segment(c, "id"), nil, &data)
	return data, err
}

// letter shows one mail: its text, its HTML part in a frame, and its head.
func (p *Pages) letter(c *gin.Context) error {
	data, err := p.letterOf(c)
	if err != nil {
		return err
	}
	return p.pages.Show(c, "letter", frame.Page{Title: "Mail", Area: area, Data: data})
}

// letterHTML is the HTML part of a mail, for the frame of its page.
func (p *Pages) letterHTML(c *gin.Context) error {
	data, err := p.letterOf(c)
	if err != nil {
		return err
	}
	return p.Mail(c, data.Mail.HTML)
}

// mail shows the mail that was sent, kept or not sent.
func (p *Pages) mail(c *gin.Context) error {
	query := url.Values{"format": {"json"}}
	for name, values := range frame.Query(c, "page", "per_page") {
		query[name] = values
	}
	data := mailData{Operator: true}
	err := p.API.Get(c, "/ops/mail", query, &data)
	if data.Fault, err = refused(err); err != nil {
		return err
	}
	data.Pager = p.PagesOf(c, data.Pagination)
	return p.pages.Show(c, "mail", frame.Page{Title: "Mail", Area: area, Data: data})
}
