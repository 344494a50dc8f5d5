package org.rowankv.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.UnaryOperator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** A request that is used again keeps nothing of its last use: neither of the request nor of the response. */
final class RequestTest {
    private static final byte[] KEY = {1, 2, 3};

    /** Each way to begin. */
    private static final List<UnaryOperator<Request>> BEGINNINGS = List.of(
            request -> request.get(3, KEY, 0, 3),
            request -> request.put(3, KEY, 0, 3, KEY, 1, 2),
            request -> request.delete(3, KEY, 1, 2),
            request -> request.touch(3, KEY, 0, 1, 77, 5_000),
            request -> request.clear(3, 5),
            request -> request.destroy(3, 5),
            request -> request.openSession(5, 99, 7),
            request -> request.closeSession(5, 99));

    private static final int LAST = 7;

    /** Sets all that can be set after a beginning. */
    private static void use(Request request) {
        request.when(Condition.IF_VERSION, 11).ttl(12, 13).accessTtl(14).requestValue(true);
        request.placed(15, 16);
        request.identified(17, 18, 19);
        request.arrivedOn(20);
        request.resultOf(21)[20] = 22;
        request.answer(Status.FULL, 23, 24, 25);
    }

    @Property(tries = 100)
    void shouldHaveNothingLeftOfItsLastUse(
            @ForAll @IntRange(max = LAST) int before, @ForAll @IntRange(max = LAST) int next) {
        final Request fresh = BEGINNINGS.get(next).apply(new Request());
        final Request used = BEGINNINGS.get(before).apply(new Request());
        use(used);
        assertThat(BEGINNINGS.get(next).apply(used))
                .usingRecursiveComparison()
                .ignoringFields("result") // the array is kept, and its length says that nothing is in it
                .isEqualTo(fresh);
        assertThat(used.hasResult()).isFalse();
        assertThat(used.resultBytes()).isNull();
    }
}
