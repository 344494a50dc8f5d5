package org.rowankv.samples.hibernate;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.hibernate.Cache;
import org.hibernate.Session;
import org.jspecify.annotations.Nullable;

/**
 * Reads and changes facts that no other customer changes, by any session factory, and knows what each read has to
 * return. Confined to one thread, but for its counts afterwards.
 */
final class Customer {
    private static final int KEYS = 3;
    private static final int CHANGES_PERCENT = 12;
    private static final int ROLLBACKS_PERCENT = 3;
    private static final int EVICTIONS_PER_MILLE = 2;
    private static final int LOGGED = 10;

    /** Its number after so many changes, and those that it had before. */
    private record Known(@Nullable Integer number, int changes, Set<@Nullable Integer> before) {}

    private final String name;
    private final ShopSessions sessions;
    private final Random random;
    private final Map<String, Known> known = new HashMap<>();
    private int operations;
    private int failures;
    private int stale;

    Customer(int number, ShopSessions sessions) {
        this.name = "customer" + number;
        this.sessions = sessions;
        this.random = new Random(number);
    }

    private Fact anyFact() {
        return Fact.ALL.get(random.nextInt(Fact.ALL.size()));
    }

    /** Of some length, and never the same object twice. */
    private String key(Fact fact, int number) {
        return name + ' ' + fact.name() + " x".repeat(number);
    }

    /** Nothing is in a database that is new. */
    void findNothing() {
        for (Fact fact : Fact.ALL) {
            for (int i = 0; i < KEYS; i++) {
                final String key = key(fact, i);
                count(() -> read(fact, key));
            }
        }
    }

    void work(int count) {
        for (int i = 0; i < count; i++) {
            final Fact fact = anyFact();
            final String key = key(fact, random.nextInt(KEYS));
            count(() -> {
                if (random.nextInt(1_000) < EVICTIONS_PER_MILLE) {
                    evict();
                }
                final int percent = random.nextInt(100);
                if (percent < CHANGES_PERCENT) {
                    change(fact, key);
                } else if (percent < CHANGES_PERCENT + ROLLBACKS_PERCENT) {
                    changeAndRollBack(fact, key);
                } else {
                    read(fact, key);
                }
            });
        }
    }

    private void count(Runnable operation) {
        operations++;
        try {
            operation.run();
        } catch (RuntimeException e) {
            if (failures++ < LOGGED) {
                e.printStackTrace();
            }
        }
    }

    private Known known(String key) {
        return known.getOrDefault(key, new Known(null, 0, new HashSet<>()));
    }

    private void change(Fact fact, String key) {
        final Known old = known(key);
        final int next = old.changes() + 1;
        final Fact.Change change = anyChange(fact);
        sessions.any(random).inTransaction(session -> change.to(session, key, next));
        final Set<@Nullable Integer> before = new HashSet<>(old.before());
        before.add(old.number());
        known.put(key, new Known(fact.numberAfter(next), next, before));
        if (random.nextBoolean()) {
            read(fact, key); // at once, before anything else refreshes the cache
        }
    }

    /** Mostly the first, by the entity: a statement costs the cache whole regions. */
    private Fact.Change anyChange(Fact fact) {
        return fact.changes()
                .get(random.nextInt(4) > 0 ? 0 : random.nextInt(fact.changes().size()));
    }

    private void changeAndRollBack(Fact fact, String key) {
        final Fact.Change change = anyChange(fact);
        try (Session session = sessions.any(random).openSession()) {
            session.beginTransaction();
            change.to(session, key, known(key).changes() + 1);
            session.flush();
            session.getTransaction().rollback();
        }
        read(fact, key);
    }

    private void read(Fact fact, String key) {
        final Fact.Read read = fact.reads().get(random.nextInt(fact.reads().size()));
        judge(fact, key, sessions.any(random).fromTransaction(session -> read.of(session, key)));
    }

    private void judge(Fact fact, String key, @Nullable Integer found) {
        final Known expected = known(key);
        if (Objects.equals(found, expected.number())) {
            return;
        }
        if (expected.before().contains(found)) {
            stale++;
        } else {
            failures++;
        }
        System.err.println(fact.name() + " of " + key + " is " + found + ", not " + expected.number());
    }

    private void evict() {
        final Cache cache = sessions.any(random).getCache();
        switch (random.nextInt(4)) {
            case 0 -> cache.evictAllRegions();
            case 1 -> cache.evictEntityData(Product.class);
            case 2 -> cache.evictQueryRegions();
            default -> cache.evictCollectionData();
        }
    }

    int operations() {
        return operations;
    }

    int failures() {
        return failures;
    }

    int stale() {
        return stale;
    }
}
