package settings

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// mailSettings is how the organization's mail is sent.
type mailSettings struct {
	SenderName    string   `json:"sender_name"`
	ReplyTo       string   `json:"reply_to"`
	RatePerMinute optional `json:"rate_per_minute"`
	Digest        struct {
		Enabled    bool     `json:"enabled"`
		Weekday    string   `json:"weekday"`
		Hour       optional `json:"hour"`
		Recipients []string `json:"recipients"`
	} `json:"digest"`
}

// template is the mail of a kind that is in force.
type template struct {
	Kind          string     `json:"kind"`
	Name          string     `json:"title"`
	Transactional bool       `json:"transactional"`
	Customized    bool       `json:"customized"`
	Subject       string     `json:"subject"`
	Text          string     `json:"text"`
	UpdatedAt     *time.Time `json:"updated_at"`
	Placeholders  []struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Required    bool   `json:"required"`
		Description string `json:"description"`
		Sample      string `json:"sample"`
	} `json:"placeholders"`
}

// mailData is the page of mail.
type mailData struct {
	Rights    rights
	Mail      mailSettings
	Days      []string
	Templates []template
	Fault     string
}

const mailPath = "/api/v3/settings/mail"

func (p *Pages) mail(c *gin.Context) error {
	var answer struct {
		Mail mailSettings `json:"mail"`
	}
	if err := p.API.Get(c, mailPath, nil, &answer); err != nil {
		return err
	}
	return p.showMail(c, mailData{Mail: answer.Mail})
}

func (p *Pages) showMail(c *gin.Context, data mailData) error {
	var answer struct {
		Templates []template `json:"mail_templates"`
	}
	if err := p.API.Get(c, "/api/v3/settings/mail-templates", nil, &answer); err != nil {
		return err
	}
	data.Rights, data.Templates = rightsOf(c), answer.Templates
	for day := time.Sunday; day <= time.Saturday; day++ {
		data.Days = append(data.Days, strings.ToLower(day.String()))
	}
	return p.show(c, "mail", data.Fault, frame.Page{Title: "Mail", Data: data})
}

func (p *Pages) changeMail(c *gin.Context) error {
	var data mailData
	m := &data.Mail
	m.SenderName, m.ReplyTo = c.PostForm("sender_name"), strings.TrimSpace(c.PostForm("reply_to"))
	m.RatePerMinute = typed(c, "rate_per_minute")
	m.Digest.Enabled, m.Digest.Weekday = c.PostForm("digest") != "", c.PostForm("weekday")
	m.Digest.Hour, m.Digest.Recipients = typed(c, "hour"), texts(c.PostForm("recipients"))
	err := p.API.Send(c, http.MethodPut, mailPath, m, nil)
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.Fault != "" {
		return p.showMail(c, data)
	}
	return p.Done(c, "/settings/mail", "The settings of mail were changed.")
}

// preview is a mail that is not sent.
type preview struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

// templateData is the page of a template.
type templateData struct {
	Rights   rights
	Template *template
	Preview  *preview
	Fault    string
}

func templatePath(c *gin.Context, rest string) string {
	return "/api/v3/settings/mail-templates/" + frame.Segment(c, "kind") + rest
}

func (p *Pages) template(c *gin.Context) error {
	t, err := p.templateOf(c)
	if err != nil {
		return err
	}
	return p.showTemplate(c, templateData{Template: t})
}

func (p *Pages) templateOf(c *gin.Context) (*template, error) {
	var answer struct {
		Template template `json:"mail_template"`
	}
	err := p.API.Get(c, templatePath(c, ""), nil, &answer)
	return &answer.Template, err
}

func (p *Pages) showTemplate(c *gin.Context, data templateData) error {
	data.Rights = rightsOf(c)
	return p.show(c, "template", data.Fault, frame.Page{Title: data.Template.Name, Data: data})
}

// changeTemplate stores what was typed, or shows the mail that it would be.
func (p *Pages) changeTemplate(c *gin.Context) error {
	t, err := p.templateOf(c)
	if err != nil {
		return err
	}
	t.Subject, t.Text = c.PostForm("subject"), strings.ReplaceAll(c.PostForm("text"), "\r\n", "\n")
	data, body := templateData{Template: t}, map[string]string{"subject": t.Subject, "text": t.Text}
	look := c.PostForm("do") == "preview"
	var answer struct {
		Preview preview `json:"preview"`
	}
	if look {
		err = p.API.Send(c, http.MethodPost, templatePath(c, "/preview"), body, &answer)
	} else {
		err = p.API.Send(c, http.MethodPut, templatePath(c, ""), body, nil)
	}
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.Fault == "" && !look {
		return p.Done(c, "/settings/mail/templates/"+frame.Segment(c, "kind"), "The template is in force.")
	}
	if data.Fault == "" {
		data.Preview = &answer.Preview
	}
	return p.showTemplate(c, data)
}

// previewHTML is the HTML part of the mail that was typed, for the frame of the template's page.
func (p *Pages) previewHTML(c *gin.Context) error {
	body := map[string]string{"subject": c.PostForm("subject"), "text": strings.ReplaceAll(c.PostForm("text"), "\r\n", "\n")}
	var answer struct {
		Preview preview `json:"preview"`
	}
	if err := p.API.Send(c, http.MethodPost, templatePath(c, "/preview"), body, &answer); err != nil {
		return err
	}
	return p.Mail(c, answer.Preview.HTML)
}

func (p *Pages) resetTemplate(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, templatePath(c, ""), nil, nil)
	return p.End(c, "/settings/mail/templates/"+frame.Segment(c, "kind"), "The template of Slipway is in force again.", err)
}

// suppression is an address that gets no mail.
type suppression struct {
	ID        int64     `json:"id"`
	Email     string    `json:"email"`
	Source    string    `json:"source"`
	Status    string    `json:"status"`
	Detail    string    `json:"detail"`
	CreatedAt time.Time `json:"created_at"`
}

// suppressionsData is the list of addresses that get no mail.
type suppressionsData struct {
	Rights       rights
	Suppressions []suppression
	Filtered     bool
	Fault        string
	Pager        *frame.Pager
}

func (p *Pages) suppressions(c *gin.Context) (err error) {
	var answer struct {
		Suppressions []suppression `json:"suppressions"`
		Pagination   frame.Paging  `json:"pagination"`
	}
	q := frame.Filters(c)
	data := suppressionsData{Rights: rightsOf(c), Filtered: len(q) > 0}
	if data.Fault, err = p.read(c, mailPath+"/suppressions", q, &answer); err != nil {
		return err
	}
	data.Suppressions, data.Pager = answer.Suppressions, p.PagesOf(c, answer.Pagination)
	return p.show(c, "suppressions", data.Fault, frame.Page{Title: "Addresses that get no mail", Data: data})
}

func (p *Pages) removeSuppression(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, mailPath+"/suppressions/"+frame.Segment(c, "id"), nil, nil)
	return p.End(c, p.Back(c, "/settings/mail/suppressions"), "The address gets mail again.", err)
}
