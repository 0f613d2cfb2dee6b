package builds

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// announcement is whom the mail about a build would reach, and what it would say.
type announcement struct {
	Refusal    string      `json:"refusal"`
	Recipients int         `json:"recipients"`
	Exact      bool        `json:"recipients_exact"`
	People     []recipient `json:"people"`
	Subject    string      `json:"subject"`
	Text       string      `json:"text"`
}

// Hidden is how many people get it who are not listed.
func (a *announcement) Hidden() int { return a.Recipients - len(a.People) }

// recipient is a person who has the build.
type recipient struct {
	Email   string `json:"email"`
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
}

// Gets is what the person gets, in words.
func (r recipient) Gets() string {
	switch r.Outcome {
	case "new-build":
		return "this mail"
	case "udid-needed":
		return "a mail that asks to register a device first"
	case "unsubscribed":
		return "nothing: wants no mail"
	case "bounced":
		return "nothing: mail to this address came back"
	}
	return r.Outcome
}

// announcement is the page on which the mail to the testers is looked at before it is sent.
func (p *Pages) announcement(c *gin.Context) error {
	begun, err := p.beginBuild(c, "build")
	if err != nil {
		return err
	}
	var answer struct {
		Preview announcement `json:"preview"`
	}
	if err := p.API.Get(c, buildPath(begun.Build.ID)+"/notify-testers", nil, &answer); err != nil {
		return err
	}
	data := struct {
		buildData
		Mail *announcement
	}{begun, &answer.Preview}
	return p.show(c, "notify", "", frame.Page{Title: "Notify testers of " + begun.Build.App() + " " + begun.Build.Title(), Data: data})
}

func (p *Pages) notifyTesters(c *gin.Context) error {
	id := frame.Segment(c, "id")
	err := p.API.Send(c, http.MethodPost, buildPath(id)+"/notify-testers", nil, nil)
	if err != nil {
		return p.Refused(c, p.Back(c, "/builds"), err)
	}
	return p.Done(c, "/builds/builds/"+id, "The testers are being mailed.")
}
