package people

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// device is a device that a tester registered.
type device struct {
	ID        int64  `json:"id"`
	UDID      string `json:"udid"`
	Name      string `json:"name"`
	Product   string `json:"product"`
	OSVersion string `json:"os_version"`
	Platform  string `json:"platform"`
	Tester    struct {
		ID    int64  `json:"id"`
		Email string `json:"email"`
	} `json:"tester"`
	Source    string    `json:"source"`
	Verified  string    `json:"verified"`
	CreatedAt time.Time `json:"created_at"`
}

// devicesAnswer is a page of devices.
type devicesAnswer struct {
	Devices    []device     `json:"devices"`
	Pagination frame.Paging `json:"pagination"`
}

// devicesData is the list of devices.
type devicesData struct {
	Rights   rights
	Devices  []device
	Filtered bool
	Fault    string
	Pager    *frame.Pager
}

func (p *Pages) devices(c *gin.Context) (err error) {
	var answer devicesAnswer
	q := frame.Filters(c)
	data := devicesData{Rights: rightsOf(c), Filtered: len(q) > 0}
	if data.Fault, err = p.read(c, "/api/v3/devices", q, &answer); err != nil {
		return err
	}
	data.Devices, data.Pager = answer.Devices, p.PagesOf(c, answer.Pagination)
	return p.show(c, "devices", data.Fault, frame.Page{Title: "Devices", Data: data})
}

// devicesOf are the devices of a tester, whose address the search finds.
func (p *Pages) devicesOf(c *gin.Context, t *tester) (own []device, err error) {
	var answer devicesAnswer
	if err := p.API.Get(c, "/api/v3/devices", url.Values{"search": {t.Email}, "per_page": {most}}, &answer); err != nil {
		return nil, err
	}
	for i := range answer.Devices {
		if answer.Devices[i].Tester.ID == t.ID {
			own = append(own, answer.Devices[i])
		}
	}
	return own, nil
}

func (p *Pages) exportDevices(c *gin.Context) error {
	return p.API.Pass(c, "/api/v3/devices/export", nil)
}

func (p *Pages) addDevice(c *gin.Context) error {
	body := map[string]string{}
	for _, name := range []string{"udid", "name", "product", "platform", "email"} {
		body[name] = strings.TrimSpace(c.PostForm(name))
	}
	err := p.API.Send(c, http.MethodPost, "/api/v3/devices", body, nil)
	return p.End(c, p.Back(c, "/people/devices"), "The device is in the list.", err)
}

func (p *Pages) removeDevice(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, "/api/v3/devices/"+frame.Segment(c, "id"), nil, nil)
	return p.End(c, p.Back(c, "/people/devices"), "The device was removed from the list.", err)
}
