package page

// findFront finds what lies in front of the page: a modal dialog, else the last popup or menu
// that is open over it.
func (b *builder) findFront() {
	for k := range b.Containers {
		c := &b.Containers[k]
		if c.Hidden || !b.Seen(c.Node) || b.Off(c.Node) || c.Kind == "menu" && b.Nodes[c.Node].Box[2] > b.Width*7/10 {
			continue
		}
		over := c.Modal || c.Kind == "dialog" && b.lies(c.Node) || c.Kind == "menu" && b.lies(c.Node) && len(b.LeavesIn(c.Node, c.End, 2)) > 0
		if !over {
			continue
		}
		if b.Front >= 0 && b.Containers[b.Front].Modal && !c.Modal && !b.Holds(b.Front, c.Node) && c.Node < b.Containers[b.Front].Node {
			continue
		}
		if b.Front >= 0 && c.Kind == "dialog" && b.Holds(b.Front, c.Node) && c.Title == "" {
			continue
		}
		b.Front = k
	}
}

// lies reports whether a node or one right around it lies over others.
func (b *builder) lies(i int) bool {
	for up, k := i, 0; up >= 0 && k < 3; up, k = b.X.Parent(up), k+1 {
		if b.Nodes[up].Layer != "" {
			return true
		}
	}
	return false
}
