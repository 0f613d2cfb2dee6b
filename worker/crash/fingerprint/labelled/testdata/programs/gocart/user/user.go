// Package user has a function of the same name as package cart.
package user

type User struct{ Names []int }

//go:noinline
func Handle(u *User) int { return u.Names[3] }
