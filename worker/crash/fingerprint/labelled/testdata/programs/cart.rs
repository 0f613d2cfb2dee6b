// Fails in the way its argument names; RUST_BACKTRACE prints the stack.
struct Cart {
    prices: Vec<i32>,
}

fn price(c: &Cart, i: usize) -> i32 {
    c.prices[i]
}

impl Cart {
    #[inline(never)]
    fn total(&self, rows: &[usize]) -> i32 {
        rows.iter().map(|&i| price(self, i)).sum()
    }

    #[inline(never)]
    fn mean(&self, n: i32) -> i32 {
        self.prices[0] / n
    }

    #[inline(never)]
    fn first(&self) -> i32 {
        *self.prices.iter().find(|p| **p > 100).unwrap()
    }
}

#[inline(never)]
fn service(c: &Cart, rows: &[usize]) -> i32 {
    c.total(rows) + 1
}

#[inline(never)]
fn summary(c: &Cart, rows: &[usize]) -> i32 {
    service(c, rows) + 1
}

#[inline(never)]
fn show(c: &Cart) -> i32 {
    summary(c, &[7]) + 1
}

#[inline(never)]
fn bill(c: &Cart) -> i32 {
    summary(c, &[9, 11]) + 2
}

fn main() {
    let c = Cart { prices: vec![1, 2] };
    let n = match std::env::args().nth(1).as_deref() {
        Some("show") => show(&c),
        Some("bill") => bill(&c),
        Some("mean") => c.mean(c.prices.len() as i32 - 2),
        Some("first") => c.first(),
        Some("thread") => std::thread::spawn(move || show(&c)).join().unwrap_or(0),
        _ => 0,
    };
    std::process::exit(n);
}
