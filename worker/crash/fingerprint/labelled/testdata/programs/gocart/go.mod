module shop.example/gocart

go 1.22
