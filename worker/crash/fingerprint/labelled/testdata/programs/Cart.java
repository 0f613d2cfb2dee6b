import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Fails in the way its argument names. */
public class Cart {
    private final List<Integer> prices;

    Cart(List<Integer> prices) {
        this.prices = prices;
    }

    int price(int i) {
        return prices.get(i);
    }

    int total(List<Integer> rows) {
        return rows.stream().mapToInt(i -> price(i)).sum();
    }

    int sum(List<Integer> rows) {
        int sum = 0;
        for (int i : rows) {
            sum += price(i);
        }
        return sum;
    }

    int mean(int n) {
        return prices.get(0) / n;
    }

    static int service(Cart c, List<Integer> rows) {
        return c.total(rows);
    }

    static int summary(Cart c, List<Integer> rows) {
        return service(c, rows);
    }

    static int show(Cart c) {
        return summary(c, List.of(7));
    }

    static int bill(Cart c) {
        return summary(c, List.of(9, 11));
    }

    public static void main(String[] args) throws Throwable {
        Cart c = new Cart(List.of(1, 2));
        switch (args[0]) {
            case "show" -> show(c);
            case "bill" -> bill(c);
            case "zero" -> c.mean(0);
            case "sum" -> c.sum(List.of(5));
            case "reflected" -> {
                try {
                    Cart.class.getDeclaredMethod("show", Cart.class).invoke(null, c);
                } catch (java.lang.reflect.InvocationTargetException e) {
                    throw e.getCause();
                }
            }
            case "pool" -> {
                ExecutorService pool = Executors.newSingleThreadExecutor();
                try {
                    pool.submit(() -> show(c)).get();
                } catch (ExecutionException e) {
                    throw e.getCause();
                } finally {
                    pool.shutdown();
                }
            }
            default -> { }
        }
    }
}
