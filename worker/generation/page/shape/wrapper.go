package shape

// withoutWrappers leaves out the sets whose members only hold further sets: the columns of a
// board, the sections of a page, the rows that cards are laid out in. These are containers.
// Of a thing's own parts (the cells of a row) it leaves out those that are no things.
func (b *Page) withoutWrappers(list []*Cluster) []*Cluster {
	inner := make([][]*Cluster, len(list)) // of each, those in its members
	owner := map[int]int{}
	for k, c := range list {
		for _, i := range c.Members {
			owner[i] = k
		}
	}
	for k, c := range list {
		up := c.Members[0]
		for up = b.X.Parent(up); up >= 0; up = b.X.Parent(up) {
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
	var kept []*Cluster
	within := map[int]bool{} // members that are kept
	for k, c := range list {
		if wraps[k] {
			continue
		}
		if up := b.keptAround(c.Members[0], within); up >= 0 && !c.Sure && !b.ownThings(c) {
			continue
		}
		kept = append(kept, c)
		for _, i := range c.Members {
			within[i] = true
		}
	}
	return kept
}

// keptAround returns the thing around a node.
func (b *Page) keptAround(i int, within map[int]bool) int {
	for up := b.X.Parent(i); up >= 0; up = b.X.Parent(up) {
		if within[up] {
			return up
		}
	}
	return -1
}

// ownThings reports whether what is in a thing are things too: each can be used by itself.
func (b *Page) ownThings(c *Cluster) bool {
	if len(c.Members) < 2 || c.Pattern.Role == "text" {
		return false
	}
	usable := 0
	for _, i := range c.Members {
		for j := i + 1; j < b.Stop(i); j++ {
			if StrongRoles[b.Nodes[j].Role] {
				usable++
				break
			}
		}
	}
	return usable*2 >= len(c.Members) && b.Stacked(c.Members)
}

// wraps reports whether the members of a set are only around other sets.
func (b *Page) wraps(c *Cluster, inner []*Cluster) bool {
	if c.Kind == "table" || c.Kind == "tree" {
		return false
	}
	own, parts, things, held := 0, 0, 0, map[int]bool{}
	count := func(i int) int {
		n := 0
		for _, l := range b.LeavesIn(i, b.X.End(i), 1000) {
			if !b.Nodes[l].Hidden && !b.InButton(l, i) {
				n++
			}
		}
		return n
	}
	for _, i := range c.Members {
		own += count(i)
	}
	for _, in := range inner {
		for _, i := range in.Members {
			leaves := count(i)
			own -= leaves
			parts += leaves
			things++
			for up := b.X.Parent(i); up >= 0; up = b.X.Parent(up) {
				held[up] = true
			}
		}
	}
	filled := 0
	for _, i := range c.Members {
		if held[i] {
			filled++
		}
	}
	board := !b.Stacked(c.Members) && b.Level(c.Members) // each column may hold only one
	if filled*2 < len(c.Members) && len(c.Members) > 2 || things < 2 || things <= filled && !board {
		return false
	}
	if own > 3*len(c.Members) {
		return false
	}
	// Cells are laid out across a row; each of them says one thing or two.
	across := b.Stacked(c.Members) && !b.Stacked(inner[0].Members)
	if across && own == 0 && parts < 3*things && !b.headed(inner[0].Members) {
		return false
	}
	return true
}

// headed reports whether most nodes have a heading.
func (b *Page) headed(nodes []int) bool {
	count := 0
	for _, i := range nodes {
		for j := i; j < b.Stop(i); j++ {
			if b.Nodes[j].Role == "heading" {
				count++
				break
			}
		}
	}
	return count*2 > len(nodes)
}

// Stacked reports whether nodes stand one below the other.
func (b *Page) Stacked(nodes []int) bool {
	down, right := 0, 0
	for k := 1; k < len(nodes); k++ {
		_, _, _, bottom := b.Box(nodes[k-1])
		_, top, _, _ := b.Box(nodes[k])
		if top >= bottom-2 {
			down++
		} else {
			right++
		}
	}
	return down > right
}
