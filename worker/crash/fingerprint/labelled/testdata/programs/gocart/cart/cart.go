// Package cart fails in the ways that the program asks for.
package cart

type Cart struct{ Prices []int }

func price(c *Cart, i int) int { return c.Prices[i] }

func (c *Cart) Total(i int) int {
	sum := 0
	add := func(n int) { sum += price(c, n) }
	add(i)
	return sum
}

func (c *Cart) Mean(n int) int {
	if c == nil {
		return 0
	}
	return c.Prices[0] / n
}

//go:noinline
func Handle(c *Cart) int { return c.Prices[3] }

//go:noinline
func Sum(c *Cart, i int) int { return c.Total(i) + 1 }

//go:noinline
func Service(c *Cart, i int) int { return Sum(c, i) + 1 }
