// Command gocart panics in the way its argument names.
package main

import (
	"os"

	"shop.example/gocart/cart"
	"shop.example/gocart/user"
)

//go:noinline
func show(c *cart.Cart) int { return cart.Service(c, 7) }

//go:noinline
func bill(c *cart.Cart) int { return cart.Service(c, 9) }

func main() {
	c := &cart.Cart{Prices: []int{1, 2}}
	switch os.Args[1] {
	case "show":
		show(c)
	case "bill":
		bill(c)
	case "cart":
		cart.Handle(c)
	case "user":
		user.Handle(&user.User{})
	case "mean":
		c.Mean(len(c.Prices) - 2)
	case "wild":
		(&cart.Cart{}).Mean(1)
	case "background":
		done := make(chan struct{})
		go func() { bill(c); close(done) }()
		<-done
	}
}
