use std::collections::HashMap;
use std::fmt::Debug;

#[derive(Debug, Clone)]
struct Item<T> {
    key: T,
    weight: u64,
}

trait Weigh {
    fn weigh(&self) -> u64;
}

impl<T: Debug> Weigh for Item<T> {
    #[inline(always)]
    fn weigh(&self) -> u64 {
        self.weight.wrapping_mul(31) ^ format!("{:?}", self.key).len() as u64
    }
}

#[inline(never)]
fn total<T: Debug>(items: &[Item<T>]) -> u64 {
    items.iter().filter(|i| i.weight > 1).map(|i| i.weigh()).sum()
}

fn main() {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for arg in std::env::args() {
        *counts.entry(arg).or_insert(0) += 1;
    }
    let items: Vec<Item<String>> = counts.into_iter().map(|(key, weight)| Item { key, weight: weight + 1 }).collect();
    let sum = total(&items);
    if sum == 7 {
        panic!("unlucky");
    }
    println!("{}", sum);
}
