package settings

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage"
)

// serviceAccount is an account for machines.
type serviceAccount struct {
	ID        int64     `json:"id"`
	Username  string    `json:"username"`
	Name      string    `json:"name"`
	Role      string    `json:"role"`
	Blocked   bool      `json:"blocked"`
	CreatedAt time.Time `json:"created_at"`
}

// accountsAnswer is a page of service accounts.
type accountsAnswer struct {
	Accounts   []serviceAccount `json:"service_accounts"`
	Pagination frame.Paging     `json:"pagination"`
}

// accountsData is the list of service accounts.
type accountsData struct {
	Rights   rights
	Accounts []serviceAccount
	Teams    []named
	Fault    string
	Pager    *frame.Pager
}

const accountsPath = "/api/v3/service-accounts"

func (p *Pages) accounts(c *gin.Context) (err error) {
	var answer accountsAnswer
	data := accountsData{Rights: rightsOf(c)}
	if data.Fault, err = p.read(c, accountsPath, frame.Filters(c), &answer); err != nil {
		return err
	}
	if data.Teams, err = p.teams(c); err != nil {
		return err
	}
	data.Accounts, data.Pager = answer.Accounts, p.PagesOf(c, answer.Pagination)
	return p.show(c, "accounts", data.Fault, frame.Page{Title: "Service accounts", Data: data})
}

func (p *Pages) createAccount(c *gin.Context) error {
	body := map[string]any{"username": c.PostForm("username"), "name": c.PostForm("name"), "role": c.PostForm("role"),
		"team_ids": c.PostFormArray("team_ids")}
	var answer struct {
		secretAnswer
		Account serviceAccount `json:"service_account"`
	}
	if err := p.API.Send(c, http.MethodPost, accountsPath, body, &answer); err != nil {
		return p.Refused(c, p.Back(c, "/settings/accounts"), err)
	}
	return p.showSecret(c, "New service account", secretData{At: "accounts", What: "The API key of " + answer.Account.Username,
		Secret: answer.Secret, Back: "/settings/accounts/" + strconv.FormatInt(answer.Account.ID, 10)})
}

// accountData is the page of a service account.
type accountData struct {
	Rights  rights
	Account *serviceAccount
	Keys    []key
	Fault   string
	Pager   *frame.Pager
}

func (p *Pages) account(c *gin.Context) (err error) {
	var answer keysAnswer
	data := accountData{Rights: rightsOf(c)}
	if data.Account, err = p.accountByID(c); err != nil {
		return err
	}
	if data.Fault, err = p.read(c, accountPath(c, "/keys"), frame.Filters(c), &answer); err != nil {
		return err
	}
	data.Keys, data.Pager = answer.Keys, p.PagesOf(c, answer.Pagination)
	return p.show(c, "account", data.Fault, frame.Page{Title: data.Account.Username, Data: data})
}

// accountPath is the path of a route of the account that the page's path names.
func accountPath(c *gin.Context, rest string) string {
	return accountsPath + "/" + frame.Segment(c, "id") + rest
}

// accountByID looks through the list: no route reads one account.
func (p *Pages) accountByID(c *gin.Context) (*serviceAccount, error) {
	for page, seen := 1, 0; ; page++ {
		var answer accountsAnswer
		if err := p.API.Get(c, accountsPath, url.Values{"per_page": {most}, "page": {strconv.Itoa(page)}}, &answer); err != nil {
			return nil, err
		}
		for i := range answer.Accounts {
			if strconv.FormatInt(answer.Accounts[i].ID, 10) == c.Param("id") {
				return &answer.Accounts[i], nil
			}
		}
		if seen += len(answer.Accounts); len(answer.Accounts) == 0 || seen >= answer.Pagination.Total {
			return nil, storage.ErrNotFound
		}
	}
}

// backToAccount is the page of the account that the path names.
func backToAccount(c *gin.Context) string { return "/settings/accounts/" + frame.Segment(c, "id") }

func (p *Pages) createAccountKey(c *gin.Context) error {
	var answer secretAnswer
	if err := p.API.Send(c, http.MethodPost, accountPath(c, "/keys"), keyBody(c), &answer); err != nil {
		return p.Refused(c, p.Back(c, backToAccount(c)), err)
	}
	return p.showSecret(c, "New key of a service account", secretData{At: "accounts", What: "The key", Secret: answer.Secret,
		Back: backToAccount(c)})
}

func (p *Pages) endAccountKey(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, accountPath(c, "/keys/"+frame.Segment(c, "key")), nil, nil)
	return p.End(c, p.Back(c, backToAccount(c)), "The key has ended.", err)
}

func (p *Pages) deleteAccount(c *gin.Context) error {
	if err := p.API.Send(c, http.MethodDelete, accountPath(c, ""), nil, nil); err != nil {
		return p.Refused(c, p.Back(c, backToAccount(c)), err)
	}
	return p.Done(c, "/settings/accounts", "The service account was deleted, and its keys have ended.")
}
