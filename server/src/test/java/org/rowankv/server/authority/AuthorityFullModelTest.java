package org.rowankv.server.authority;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The searches of {@link AuthorityModelTest} within wider bounds: millions of states, minutes. */
@Tag("long")
class AuthorityFullModelTest {
    static List<Scope> scopes() {
        return List.of(
                Scope.of(2, 4).withCrashes(1),
                Scope.of(2, 3).withCrashes(1).withSkew(1),
                Scope.of(2, 3).withCrashes(1).exactly(),
                Scope.of(2, 3).withJoiners(1).withWrites(),
                Scope.of(2, 3).withLeasesInFlight(),
                Scope.of(2, 3).withVotesInFlight(),
                Scope.of(3, 2).withCrashes(1).withSkew(1),
                Scope.of(3, 2).withPrimary(1).withCrashes(1).withReads(),
                Scope.of(2, 3).handingOver().withCrashes(1).withReads(),
                Scope.of(2, 4).handingOver().withWrites(),
                Scope.of(3, 3).handingOver().excludingAtOnce(1),
                Scope.of(3, 3).excludingAtOnce(1),
                Scope.of(3, 3).withPrimary(1).excludingAtOnce(1));
    }

    @ParameterizedTest
    @MethodSource("scopes")
    void shouldLetOneAnswer(Scope scope) {
        AuthorityModelTest.assertSafe(scope, AuthorityModelTest.ALL_STEPS);
    }
}
