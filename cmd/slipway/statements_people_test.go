package main

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/tasks"
)

func peopleUseCases() []useCase {
	return []useCase{
		{name: "replace the members of a team", numbers: []int{2, 100}, of: asks{statements: 13}, run: func(w *counted, n int) {
			w.testers(2 * n)
			w.exec(`update memberships set role = 'member' where organization_id = $1 and role = 'tester'`, w.boot.Organization.ID)
			w.must(request{method: post, path: v3 + "/teams", body: `{"name":"mobile"}`, save: "mobile=team.id"})
			members := func(from, to int) string {
				var list []string
				for i := from; i <= to; i++ {
					list = append(list, fmt.Sprintf(`{"email":"tester%d@%s.example.com"}`, i, w.boot.Organization.Slug))
				}
				return `{"members":[` + strings.Join(list, ",") + `]}`
			}
			w.must(request{method: put, path: v3 + "/teams/{id:mobile}", body: members(1, n)})
			w.count(func() { w.must(request{method: put, path: v3 + "/teams/{id:mobile}", body: members(n+1, 2*n)}) })
		}},
		{name: "invite people", numbers: []int{2, 100}, of: asks{statements: 19}, run: func(w *counted, n int) {
			var list []string
			for i := range n {
				list = append(list, fmt.Sprintf("new%d@%s.example.com", i, w.boot.Organization.Slug))
			}
			w.count(func() {
				w.must(request{method: post, path: "/api/1/testers", body: "group=friends&email=" + strings.Join(list, ",")})
				w.work(tasks.TesterWelcome)
			})
			w.wantRows(n, `select count(*)::text from memberships where organization_id = $1 and role = 'tester'`)
		}},
		{name: "add testers to a group", numbers: []int{2, 100}, of: asks{statements: 11}, run: func(w *counted, n int) {
			w.testers(n)
			w.must(request{method: post, path: "/api/1/testers/groups", body: "groupName=friends", save: "group=id"})
			emails := w.emails()
			w.count(func() {
				w.must(request{method: post, path: "/api/1/testers/groups/{id:group}", body: "email=" + emails})
			})
			w.wantRows(n,
				`select count(*)::text from tester_group_members m join tester_groups g on g.id = m.tester_group_id where g.organization_id = $1`)
		}},
	}
}
