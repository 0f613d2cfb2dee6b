package page

import (
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

// findGroups finds the things of the page: by role, else by repeated structure.
func (b *builder) findGroups() {
	b.member = filled(len(b.Nodes))
	b.record = filled(len(b.Nodes))
	b.Model.patterns = map[shape.Pattern]bool{}
	for p := range b.Earlier {
		b.Model.patterns[p] = true
	}
	list := b.Clusters()
	for _, c := range list {
		b.addGroup(c)
	}
	b.nestRecords()
}

// addGroup makes records of the members of a cluster.
func (b *builder) addGroup(c *shape.Cluster) {
	g := len(b.Groups)
	group := Group{Node: c.Node, Kind: c.Kind, Pager: -1, Counter: -1}
	for k, i := range c.Members {
		if b.member[i] >= 0 || len(b.Records) >= shape.MaxMembers {
			continue
		}
		b.member[i] = len(b.Records)
		group.Records = append(group.Records, len(b.Records))
		b.Records = append(b.Records, Record{Group: g, Node: i, Index: k, Parent: -1})
	}
	if len(group.Records) == 0 {
		return
	}
	for k, r := range group.Records {
		b.Records[r].Index = k
	}
	b.Groups = append(b.Groups, group)
	b.groups = append(b.groups, c)
	if c.Pattern.Class != "" {
		b.Model.patterns[c.Pattern] = true
	}
}

// nestRecords notes the record around each node and each record.
func (b *builder) nestRecords() {
	for i := range b.Nodes {
		up := b.X.Parent(i)
		around := at(b.record, up)
		if r := b.member[i]; r >= 0 {
			b.Records[r].Parent = around
			around = r
		}
		b.record[i] = around
	}
}
