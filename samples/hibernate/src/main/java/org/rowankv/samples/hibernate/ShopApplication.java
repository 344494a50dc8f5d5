package org.rowankv.samples.hibernate;

import java.util.List;

/**
 * The shop as a program: {@code ShopApplication OPERATIONS URI...} works in a new database for each URI of a file with
 * the settings of the cache, prints the results, and exits with 1 unless all were right.
 */
public final class ShopApplication {
    private ShopApplication() {}

    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length < 2 || !arguments[0].matches("[1-9][0-9]*")) {
            System.err.println("usage: ShopApplication OPERATIONS URI...");
            System.exit(2);
        }
        final List<String> uris = List.of(arguments).subList(1, arguments.length);
        final ShopRun run = new ShopRun();
        for (int i = 0; i < uris.size(); i++) {
            run.work("shop" + i, uris.get(i), Integer.parseInt(arguments[0]) / uris.size());
        }
        System.out.println(run.cacheLine());
        System.out.println(run);
        System.exit(run.failures() + run.stale() == 0 && run.hits() > 0 ? 0 : 1);
    }
}
