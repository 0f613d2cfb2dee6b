package tests

import (
	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// codeTarget is what a case can be exported for.
type codeTarget struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Language  string `json:"language"`
	Framework string `json:"framework"`
}

// codeData is a case as code.
type codeData struct {
	ID, Target, Revision string
	Targets              list[codeTarget]
	Export               struct {
		FileName string `json:"fileName"`
		Code     string `json:"code"`
	}
	Fault string
}

func (p *Pages) code(c *gin.Context) (err error) {
	data := codeData{ID: c.Param("id"), Target: c.Query("target"), Revision: c.Query("revisionId")}
	if data.Targets, err = get[list[codeTarget]](p, c, casePath(c)+"/code/targets", nil); err != nil {
		return err
	}
	q := filters(c)
	if data.Target == "" && len(data.Targets.Items) > 0 {
		data.Target = data.Targets.Items[0].ID
		q.Set("target", data.Target)
	}
	var a answer[struct {
		FileName string `json:"fileName"`
		Code     string `json:"code"`
	}]
	err = p.API.Get(c, authoring+casePath(c)+"/code", q, &a)
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	data.Export = a.Data
	return p.show(c, "code", data.Fault, frame.Page{Title: "Code", Data: data})
}

// codeFile serves the code as a file.
func (p *Pages) codeFile(c *gin.Context) error {
	q := filters(c)
	q.Set("download", "1")
	return p.API.Pass(c, authoring+casePath(c)+"/code", q)
}
