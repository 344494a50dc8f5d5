package org.rowankv.samples.hibernate;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.hibernate.Session;
import org.hibernate.query.MutationQuery;
import org.hibernate.query.Query;
import org.jspecify.annotations.Nullable;

/**
 * What the shop knows about a key, as a number: each way to read it returns the same, and each way to change it sets it.
 * Immutable.
 *
 * @param items whether it is a number of items, of which there are few: what is set is the remainder
 * @param reads null is returned where nothing is there
 */
record Fact(String name, boolean items, List<Read> reads, List<Change> changes) {
    private static final String CACHEABLE = "org.hibernate.cacheable";
    private static final int MOST_ITEMS = 7;
    private static final String NO_INTEGER = "a result is no number: ";

    /** Reads the number. */
    interface Read {
        @Nullable
        Integer of(Session session, String key);
    }

    /** Sets the number; what is not there is made. */
    interface Change {
        void to(Session session, String key, int number);
    }

    static final List<Fact> ALL =
            List.of(price(), words(), range(), addresses(), rating(), stock(), offer(), country());

    /** What the reads return after the n-th change. */
    int numberAfter(int change) {
        return items ? change % MOST_ITEMS : change;
    }

    private static Supplier supplier(Session session, String key) {
        final Supplier present = session.bySimpleNaturalId(Supplier.class).load(key);
        if (present != null) {
            return present;
        }
        final Supplier made = new Supplier(key);
        session.persist(made);
        return made;
    }

    private static Product product(Session session, String key) {
        final Product present = session.bySimpleNaturalId(Product.class).load(key);
        if (present != null) {
            return present;
        }
        final Supplier supplier = supplier(session, "of " + key);
        final Product made = new Product(key, supplier);
        supplier.getProducts().add(made);
        return made;
    }

    private static <T> @Nullable Integer ofProduct(Session session, String key, Function<Product, T> number) {
        final Product found = session.bySimpleNaturalId(Product.class).load(key);
        return found == null ? null : numberOf(number.apply(found));
    }

    private static Integer numberOf(@Nullable Object value) {
        if (value instanceof Number number) {
            return number.intValue();
        }
        throw new IllegalStateException(NO_INTEGER + value);
    }

    private static @Nullable Integer first(Query<?> query) {
        final List<?> found = query.setHint(CACHEABLE, true).getResultList();
        return found.isEmpty() ? null : numberOf(found.get(0));
    }

    /** Runs a statement that changes rows behind the entities; there must be one. */
    private static void run(MutationQuery statement) {
        if (statement.executeUpdate() < 1) {
            throw new IllegalStateException("a statement has changed nothing");
        }
    }

    private static int priceAndDay(Product product) {
        if (!product.getSince().equals(LocalDate.EPOCH.plusDays(product.getPrice()))) {
            throw new IllegalStateException("price and day are of two versions");
        }
        return product.getPrice();
    }

    private static Fact price() {
        return new Fact(
                "price",
                false,
                List.of(
                        (session, key) -> ofProduct(session, key, Fact::priceAndDay),
                        (session, key) ->
                                first(session.createQuery("select price from Product where number = :key", Object.class)
                                        .setParameter("key", key)),
                        (session, key) -> session
                                .createQuery("from Product where number = :key", Product.class)
                                .setParameter("key", key)
                                .setHint(CACHEABLE, true)
                                .getResultList()
                                .stream()
                                .findFirst()
                                .map(Fact::priceAndDay)
                                .orElse(null)),
                List.of(
                        (session, key, number) -> product(session, key).setPrice(number),
                        (session, key, number) -> {
                            product(session, key).setPrice(number - 1);
                            session.flush();
                            run(session.createMutationQuery(
                                            "update versioned Product set price = :price, since = :day where number = :key")
                                    .setParameter("price", BigDecimal.valueOf(number))
                                    .setParameter("day", LocalDate.EPOCH.plusDays(number))
                                    .setParameter("key", key));
                        },
                        (session, key, number) -> {
                            product(session, key).setPrice(number - 1);
                            session.flush();
                            run(session.createNativeMutationQuery("update Product set price = :price, since = :day,"
                                            + " version = version + 1 where number = :key")
                                    .setParameter("price", number)
                                    .setParameter("day", LocalDate.EPOCH.plusDays(number))
                                    .setParameter("key", key));
                        }));
    }

    /** A collection of words, as many as the remainder. */
    private static Fact words() {
        return new Fact(
                "words",
                true,
                List.of(
                        (session, key) -> ofProduct(
                                session, key, product -> product.getWords().size()),
                        (session, key) -> first(
                                session.createQuery("select size(words) from Product where number = :key", Object.class)
                                        .setParameter("key", key))),
                List.of((session, key, number) -> {
                    final Set<String> words = product(session, key).getWords();
                    final Set<String> wanted = new HashSet<>();
                    for (int i = 0; i < number % MOST_ITEMS; i++) {
                        wanted.add("word " + i);
                    }
                    words.retainAll(wanted);
                    words.addAll(wanted);
                }));
    }

