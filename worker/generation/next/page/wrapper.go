package page

// withoutWrappers leaves out the sets whose members only hold further sets: the columns of a
// board, the sections of a page, the rows that cards are laid out in. These are containers.
// Of a thing's own parts (the cells of a row) it leaves out those that are no things.
func (b *builder) withoutWrappers(list []*cluster) []*cluster {
	inner := make([][]*cluster, len(list)) // of each, those in its members
	owner := map[int]int{}
	for k, c := range list {
		for _, i := range c.members {
			owner[i] = k
		}
	}
	for k, c := range list {
		up := c.members[0]
		for up = b.x.Parent(up); up >= 0; up = b.x.Parent(up) {
			if o, ok := owner[up]; ok && o != k {
				inner[o] = append(inner[o], c)
				break
			}
		}
	}
	wraps := make([]bool, len(list))
	for k, c := range list {
		wraps[k] = len(inner[k]) > 0 && b.wraps(c, inner[k])
	}
	var kept []*cluster
	within := map[int]bool{} // members that are kept
	for k, c := range list {
		if wraps[k] {
			continue
		}
		if up := b.keptAround(c.members[0], within); up >= 0 && !c.sure && !b.ownThings(c) {
			continue
		}
		kept = append(kept, c)
		for _, i := range c.members {
			within[i] = true
		}
	}
	return kept
}

// keptAround returns the thing around a node.
func (b *builder) keptAround(i int, within map[int]bool) int {
	for up := b.x.Parent(i); up >= 0; up = b.x.Parent(up) {
		if within[up] {
			return up
		}
	}
	return -1
}

// ownThings reports whether what is in a thing are things too: each can be used by itself.
func (b *builder) ownThings(c *cluster) bool {
	if len(c.members) < 2 || c.pattern.role == "text" {
		return false
	}
	usable := 0
	for _, i := range c.members {
		for j := i + 1; j < b.stop(i); j++ {
			if strongRoles[b.Nodes[j].Role] {
				usable++
				break
			}
		}
	}
	return usable*2 >= len(c.members) && b.stacked(c.members)
}

// wraps reports whether the members of a set are only around other sets.
func (b *builder) wraps(c *cluster, inner []*cluster) bool {
	if c.kind == "table" || c.kind == "tree" {
		return false
	}
	own, parts, things, held := 0, 0, 0, map[int]bool{}
	count := func(i int) int {
		n := 0
		for _, l := range b.leavesIn(i, b.x.End(i), 1000) {
			if !b.Nodes[l].Hidden && !b.inButton(l, i) {
				n++
			}
		}
		return n
	}
	for _, i := range c.members {
		own += count(i)
	}
	for _, in := range inner {
		for _, i := range in.members {
			leaves := count(i)
			own -= leaves
			parts += leaves
			things++
			for up := b.x.Parent(i); up >= 0; up = b.x.Parent(up) {
				held[up] = true
			}
		}
	}
	filled := 0
	for _, i := range c.members {
		if held[i] {
			filled++
		}
	}
	board := !b.stacked(c.members) && b.level(c.members) // each column may hold only one
	if filled*2 < len(c.members) && len(c.members) > 2 || things < 2 || things <= filled && !board {
		return false
	}
	if own > 3*len(c.members) {
		return false
	}
	// Cells are laid out across a row; each of them says one thing or two.
	across := b.stacked(c.members) && !b.stacked(inner[0].members)
	if across && own == 0 && parts < 3*things && !b.headed(inner[0].members) {
		return false
	}
	return true
}

// headed reports whether most nodes have a heading.
func (b *builder) headed(nodes []int) bool {
	count := 0
	for _, i := range nodes {
		for j := i; j < b.stop(i); j++ {
			if b.Nodes[j].Role == "heading" {
				count++
				break
			}
		}
	}
	return count*2 > len(nodes)
}

// stacked reports whether nodes stand one below the other.
func (b *builder) stacked(nodes []int) bool {
	down, right := 0, 0
	for k := 1; k < len(nodes); k++ {
		_, _, _, bottom := b.box(nodes[k-1])
		_, top, _, _ := b.box(nodes[k])
		if top >= bottom-2 {
			down++
		} else {
			right++
		}
	}
	return down > right
}
