package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Names of groups, which begin so that nobody takes them for theirs.
const (
	betaGroup   = "Demo: beta testers"
	officeGroup = "Demo: the office"
)

// person is a tester. Addresses of example.com reach nobody, and no mail is asked for.
type person struct {
	name, email, group string
	udid, product      string // of a registered device; "": none
}

var people = []person{
	{"Ada Berg", "ada@demo.example.com", betaGroup, "00008110-0012A4C23E80001E", "iPhone14,5"},
	{"Bo Lind", "bo@demo.example.com", betaGroup, "00008120-000E1D3A2F68C01E", "iPhone15,2"},
	{"Chi Okafor", "chi@demo.example.com", betaGroup, "", ""},
	{"Dana Novak", "dana@demo.example.com", betaGroup, "", ""},
	{"Eli Ferro", "eli@demo.example.com", officeGroup, "00008103-001C29D41A90001E", "iPad13,4"},
	{"Fay Tran", "fay@demo.example.com", officeGroup, "", ""},
}

// named is a row of a list.
type named struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// groupID returns a tester group; 0: there is none.
func (c *client) groupID(ctx context.Context, name string) (int64, error) {
	var list struct {
		Groups []named `json:"groups"`
	}
	if err := c.get(ctx, "/api/v3/groups", url.Values{"search": {name}}, &list); err != nil {
		return 0, err
	}
	for _, g := range list.Groups {
		if g.Name == name {
			return g.ID, nil
		}
	}
	return 0, nil
}

// testerID returns a tester; 0: there is none.
func (c *client) testerID(ctx context.Context, email string) (int64, error) {
	var list struct {
		Testers []struct {
			ID    int64  `json:"id"`
			Email string `json:"email"`
		} `json:"testers"`
	}
	if err := c.get(ctx, "/api/v3/testers", url.Values{"search": {email}}, &list); err != nil {
		return 0, err
	}
	for _, t := range list.Testers {
		if strings.EqualFold(t.Email, email) {
			return t.ID, nil
		}
	}
	return 0, nil
}

// oldestTeam is the team that apps and groups are made in: an organization with several has
// to be told.
func (c *client) oldestTeam(ctx context.Context) (oldest int64, err error) {
	var list struct {
		Teams []struct {
			ID int64 `json:"id"`
		} `json:"teams"`
	}
	if err := c.get(ctx, "/api/v3/teams", url.Values{"per_page": {"100"}}, &list); err != nil {
		return 0, err
	}
	for _, t := range list.Teams {
		if oldest == 0 || t.ID < oldest {
			oldest = t.ID
		}
	}
	if oldest == 0 {
		return 0, errors.New("the organization has no team")
	}
	return oldest, nil
}

func (f *filler) people(ctx context.Context) (string, error) {
	var err error
	if f.team, err = f.oldestTeam(ctx); err != nil {
		return "", err
	}
	for _, name := range []string{betaGroup, officeGroup} {
		id, err := f.groupID(ctx, name)
		if err != nil {
			return "", err
		}
		if id != 0 {
			continue
		}
		if err := f.call(ctx, http.MethodPost, "/api/v3/groups", map[string]any{"name": name, "team_id": f.team}, nil); err != nil {
			return "", err
		}
	}
	devices := 0
	for _, p := range people {
		id, err := f.testerID(ctx, p.email)
		if err != nil {
			return "", err
		}
		if id == 0 {
			err := f.call(ctx, http.MethodPost, "/api/v3/testers", map[string]any{"email": p.email, "name": p.name,
				"groups": []string{p.group}}, nil)
			if err != nil {
				return "", err
			}
		}
		if p.udid == "" {
			continue
		}
		devices++
		err = f.call(ctx, http.MethodPost, "/api/v3/devices", map[string]any{"udid": p.udid, "name": p.name,
			"product": p.product, "email": p.email}, nil)
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d testers in 2 groups, %d devices", len(people), devices), nil
}

// grants lets the groups have the apps, and invites to the newest build. Nobody gets a mail.
func (f *filler) grants(ctx context.Context) (string, error) {
	for _, name := range []string{betaGroup, officeGroup} {
		id, err := f.groupID(ctx, name)
		if err != nil {
			return "", err
		}
		for _, app := range f.apps {
			if err := f.call(ctx, http.MethodPut, fmt.Sprintf("/api/v3/projects/%d/groups/%d", app, id), nil, nil); err != nil {
				return "", err
			}
		}
	}
	builds, err := f.versions(ctx, f.apps[lampsPackage])
	if err != nil {
		return "", err
	}
	newest := builds["2.3.0"]
	err = f.call(ctx, http.MethodPost, fmt.Sprintf("/api/v3/builds/%d/invites", newest),
		map[string]any{"groups": []string{betaGroup}, "comment": "Please try the camera in a dark room.", "notify": false}, nil)
	return "2 groups have both apps; the beta testers are invited to the newest build", err
}