    /** A collection of entities, as many as the remainder, of which each change makes and removes some. */
    private static Fact range() {
        return new Fact(
                "range",
                true,
                List.of(
                        (session, key) -> {
                            final Supplier found =
                                    session.bySimpleNaturalId(Supplier.class).load(key);
                            return found == null ? null : found.getProducts().size();
                        },
                        (session, key) ->
                                session.bySimpleNaturalId(Supplier.class).load(key) == null
                                        ? null
                                        : numberOf(session.createQuery(
                                                        "select number from Product where supplier.name = :key",
                                                        Object.class)
                                                .setParameter("key", key)
                                                .setHint(CACHEABLE, true)
                                                .getResultList()
                                                .size())),
                List.of((session, key, number) -> {
                    final Supplier supplier = supplier(session, key);
                    final List<Product> products = supplier.getProducts();
                    while (products.size() > number % MOST_ITEMS) {
                        products.remove(0);
                    }
                    for (int i = 0; products.size() < number % MOST_ITEMS; i++) {
                        products.add(new Product(key + '/' + number + '/' + i, supplier));
                    }
                }));
    }

    /** A list of entities, each at its place. */
    private static Fact addresses() {
        return new Fact(
                "addresses",
                true,
                List.of((session, key) -> {
                    final Supplier found =
                            session.bySimpleNaturalId(Supplier.class).load(key);
                    if (found == null) {
                        return null;
                    }
                    for (int i = 0; i < found.getAddresses().size(); i++) {
                        if (!found.getAddresses().get(i).getStreet().endsWith(" of " + i)) {
                            throw new IllegalStateException("an address is not at its place");
                        }
                    }
                    return found.getAddresses().size();
                }),
                List.of((session, key, number) -> {
                    final List<Address> addresses = supplier(session, key).getAddresses();
                    while (addresses.size() > number % MOST_ITEMS) {
                        addresses.remove(addresses.size() - 1);
                    }
                    for (int i = addresses.size(); i < number % MOST_ITEMS; i++) {
                        addresses.add(new Address("street of " + i));
                    }
                }));
    }

    private static Fact rating() {
        return new Fact(
                "rating",
                false,
                List.of(
                        (session, key) -> {
                            final Supplier found =
                                    session.bySimpleNaturalId(Supplier.class).load(key);
                            return found == null ? null : found.getRating();
                        },
                        (session, key) ->
                                first(session.createQuery("select rating from Supplier where name = :key", Object.class)
                                        .setParameter("key", key))),
                List.of((session, key, number) -> supplier(session, key).setRating(number), (session, key, number) -> {
                    supplier(session, key).setRating(0);
                    session.flush();
                    run(session.createMutationQuery("update Supplier set rating = :rating where name = :key")
                            .setParameter("rating", number)
                            .setParameter("key", key));
                }));
    }

    private static StockId shelf(String key) {
        return new StockId("warehouse of " + key, key.length());
    }

    private static Fact stock() {
        return new Fact(
                "stock",
                false,
                List.of((session, key) -> {
                    final Stock found = session.find(Stock.class, shelf(key));
                    return found == null ? null : found.getPieces();
                }),
                List.of(
                        (session, key, number) -> {
                            final Stock present = session.find(Stock.class, shelf(key));
                            if (present == null) {
                                session.persist(new Stock(shelf(key), number));
                            } else {
                                present.setPieces(number);
                            }
                        },
                        (session, key, number) -> {
                            final int unused = session.createMutationQuery("delete Stock where id = :id")
                                    .setParameter("id", shelf(key))
                                    .executeUpdate();
                            session.persist(new Stock(shelf(key), number));
                        }));
    }

    private static @Nullable Offer offer(Session session, String key) {
        return session.find(Offer.class, new OfferId(key, Season.AUTUMN));
    }

    private static Fact offer() {
        return new Fact(
                "offer",
                false,
                List.of((session, key) -> {
                    final Offer found = offer(session, key);
                    return found == null ? null : found.getPercent();
                }),
                List.of(
                        (session, key, number) -> {
                            final Offer present = offer(session, key);
                            if (present == null) {
                                session.persist(new Offer(key, Season.AUTUMN, number));
                            } else {
                                present.setPercent(number);
                            }
                        },
                        (session, key, number) -> {
                            final Offer present = offer(session, key);
                            if (present != null) {
                                session.remove(present);
                                session.flush();
                            }
                            session.persist(new Offer(key, Season.AUTUMN, number));
                        }));
    }

    /** Made once, and removed and made again: a row that is read only has no other changes. */
    private static Fact country() {
        return new Fact(
                "country",
                false,
                List.of((session, key) -> {
                    final Country found = session.find(Country.class, key);
                    return found == null ? null : Integer.valueOf(found.getName());
                }),
                List.of((session, key, number) -> {
                    final Country present = session.find(Country.class, key);
                    if (present != null) {
                        session.remove(present);
                        session.flush();
                    }
                    session.persist(new Country(key, String.valueOf(number)));
                }));
    }
}
